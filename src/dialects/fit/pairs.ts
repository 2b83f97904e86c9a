import type { ChatMessage, ContentPart } from '../../schema/chat/chat.ts';
import type { AssistantMessage, ToolCall, ToolMessage } from '../../schema/chat/message.ts';
import { objectText } from './arguments.ts';
import { added, type Entry, inPlaceOf, reworded } from './entry.ts';
import type { Profile } from './profile.ts';
import { type Ids, idsFor, type Names } from './rename.ts';

/** A call that waits for its result. */
interface Waiting {
  /** The caller's id. */
  readonly given: string;
  /** The provider's. */
  readonly id: string;
  result: Entry | null;
}

/** A message of the assistant that calls tools, and the results that belong right behind it. */
interface Calling {
  readonly entry: Entry;
  readonly calls: readonly Waiting[];
  /** In the order in which they came. */
  readonly results: Entry[];
}

const noResult = '[No result: the call was not answered.]';
/** The most characters that the model is shown of an id that belongs to no call. */
const mostShown = 64;

/**
 * Gives each call an id of its own, and puts its result right behind it. A call that has no result gets one that says so; a
 * result that has no call becomes text of the user, at its place.
 */
export function pairedEntries(entries: readonly Entry[], profile: Profile, names: Names): Entry[] {
  const ids = idsFor(profile.toolIds);
  const open: OpenCalls = new Map();
  /** All but results that have a call; a calling message stands for its results too. */
  const ordered: (Entry | Calling)[] = [];
  for (const entry of entries) {
    const { message } = entry;
    if (message.role === 'assistant') {
      const calling = callingOf(entry, message, profile, names, ids);
      ordered.push(calling);
      noteOpen(calling, open);
    } else if (message.role === 'tool') {
      if (!takeResult(entry, message, open, names)) ordered.push(reworded(entry, asText(message)));
    } else ordered.push(entry);
  }
  return ordered.flatMap((one) => ('calls' in one ? [one.entry, ...resultsOf(one, profile)] : [one]));
}

function callingOf(entry: Entry, message: AssistantMessage, profile: Profile, names: Names, ids: Ids): Calling {
  const { tool_calls: calls } = message;
  if (calls === undefined || calls === null) return { entry, calls: [], results: [] };
  if (calls.length === 0) {
    const { tool_calls: _, ...others } = message;
    return { entry: inPlaceOf(entry, others as AssistantMessage), calls: [], results: [] };
  }
  const waiting = calls.map(({ id }) => ({ given: id, id: ids.next(id), result: null }));
  const fitted = calls.map((call, at) => callAs(call, (waiting[at] as Waiting).id, names, profile));
  if (fitted.every((call, at) => call === calls[at])) return { entry, calls: waiting, results: [] };
  const changed: AssistantMessage = { ...message, tool_calls: fitted };
  const details = detailsAs(message, waiting);
  if (details !== undefined) changed.reasoning_details = details;
  return { entry: inPlaceOf(entry, changed), calls: waiting, results: [] };
}

function callAs(call: ToolCall, id: string, names: Names, { brokenArguments }: Profile): ToolCall {
  const { name, arguments: given } = call.function;
  const own = names.of(name);
  const text = objectText(given, brokenArguments);
  if (id === call.id && own === name && text === given) return call;
  return { ...call, id, function: { ...call.function, name: own, arguments: text } };
}

/** Some details of what the model thought are bound to a call by its id. undefined: none is. */
function detailsAs(
  { reasoning_details: details }: AssistantMessage,
  calls: readonly Waiting[],
): AssistantMessage['reasoning_details'] | undefined {
  const changed = new Map(calls.filter(({ given, id }) => given !== id).map(({ given, id }) => [given, id]));
  if (!details?.some(({ id }) => changed.has(id as string))) return undefined;
  return details.map((detail) => {
    const id = changed.get(detail.id as string);
    return id === undefined ? detail : { ...detail, id };
  });
}

/** The calls that wait, by the caller's id: those of one message together, the latest message last. */
type OpenCalls = Map<string, { of: Calling; calls: Waiting[]; next: number }[]>;

function noteOpen(calling: Calling, open: OpenCalls): void {
  for (const call of calling.calls) {
    const groups = open.get(call.given) ?? [];
    const last = groups.at(-1);
    if (last?.of === calling) last.calls.push(call);
    else groups.push({ of: calling, calls: [call], next: 0 });
    open.set(call.given, groups);
  }
}

/** The result is of the latest calls of that id that wait; of several in one message, of the first. */
function takeResult(entry: Entry, message: ToolMessage, open: OpenCalls, names: Names): boolean {
  const groups = open.get(message.tool_call_id);
  const last = groups?.at(-1);
  if (groups === undefined || last === undefined) return false;
  const call = last.calls[last.next++] as Waiting;
  if (last.next === last.calls.length) groups.pop();
  const { name } = message as { name?: unknown };
  const own = typeof name === 'string' ? names.of(name) : name;
  const isSame = call.id === message.tool_call_id && own === name;
  const fitted = isSame ? message : { ...message, tool_call_id: call.id, ...(own === undefined ? {} : { name: own }) };
  call.result = inPlaceOf(entry, fitted);
  last.of.results.push(call.result);
  return true;
}

function resultsOf({ calls, results }: Calling, { ordersResults }: Profile): Entry[] {
  const missing = calls.filter(({ result }) => result === null);
  for (const call of missing) call.result = added({ role: 'tool', tool_call_id: call.id, content: noResult });
  if (ordersResults) return calls.map(({ result }) => result as Entry);
  return missing.length === 0 ? results : [...results, ...missing.map(({ result }) => result as Entry)];
}

function asText({ tool_call_id: id, content }: ToolMessage): ChatMessage {
  const head = `[Result of the tool call ${id.slice(0, mostShown)}]`;
  if (typeof content === 'string') return { role: 'user', content: `${head}\n${content}` };
  return { role: 'user', content: [{ type: 'text', text: head }, ...(content as ContentPart[])] };
}
