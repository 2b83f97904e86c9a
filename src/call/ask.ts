import { isSame } from '../base/same.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';
import type { Native } from './native.ts';

/**
 * A complete request on its way through the pipeline: the chat request, and everything that a chat request cannot hold.
 */
export interface Ask {
  /** The kind of the request. */
  readonly task: 'chat';
  /** The request as a chat request. */
  readonly request: ChatRequest;
  /** The request in the client's own wire format; null: the client sent a chat request, or a plugin made this one. */
  readonly native: Native | null;
  /** Further headers for the providers of the request, beside those of the dialect and of the credential. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * true: no two such requests are encoded in one turn of the event loop, as the plugin that made them sends the same long
   * conversation several times at once.
   */
  readonly takesTurns: boolean;
  /** true: only a provider that searches the web by itself may serve. */
  readonly searchesNatively: boolean;
  /** The most calls of server tools that are run for the request; null: no limit of its own. */
  readonly maxToolCalls: number | null;
  /** The requests that plugins gave to `generate`, from the outermost plugin on: this request was made of the last one. */
  readonly askedFor: readonly ChatRequest[];
}

/**
 * A request that a hook makes, with the parts that the chat request in it cannot hold. Absent fields stay as they were.
 */
export interface Revision
  extends Partial<Pick<Ask, 'native' | 'headers' | 'takesTurns' | 'searchesNatively' | 'maxToolCalls'>> {
  /** The new chat request. */
  readonly request: ChatRequest;
}

/** A chat request, which is paired anew with the client's request in its own format, or a request with all of that. */
export type Revised = ChatRequest | Revision;

/** The headers of a request that no plugin gave any. */
export const noHeaders: Ask['headers'] = {};

/** The request of a client, before anybody has changed it. */
export function askOf(request: ChatRequest, native: Native | null = null): Ask {
  return {
    task: 'chat',
    request,
    native,
    headers: noHeaders,
    takesTurns: false,
    searchesNatively: false,
    maxToolCalls: null,
    askedFor: [],
  };
}

/** true: a hook returned a revision, and not a chat request. A chat request has messages at its top level. */
function isRevision(made: Revised): made is Revision {
  return !('messages' in made);
}

/**
 * Returns the ask with the request that a hook has made. A chat request alone is paired with the client's request in
 * its own format: a message or tool that is the same as before, though in another object, keeps the items that it was
 * made of.
 */
export function revised(ask: Ask, made: Revised): Ask {
  if (!isRevision(made)) return withRequest(ask, made);
  const { request, native, headers, takesTurns = ask.takesTurns } = made;
  const { searchesNatively = ask.searchesNatively, maxToolCalls = ask.maxToolCalls } = made;
  return {
    ...(native === undefined ? withRequest(ask, request) : { ...ask, request, native }),
    headers: headers === undefined ? ask.headers : { ...ask.headers, ...headers },
    takesTurns,
    searchesNatively,
    maxToolCalls,
  };
}

/** Returns the ask with another chat request, paired anew with the client's request in its own format. */
export function withRequest(ask: Ask, request: ChatRequest): Ask {
  if (request === ask.request) return ask;
  return { ...ask, request, native: ask.native === null ? null : paired(ask.native, ask.request, request) };
}

function paired(native: Native, before: ChatRequest, after: ChatRequest): Native {
  const areMessagesSame = before.messages === after.messages;
  if (areMessagesSame && before.tools === after.tools) return native;
  const messages = areMessagesSame ? null : placesBefore(before.messages, after.messages);
  const tools = before.tools === after.tools ? null : placesBefore(before.tools ?? [], after.tools ?? []);
  const { instructionsAt } = native;
  return {
    ...native,
    ...(messages === null
      ? {}
      : {
          items: messages.map((at) => (at === null ? null : (native.items[at] ?? null))),
          instructionsAt: instructionsAt === null ? null : placeOf(messages, instructionsAt),
        }),
    ...(tools === null ? {} : { tools: tools.map((at) => (at === null ? null : (native.tools[at] ?? null))) }),
  };
}

function placeOf(places: readonly (number | null)[], wanted: number): number | null {
  const at = places.indexOf(wanted);
  return at === -1 ? null : at;
}

/**
 * Returns the place that each object had before; null: it is new, or changed. Objects are known by their identity. The
 * other objects are compared by their contents, from the front and then from the end: a plugin may have copied all of
 * them, and added or changed some.
 */
function placesBefore(before: readonly object[], after: readonly object[]): (number | null)[] {
  const known = new Map<object, number>();
  for (let at = 0; at < before.length; at++) known.set(before[at] as object, at);
  const places = after.map((one) => {
    const at = known.get(one) ?? null;
    if (at !== null) known.delete(one);
    return at;
  });
  const copies = [...places.keys()].filter((at) => places[at] === null);
  const left = [...known.values()].sort((one, other) => one - other);
  const isPaired = (copy: number | undefined, at: number | undefined): boolean => {
    if (copy === undefined || at === undefined || !isSame(after[copy], before[at])) return false;
    places[copy] = at;
    return true;
  };
  let front = 0;
  while (isPaired(copies[front], left[front])) front++;
  let end = 1;
  while (front + end <= Math.min(copies.length, left.length) && isPaired(copies.at(-end), left.at(-end))) end++;
  return places;
}
