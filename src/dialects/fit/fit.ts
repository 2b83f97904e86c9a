import type { Native } from '../../call/native.ts';
import type { ChatMessage, ChatRequest } from '../../schema/chat/chat.ts';
import { spokenEntries, textResults } from './contents.ts';
import type { Entry } from './entry.ts';
import { fittedNative } from './native.ts';
import { needsOf } from './needs.ts';
import { pairedEntries } from './pairs.ts';
import type { Profile } from './profile.ts';
import { type Names, namesFor, sameNames } from './rename.ts';
import { hasRefusedStops, withTakenStops } from './stops.ts';
import { namesIn, speaksOfToolsOtherwise, toolFields } from './tools.ts';
import { inTurns } from './turns.ts';

/** A request as a provider takes it. */
export interface Fitted {
  /** The very request that was given, where nothing had to be changed. */
  readonly request: ChatRequest;
  readonly native: Native | null;
  /** Paths of what is left out. */
  readonly dropped: readonly string[];
  /** The caller's own names of tools, by those that the provider is given in their place; null: it is given the same. */
  readonly ownNames: ReadonlyMap<string, string> | null;
  /** The place that each message had in the request; null: a place of its own it had none. Absent: nothing was moved. */
  readonly places?: readonly (number | null)[];
}

/**
 * Makes of a request one that a provider accepts, and that says the same to the model. It depends on nothing but what it
 * is given, and on the beginning of a conversation in the same way in every turn.
 */
export function fitRequest(request: ChatRequest, native: Native | null, profile: Profile): Fitted {
  const hasOtherTools = speaksOfToolsOtherwise(request, native, profile);
  const needs = needsOf(request, profile);
  if (!hasOtherTools && needs === 'nothing' && !hasRefusedStops(request, profile))
    return { request, native, dropped: [], ownNames: null };
  const dropped = new Set<string>();
  const drop = (path: string) => void dropped.add(path);
  const isOtherwise = hasOtherTools || needs === 'all';
  const names = isOtherwise ? namesFor(namesIn(request, native), profile.toolNames) : sameNames;
  const given = request.messages.map((message, from): Entry => ({ message, from, isWhole: true }));
  const said = isOtherwise ? saidTo(profile, given, names, drop) : given;
  const entries = inTurns(said, profile, drop);
  // Where nothing is said at all, the dialect says what is missing.
  const messages = entries.length === 0 ? request.messages : messagesOf(entries, request.messages);
  const withTools = hasOtherTools || names.own.size > 0 ? toolFields(request, native, names, drop) : request;
  const withStops = withTakenStops(withTools, profile, drop);
  const fitted = messages === withStops.messages ? withStops : { ...withStops, messages };
  const isMoved = messages !== request.messages;
  const isSame = native === null || (fitted === request && names.own.size === 0);
  return {
    request: fitted,
    native: isSame ? native : fittedNative(native, request, isMoved ? entries : given, names),
    dropped: [...dropped],
    ownNames: names.own.size === 0 ? null : names.own,
    ...(isMoved ? { places: entries.map(({ from }) => from) } : {}),
  };
}

/** The entries with calls, results and contents as the provider takes them. */
function saidTo(
  profile: Profile,
  given: readonly Entry[],
  names: Names,
  drop: (path: string) => void,
): readonly Entry[] {
  const spoken = spokenEntries(pairedEntries(given, profile, names), profile, drop);
  return profile.resultMedia ? spoken : textResults(spoken);
}

/** The same list where each message is the same. */
function messagesOf(entries: readonly Entry[], messages: ChatRequest['messages']): ChatRequest['messages'] {
  const isSame = entries.length === messages.length && entries.every(({ message }, at) => message === messages[at]);
  return isSame ? messages : entries.map(({ message }): ChatMessage => message);
}
