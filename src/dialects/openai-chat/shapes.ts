import { isObject, type Loose } from '../../base/values.ts';
import type { Logprobs } from '../../schema/chat/chat.ts';

/** The entries of each list that clients can read. */
const readable: Record<string, (entry: Loose) => boolean> = {
  annotations: ({ type }) => typeof type === 'string',
  images: ({ image_url: image }) => isObject(image) && typeof image.url === 'string',
  reasoning_details: isReasoningDetail,
};

/**
 * Removes from a message or delta the values that a client's reader may fail on: lists that are none, entries of
 * another shape.
 */
export function dropMisshapen(fields: Loose): void {
  for (const key in readable) {
    if (!(key in fields)) continue;
    const value = fields[key];
    const entries = Array.isArray(value) ? value.filter((entry) => isObject(entry) && readable[key]?.(entry)) : [];
    if (Array.isArray(value) && entries.length === value.length) continue;
    if (entries.length > 0) fields[key] = entries;
    else delete fields[key];
  }
  if ('name' in fields && typeof fields.name !== 'string') delete fields.name;
  const audio = fields.audio;
  if (!('audio' in fields)) return;
  if (isObject(audio)) fields.audio = audioOf(audio);
  else delete fields.audio;
}

function isReasoningDetail({ type, summary, data, text, signature, id, index, format }: Loose): boolean {
  if (!isTextOrNothing(id) || !isTextOrNothing(format) || !(index === undefined || Number.isSafeInteger(index)))
    return false;
  if (type === 'reasoning.summary') return typeof summary === 'string';
  if (type === 'reasoning.encrypted') return typeof data === 'string';
  return type === 'reasoning.text' && isTextOrNothing(text) && isTextOrNothing(signature);
}

function audioOf(audio: Loose): Loose {
  const kept: Loose = { ...audio };
  for (const key of ['id', 'data', 'transcript']) if (typeof kept[key] !== 'string') delete kept[key];
  if (!Number.isSafeInteger(kept.expires_at)) delete kept.expires_at;
  return kept;
}

/**
 * Returns probabilities, with the keys that clients require; null where there are none. Servers leave `bytes` and
 * `top_logprobs` out.
 */
export function decodeLogprobs(raw: unknown): Logprobs | null {
  if (!isObject(raw)) return null;
  return { ...raw, content: entriesOf(raw.content), refusal: entriesOf(raw.refusal) };
}

function entriesOf(raw: unknown): Logprobs['content'] {
  if (!Array.isArray(raw)) return null;
  return raw.filter(isTokenLogprob).map((entry) => ({
    ...tokenOf(entry),
    top_logprobs: Array.isArray(entry.top_logprobs) ? entry.top_logprobs.filter(isTokenLogprob).map(tokenOf) : [],
  }));
}

type TokenLogprob = Loose & { token: string; logprob: number };

function isTokenLogprob(entry: unknown): entry is TokenLogprob {
  return isObject(entry) && typeof entry.token === 'string' && typeof entry.logprob === 'number';
}

function tokenOf(entry: TokenLogprob) {
  return {
    ...entry,
    bytes: isBytes(entry.bytes) ? entry.bytes : null,
  };
}

function isBytes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every(Number.isSafeInteger);
}

function isTextOrNothing(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}
