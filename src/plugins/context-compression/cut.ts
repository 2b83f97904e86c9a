import type { Counter } from '../../pricing/estimate.ts';
import type { ChatMessage, ContentPart } from '../../schema/chat.ts';

/** Stands where something was taken out. */
const mark = ' … ';
/** Less would be left of a text than says anything. */
const leastTokens = 16;

/** A text of a message. */
interface Text {
  message: ChatMessage;
  /** Of a content that is a list; null: the text is the content. */
  part: number | null;
  text: string;
  tokens: number;
}

/**
 * Messages with less text: the longest texts are cut in their middle, until all together have lost enough.
 * @param excess  how many tokens have to go
 * @returns the messages that changed, by what they were; null: too little would be left
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

function textsOf(message: ChatMessage, counter: Counter): Text[] {
  const { content } = message;
  if (typeof content === 'string') return [{ message, part: null, text: content, tokens: counter.tokensOf(content) }];
  return (content ?? []).flatMap((one, part) =>
    one.type === 'text' ? [{ message, part, text: one.text, tokens: counter.tokensOf(one.text) }] : [],
  );
}

/** The largest number that each may have, so that all together have no more than there is room for. */
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

/** The beginning and the end of a text. */
function cutText({ text, tokens }: Text, most: number, counter: Counter): string {
  // Some parts of a text have more tokens than others.
  for (let chars = Math.floor((text.length * most) / tokens); chars > 0; chars = Math.floor(chars * 0.8)) {
    const half = Math.ceil(chars / 2);
    const cut = `${headOf(text, half)}${mark}${tailOf(text, chars - half)}`;
    if (counter.tokensOf(cut) <= most) return cut;
  }
  return mark;
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

/** Halves of a character of two units. */
const isHigh = (unit: number) => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit: number) => unit >= 0xdc00 && unit < 0xe000;
