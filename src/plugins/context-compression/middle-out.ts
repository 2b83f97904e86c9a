import { type Counter, estimateMessage } from '../../pricing/estimate.ts';
import type { ChatMessage } from '../../schema/chat/chat.ts';
import { cutTexts, cuttable } from './cut.ts';

/** The least room, in tokens. A message with less room is removed instead of cut. */
const leastRoom = 64;

/**
 * Returns a conversation without its middle. Instructions, the last message of the user and the last message of all
 * stay. As much of the rest stays from the beginning and from the end as there is room for, the same number of tokens
 * from each. The messages at the edges of the removal are cut in their middle instead, where enough would be left.
 * Where the parts that stay are too long by themselves, their texts are cut, and the oldest of the calls that were made
 * at once go with their results.
 * @param counts  the tokens of each message
 * @param room    the tokens that all messages may have together
 * @returns the messages; or the tokens by which the parts that stay are too long, where they cannot be made to fit
 */
export function middleOut(
  messages: readonly ChatMessage[],
  counts: readonly number[],
  room: number,
  counter: Counter,
): ChatMessage[] | number {
  const { instructions, instructionTokens, atoms, question, last } = conversationOf(messages, counts);
  if (last === null) return instructionTokens - room;
  const staying = new Set([question ?? last, last]);
  let left = room - instructionTokens;
  for (const { tokens } of staying) left -= tokens;
  const tokensOf = new Map(messages.map((message, place) => [message, counts[place] as number]));
  const countOf = (message: ChatMessage) => tokensOf.get(message) ?? 0;
  const messagesOf = (of: Iterable<Atom>) =>
    [...of].flatMap(({ places }) => places.map((place) => messages[place] as ChatMessage));

  let changed: Changes = new Map();
  if (left < 0) {
    const cut = shortened(messagesOf(staying), messagesOf([last]), -left, countOf, counter);
    if (typeof cut === 'number') return cut;
    changed = cut;
  } else {
    const {
      kept,
      borders,
      room: still,
    } = keptOf(
      atoms.filter((atom) => !staying.has(atom)),
      left,
    );
    for (const atom of kept) staying.add(atom);
    for (const border of still < leastRoom ? [] : borders) {
      const of = messagesOf([border]);
      const cut = shortened(of, of, border.tokens - still, countOf, counter);
      if (typeof cut === 'number') continue;
      staying.add(border);
      changed = cut;
      break;
    }
  }
  const places = new Set(instructions);
  for (const atom of staying) for (const place of atom.places) places.add(place);
  return messages.flatMap((message, place) => {
    if (!places.has(place)) return [];
    const now = changed.get(message);
    return now === null ? [] : [now ?? message];
  });
}

/**
 * Returns messages with less text, and where that is not enough, without the oldest of the calls that one of them makes
 * at once.
 * @param calling  those among them that may make calls, with their results
 * @param excess   the number of tokens that have to go
 * @returns the tokens by which they are too long, where they cannot be made to fit
 */
function shortened(
  messages: readonly ChatMessage[],
  calling: readonly ChatMessage[],
  excess: number,
  countOf: (message: ChatMessage) => number,
  counter: Counter,
): Changes | number {
  const cut = cutTexts(messages, excess, counter);
  if (cut !== null) return cut;
  const missing = excess - messages.reduce((sum, message) => sum + cuttable(message, counter), 0);
  const fewer = withoutOldestPairs(calling, countOf, missing, counter);
  if (fewer === null) return Math.max(missing, 1);
  let gone = 0;
  for (const [before, after] of fewer) gone += countOf(before) - (after === null ? 0 : estimateMessage(after, counter));
  const rest = messages.flatMap((message) => {
    const now = fewer.get(message);
    return now === null ? [] : [now ?? message];
  });
  if (gone >= excess) return fewer;
  const shorter = cutTexts(rest, excess - gone, counter);
  if (shorter === null) return Math.max(excess - gone - rest.reduce((sum, one) => sum + cuttable(one, counter), 0), 1);
  const changes = new Map<ChatMessage, ChatMessage | null>(shorter);
  for (const [before, after] of fewer) changes.set(before, after === null ? null : (shorter.get(after) ?? after));
  return changes;
}

/**
 * Returns as many parts as there is room for, from both ends, the same number of tokens from each; and the parts that
 * the removal begins and ends with.
 */
