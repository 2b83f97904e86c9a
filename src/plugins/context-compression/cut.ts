import type { Counter } from '../../pricing/estimate.ts';
import type { ChatMessage, ContentPart } from '../../schema/chat/chat.ts';

/** The mark of a place where text was taken out. */
const mark = ' … ';
/** The fewest tokens that a cut text may have: less text would say nothing. */
export const leastTokens = 16;

/** A text of a message. */
interface Text {
  message: ChatMessage;
  /** The number of the part, in a content that is a list; null: the text is the content. */
  part: number | null;
  text: string;
  tokens: number;
}

/**
 * Returns messages with less text: the longest texts are cut in their middle, until all together have lost enough.
 * @param excess  the number of tokens that have to go
 * @returns the messages that changed, by the ones that they were before; null: too little would be left
 */
export function cutTexts(
  messages: readonly ChatMessage[],
  excess: number,
  counter: Counter,
): Map<ChatMessage, ChatMessage> | null {
  const texts = messages.flatMap((message) => textsOf(message, counter));
  const total = texts.reduce((sum, { tokens }) => sum + tokens, 0);
  const most = mostEach(
    texts.map(({ tokens }) => tokens),
    total - excess,
  );
  if (most < leastTokens) return null;
  const changes = new Map<ChatMessage, Map<number | null, string>>();
  for (const one of texts) {
    if (one.tokens <= most) continue;
    const ofMessage = changes.get(one.message) ?? new Map<number | null, string>();
    changes.set(one.message, ofMessage.set(one.part, cutText(one, most, counter)));
  }
  return new Map([...changes].map(([message, byPart]) => [message, withTexts(message, byPart)]));
}

/** Returns the most tokens that a message can lose. */
export function cuttable(message: ChatMessage, counter: Counter): number {
  return textsOf(message, counter).reduce((sum, { tokens }) => sum + Math.max(tokens - leastTokens, 0), 0);
}

function textsOf(message: ChatMessage, counter: Counter): Text[] {
  const { content } = message;
  if (typeof content === 'string') return [{ message, part: null, text: content, tokens: counter.tokensOf(content) }];
  return (content ?? []).flatMap((one, part) =>
    one.type === 'text' ? [{ message, part, text: one.text, tokens: counter.tokensOf(one.text) }] : [],
  );
}

/** Returns the largest number that each may have, so that all together have no more than there is room for. */
function mostEach(tokens: readonly number[], room: number): number {
  let left = room;
  const ascending = tokens.toSorted((a, b) => a - b);
  for (const [at, one] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - at));
    if (one > share) return share;
    left -= one;
  }
  return ascending.at(-1) ?? 0;
}

function withTexts(message: ChatMessage, byPart: ReadonlyMap<number | null, string>): ChatMessage {
  const whole = byPart.get(null);
  if (whole !== undefined) return { ...message, content: whole } as ChatMessage;
  const content = (message.content as ContentPart[]).map((one, part) => {
    const text = byPart.get(part);
    return text === undefined ? one : { ...one, text };
  });
  return { ...message, content } as ChatMessage;
}

/**
 * The number of pieces that a cut text is counted in. Halving the part that is left out would count it anew each time.
 */
const pieces = 32;
/** The fewest characters of a piece: a smaller one is not worth counting. */
const leastPiece = 8;

/** Returns the beginning and the end of a text. Each piece of them is counted once. */
function cutText({ text, tokens }: Text, most: number, counter: Counter): string {
  let left = most - counter.tokensOf(mark);
  let head = 0;
  let tail = text.length;
  const expected = Math.floor((text.length * most) / tokens);
  for (let size = Math.max(Math.ceil(expected / pieces), leastPiece); size >= leastPiece; ) {
    const isHead = head <= text.length - tail;
    const piece = isHead ? text.slice(head, head + size) : text.slice(Math.max(tail - size, head), tail);
    const its = counter.tokensOf(piece);
    if (piece === '' || its > left) {
      size = Math.floor(size / 2);
      continue;
    }
    left -= its;
    if (isHead) head += piece.length;
    else tail -= piece.length;
  }
  return `${headOf(text, head)}${mark}${tailOf(text, text.length - tail)}`;
}

function headOf(text: string, chars: number): string {
  const head = text.slice(0, chars);
  return isHigh(head.charCodeAt(head.length - 1)) ? head.slice(0, -1) : head;
}

function tailOf(text: string, chars: number): string {
  if (chars === 0) return '';
  const tail = text.slice(-chars);
  return isLow(tail.charCodeAt(0)) ? tail.slice(1) : tail;
}

/** The halves of a character of two units. */
const isHigh = (unit: number) => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit: number) => unit >= 0xdc00 && unit < 0xe000;
