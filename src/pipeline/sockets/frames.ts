import { stringifyExact } from '../../base/exact-json.ts';
import { tryParseJson } from '../../base/json.ts';
import { isObject, type Loose, without } from '../../base/values.ts';

/** The fields of a request by HTTP that a frame does not have. */
const notInFrame: readonly string[] = ['stream', 'background'];

/** Writes the frame that asks for a response. */
export function createFrame(payload: Loose): string {
  return stringifyExact({ type: 'response.create', ...without(notInFrame, payload) });
}

/** The frame for a request that goes on from a response on the same connection. */
export function continuingFrame(payload: Loose, responseId: string, items: readonly unknown[]): string {
  return createFrame({ ...payload, previous_response_id: responseId, input: items });
}

/** The beginning of an event as providers write it. */
const head = /^\{\s*"type"\s*:\s*"([a-z_.]+)"/;

/** Returns the type of a frame; null: it is no object with a type. */
export function typeOf(text: string): string | null {
  const quick = head.exec(text);
  if (quick !== null) return quick[1] as string;
  const { type } = fieldsOf(text);
  return typeof type === 'string' ? type : null;
}

/** Tells whether a frame is one of a response; false: it tells of something else, such as the limits of the account. */
export function isOfResponse(type: string | null): boolean {
  return type === null || type === 'error' || type.startsWith('response.');
}

export function fieldsOf(text: string): Loose {
  const value = tryParseJson(text);
  return isObject(value) ? value : {};
}

/** Writes a frame as the event that it is by HTTP. */
export function asEvent(type: string | null, text: string): Uint8Array {
  // Line ends stand between the values of a JSON text, and never within one.
  const line = /[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, ' ') : text;
  return new TextEncoder().encode(type === null ? `data: ${line}\n\n` : `event: ${type}\ndata: ${line}\n\n`);
}

/** An error that came instead of a response, as the response by HTTP that it stands for. */
export interface ErrorFrame {
  status: number;
  headers: Record<string, string>;
  /** The body. */
  body: string;
  code: unknown;
}

/** Reads the frame of an error. @returns null: it names no status, so it is read like an event */
export function errorFrame(text: string): ErrorFrame | null {
  const { status, status_code: other, error, headers } = fieldsOf(text);
  const named = status ?? other;
  if (typeof named !== 'number' || !Number.isInteger(named) || named < 400 || named > 599) return null;
  return {
    status: named,
    headers: textsOf(headers),
    body: JSON.stringify({ error }),
    code: isObject(error) ? error.code : null,
  };
}

function textsOf(headers: unknown): Record<string, string> {
  const texts: [string, string][] = [['content-type', 'application/json']];
  for (const [name, value] of Object.entries(isObject(headers) ? headers : {}))
    if (typeof value === 'string' || typeof value === 'number') texts.push([name.toLowerCase(), String(value)]);
  return Object.fromEntries(texts);
}
