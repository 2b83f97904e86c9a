import { TextCounter } from '../../pricing/text-counter.ts';

/** The length of the text that is counted at a time; a token is rarely at its border. */
const pieceCharacters = 2048;

/** The longest beginning of a text with so many tokens. Every part of the text is counted once, but for its last piece. */
export function cutToTokens(text: string, maxTokens: number): string {
  const counter = new TextCounter();
  let left = maxTokens;
  for (let at = 0; at < text.length; at += pieceCharacters) {
    const piece = text.slice(at, at + pieceCharacters);
    const tokens = counter.tokensOf(piece);
    if (tokens > left) return wholeStart(text, at + lengthWithin(piece, left));
    left -= tokens;
  }
  return text;
}

/** The length of the longest beginning of a piece that has at most so many tokens. */
function lengthWithin(piece: string, tokens: number): number {
  let fits = 0;
  let most = piece.length;
  while (fits < most) {
    const length = Math.ceil((fits + most) / 2);
    if (new TextCounter().tokensOf(piece.slice(0, length)) <= tokens) fits = length;
    else most = length - 1;
  }
  return fits;
}

/** The beginning of a text, without half of a surrogate pair at its end. */
function wholeStart(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}