function keptOf(atoms: readonly Atom[], room: number) {
  const kept: Atom[] = [];
  const front = { at: 0, step: 1, tokens: 0, isOpen: true };
  const back = { at: atoms.length - 1, step: -1, tokens: 0, isOpen: true };
  let left = room;
  while (front.at <= back.at && (front.isOpen || back.isOpen)) {
    const end = back.isOpen && (!front.isOpen || back.tokens < front.tokens) ? back : front;
    const atom = atoms[end.at] as Atom;
    if (atom.tokens > left) {
      end.isOpen = false;
      continue;
    }
    kept.push(atom);
    left -= atom.tokens;
    end.tokens += atom.tokens;
    end.at += end.step;
  }
  // The part that is nearer to the question says more.
  const borders = front.at > back.at ? [] : [...new Set([atoms[back.at] as Atom, atoms[front.at] as Atom])];
  return { kept, borders, room: left };
}

/** Messages that stay together or go together: a single one, or calls of tools with their results. */
interface Atom {
  /** The places in the conversation, in ascending order. */
  places: number[];
  tokens: number;
}

/** A conversation in parts. */
interface Conversation {
  /** The places of the messages that always stay as they are. */
  instructions: number[];
  /** The tokens of all instructions together. */
  instructionTokens: number;
  /** All other messages, in the order of the first message of each part. */
  atoms: Atom[];
  /** The part with the last message of the user; null: there is none. */
  question: Atom | null;
  /** The part with the last message of all; null: there is none. */
  last: Atom | null;
}

/** @param counts  the tokens of each message */
function conversationOf(messages: readonly ChatMessage[], counts: readonly number[]): Conversation {
  const parts: Conversation = { instructions: [], instructionTokens: 0, atoms: [], question: null, last: null };
  /** The calls, by id: some providers give the same id again in a later turn. */
  const callers = new Map<string, Atom>();
  for (const [place, message] of messages.entries()) {
    const tokens = counts[place] as number;
    if (message.role === 'system' || message.role === 'developer') {
      parts.instructions.push(place);
      parts.instructionTokens += tokens;
      continue;
    }
    const caller = message.role === 'tool' ? callers.get(message.tool_call_id) : undefined;
    if (caller !== undefined) {
      caller.places.push(place);
      caller.tokens += tokens;
      parts.last = caller;
      continue;
    }
    const atom: Atom = { places: [place], tokens };
    parts.atoms.push(atom);
    parts.last = atom;
    if (message.role === 'user') parts.question = atom;
    if (message.role === 'assistant') for (const { id } of message.tool_calls ?? []) callers.set(id, atom);
  }
  return parts;
}

/** The changed messages, by the ones that they were before: null where they are left out. */
type Changes = ReadonlyMap<ChatMessage, ChatMessage | null>;

/** A call of a tool with its results, which stay together or go together. */
interface Pair {
  id: string;
  results: ChatMessage[];
  /** The fewest tokens of the pair, where its texts are cut as far as they can be. */
  leastTokens: number;
}

/**
 * Leaves out the oldest of the calls that a message makes at once, each with its results, until the rest can be cut to
 * the room that there is. The newest stays.
 * @param messages  a message with calls, and their results
 * @param excess    the number of tokens too many, where all texts are cut as far as they can be
 * @returns null: nothing can be left out
 */
function withoutOldestPairs(
  messages: readonly ChatMessage[],
  countOf: (message: ChatMessage) => number,
  excess: number,
  counter: Counter,
): Changes | null {
  const caller = messages.find(({ role }) => role === 'assistant');
  if (caller?.role !== 'assistant' || (caller.tool_calls?.length ?? 0) < 2) return null;
  const calls = caller.tool_calls ?? [];
  const byId = new Map<string, Pair>();
  for (const call of calls) byId.set(call.id, { id: call.id, results: [], leastTokens: counter.tokensOfJson(call) });
  for (const message of messages) {
    const pair = message.role === 'tool' ? byId.get(message.tool_call_id) : undefined;
    if (pair === undefined) continue;
    pair.results.push(message);
    pair.leastTokens += countOf(message) - cuttable(message, counter);
  }
  // The last message of all stays: it may belong to any of the calls.
  const last = messages.at(-1);
  const newest = last?.role === 'tool' ? last.tool_call_id : calls.at(-1)?.id;
  const dropped = new Set<string>();
  let left = excess;
  for (const pair of byId.values()) {
    if (left <= 0) break;
    if (pair.id === newest) continue;
    dropped.add(pair.id);
    left -= pair.leastTokens;
  }
  if (dropped.size === 0) return null;
  const changes = new Map<ChatMessage, ChatMessage | null>();
  changes.set(caller, { ...caller, tool_calls: calls.filter(({ id }) => !dropped.has(id)) });
  for (const id of dropped) for (const result of byId.get(id)?.results ?? []) changes.set(result, null);
  return changes;
}
