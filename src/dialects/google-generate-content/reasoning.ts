import { isObject, type Loose } from '../../base/values.ts';
import type { AssistantMessage } from '../../schema/chat/chat.ts';
import type { Drop } from './request/generation-config.ts';

/** The `format` of the details that this dialect writes and takes back. */
export const reasoningFormat = 'google-gemini-v1';

/** The ids of the details that belong to a piece of the text or to an image; all others are ids of tool calls. */
export const textId = (start: number, end: number) => `text:${start}-${end}`;
export const imageId = (at: number) => `image:${at}`;

/** The thoughts of an earlier response, as Google takes them back. */
export interface EarlierReasoning {
  /** The parts with thoughts. */
  thoughts: Loose[];
  /** The signatures, by the id of the part that they belong to. */
  signatures: ReadonlyMap<string, string>;
  /** The pieces of the text that have a signature, in order. */
  pieces: { start: number; end: number; signature: string }[];
}

/**
 * Reads the details that an assistant message brings back. Those of another provider's format mean nothing to Google.
 * @param length  the length of the message's text: signatures of text that is not there any more are left out
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export function earlierReasoning(message: AssistantMessage, length: number, drop: Drop): EarlierReasoning {
  const thoughts: Loose[] = [];
  const signatures = new Map<string, string>();
  const pieces: EarlierReasoning['pieces'] = [];
  let left = false;
  for (const detail of message.reasoning_details ?? []) {
    if (detail.format !== reasoningFormat) left = true;
    else if (detail.type === 'reasoning.text') {
      const { text, signature } = detail;
      thoughts.push({ text: text ?? '', thought: true, ...(signature ? { thoughtSignature: signature } : {}) });
    } else if (detail.type === 'reasoning.encrypted' && typeof detail.id === 'string') {
      const piece = /^text:(\d{1,9})-(\d{1,9})$/.exec(detail.id);
      if (piece === null) signatures.set(detail.id, detail.data);
      else pieces.push({ start: Number(piece[1]), end: Number(piece[2]), signature: detail.data });
    } else left = true;
  }
  pieces.sort((a, b) => a.start - b.start || a.end - b.end);
  let from = 0;
  const valid = pieces.filter(({ start, end }) => {
    const fits = start >= from && end >= start && end <= length;
    if (fits) from = end;
    return fits;
  });
  if (left || valid.length < pieces.length) drop('messages[].reasoning_details');
  // The details hold the same text.
  const { reasoning, reasoning_content: content } = message as Loose;
  if (thoughts.length === 0 && reasoning) drop('messages[].reasoning');
  if (thoughts.length === 0 && content) drop('messages[].reasoning_content');
  return { thoughts, signatures, pieces: valid };
}

/** Returns the text in the pieces in which it came, each with its signature. */
export function textParts(text: string, pieces: EarlierReasoning['pieces']): Loose[] {
  const parts: Loose[] = [];
  let from = 0;
  for (const { start, end, signature } of pieces) {
    if (start > from) parts.push({ text: text.slice(from, start) });
    parts.push({ text: text.slice(start, end), thoughtSignature: signature });
    from = end;
  }
  if (from < text.length) parts.push({ text: text.slice(from) });
  return parts;
}

/** Returns the signature of a part of a response; null: it has none. */
export function signatureOf(part: Loose): string | null {
  const signature = part.thoughtSignature;
  return isObject(part) && typeof signature === 'string' && signature !== '' ? signature : null;
}
