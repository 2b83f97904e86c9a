import type { Counter } from '../../pricing/estimate.ts';
import type { ChatMessage } from '../../schema/chat.ts';
import { type Atom, conversationOf } from './atoms.ts';
import { cutTexts } from './cut.ts';

/** With less room left, a message is removed instead of cut. */
const leastRoom = 64;

/**
 * A conversation without its middle. Instructions, the last message of the user and what comes last stay; of the rest,
 * as much stays from the beginning and from the end as there is room for, by tokens alike. What the removal ends at is
 * cut in its middle instead, where that leaves something. Where what stays is too long by itself, its texts are cut.
 * @param counts  the tokens of each message
 * @param room    the tokens that all messages may have together
 * @returns null: what has to stay cannot be made to fit
 */
export function middleOut(
  messages: readonly ChatMessage[],
  counts: readonly number[],
  room: number,
  counter: Counter,
): ChatMessage[] | null {
  const { instructions, instructionTokens, atoms, question, last } = conversationOf(messages, counts);
  if (last === null) return null;
  const staying = new Set([question ?? last, last]);
  let left = room - instructionTokens;
  for (const { tokens } of staying) left -= tokens;
  const messagesOf = (of: Iterable<Atom>) =>
    [...of].flatMap(({ places }) => places.map((place) => messages[place] as ChatMessage));

  let changed: ReadonlyMap<ChatMessage, ChatMessage> | null;
  if (left < 0) changed = cutTexts(messagesOf(staying), -left, counter);
  else {
    const {
      kept,
      borders,
      room: still,
    } = keptOf(
      atoms.filter((atom) => !staying.has(atom)),
      left,
    );
    for (const atom of kept) staying.add(atom);
    changed = new Map();
    for (const border of still < leastRoom ? [] : borders) {
      const cut = cutTexts(messagesOf([border]), border.tokens - still, counter);
      if (cut === null) continue;
      staying.add(border);
      changed = cut;
      break;
    }
  }
  if (changed === null) return null;
  const places = new Set(instructions);
  for (const atom of staying) for (const place of atom.places) places.add(place);
  const byMessage = changed;
  return messages.flatMap((message, place) => (places.has(place) ? [byMessage.get(message) ?? message] : []));
}

/** From both ends, by tokens alike, as many parts as there is room for; and the parts that the removal begins and ends with. */
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
  // What is nearer to the question says more.
  const borders = front.at > back.at ? [] : [...new Set([atoms[back.at] as Atom, atoms[front.at] as Atom])];
  return { kept, borders, room: left };
}
