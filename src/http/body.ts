import { type Pending, pendingOf } from '../base/async/pending.ts';
import { joinBytes } from '../base/bytes.ts';
import { GatewayError, isGatewayError } from '../base/errors.ts';
import { checkParsed, JsonError, parseJson } from '../base/json.ts';
import { refusal } from '../base/refusal.ts';
import type { Operation } from '../operations/operation.ts';
import { checked as checkedBy } from '../schema/checked.ts';
import { type BodyCheck, checkBy, type Schema } from '../schema/schema.ts';
import type { Inflater } from '../transport/inflate.ts';
import { codingsOf, inflated } from './content-encoding.ts';

export interface BodyLimits {
  bytes: number;
  depth: number;
  values: number;
}

/** A body that was parsed. */
export interface ParsedBody {
  value: unknown;
  /** The length of the body: at least its number of characters of JSON. */
  length: number;
}

/** A shorter body takes at most a few milliseconds of work, in characters. */
export const longBody = 256 * 1024;

/**
 * Parses a body that was read.
 * @param given       text, or bytes, or an object that the host parsed already
 * @param keepDigits  gets the value and its text, where there is one
 * @throws GatewayError invalid_request (400), payload_too_large (413)
 */
export function parseBody(given: unknown, limits: BodyLimits, keepDigits?: Operation['keepDigits']): ParsedBody {
  if (!isText(given)) return shallow(given, limits);
  const text = withoutMark(decoded(given, limits));
  const value = parse(text, limits);
  keepDigits?.(value, text);
  return { value, length: given.length };
}

/**
 * Checks a body that was parsed.
 * @param headers  of the request; an operation may check them as well
 * @throws GatewayError invalid_request (400), unprocessable (422)
 */
export function checkBody(value: unknown, operation: Operation, headers: Headers): unknown {
  const checked = checkBy((operation.body as () => Schema | BodyCheck<unknown>)(), value);
  if (checked.issues !== null) throw refusal('invalid_request', checked.issues);
  const issues = operation.issues?.(checked.value, headers);
  if (issues !== undefined && issues.length > 0) throw refusal('invalid_request', issues);
  const contradicted = operation.contradictions?.(checked.value) ?? [];
  if (contradicted.length > 0) throw refusal('unprocessable', contradicted);
  return checked.value;
}

/**
 * Parameters that clients add to every URL. They describe the client, and change nothing; `key` holds its key, which was
 * read with the headers.
 */
const ofClients = ['api-version', 'client_version', 'beta', 'key', 'prettyPrint', '$prettyPrint', 'lifecycle[]'];
/** Parameters that ask for the form of a response. JSON is what it has anyway. */
const forms = ['alt', '$alt'];

/** Reads the query of a URL. @throws GatewayError invalid_request (400) */
export function checkQuery(url: string, schema: Schema): unknown {
  const given = new Map(new URL(url).searchParams);
  for (const name of ofClients) given.delete(name);
  for (const name of forms) if (/^(?:json(?:;.*)?)?$/.test(given.get(name) ?? '')) given.delete(name);
  return checkedBy(schema, Object.fromEntries(given));
}

/** Tells whether a body still has to be parsed. */
export function isText(body: unknown): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}

const byteOrderMark = 0xfeff;

/** Some clients begin with a byte order mark, which most decoders take away. */
const withoutMark = (text: string) => (text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text);

function parse(text: string, { depth, values }: BodyLimits): unknown {
  if (text === '')
    throw refusal('invalid_request', [{ path: '', message: 'The body is empty; a JSON object was expected' }]);
  try {
    return parseJson(text, depth, values);
  } catch (error) {
    throw shownJsonError(error, values);
  }
}

/** Checks the limits for a body that the host parsed: the host's parser may have no limits, or larger ones. */
function shallow(value: unknown, { bytes, depth, values }: BodyLimits): ParsedBody {
  let length: number;
  try {
    length = checkParsed(value, depth, values);
  } catch (error) {
    throw shownJsonError(error, values);
  }
  return length > bytes ? tooLarge(bytes) : { value, length };
}

function shownJsonError(error: unknown, values: number): unknown {
  if (!(error instanceof JsonError)) return error;
  const message = `The body is ${error.message}`;
  return error.isTooLarge
    ? new GatewayError('payload_too_large', message, { metadata: { limit_values: values } })
    : refusal('invalid_request', [{ path: '', message }]);
}

function decoded(given: string | Uint8Array, { bytes: limit }: BodyLimits): string {
  if (given.length > limit || isLonger(given, limit)) tooLarge(limit);
  return typeof given === 'string' ? given : decodeUtf8(() => new TextDecoder('utf-8', { fatal: true }).decode(given));
}

/**
 * Tells whether a text of a host has more bytes than the limit, although it has fewer characters. A character has at
 * most three bytes.
 */
function isLonger(given: string | Uint8Array, limit: number): boolean {
  if (typeof given !== 'string' || given.length * 3 <= limit) return false;
  return new TextEncoder().encode(given).length > limit;
}

/** @throws GatewayError invalid_request (400): a decoder that is fatal has thrown */
function decodeUtf8(decode: () => string): string {
  try {
    return decode();
  } catch {
    throw refusal('invalid_request', [{ path: '', message: 'The body is not valid UTF-8' }]);
  }
}

/**
 * The reason why a host could not read a body: it was no JSON, no valid data of its compression, larger than the host
 * accepts, of a coding that the host does not know, or already read by other code of the host.
 */
export type BodyFailure = 'malformed' | 'damaged' | 'too_large' | 'unsupported' | 'consumed';

/** The error for a body that the host could not read. */
export function bodyFailed(failure: BodyFailure): GatewayError {
  if (failure === 'too_large')
    return new GatewayError('payload_too_large', 'The body is larger than this server takes');
  if (failure === 'unsupported')
    return new GatewayError(
      'unsupported_media_type',
      'The body has a coding or a charset that this server does not take',
    );
  if (failure === 'consumed') return new GatewayError('internal', consumedMessage);
  const message = failure === 'damaged' ? 'The compressed body is damaged or cut off' : 'The body is not valid JSON';
  return refusal('invalid_request', [{ path: '', message }]);
}

/** A mistake of the host app. The message is for its developer, since the client has done nothing wrong. */
const consumedMessage =
  'The body could not be read: something in this server has read it before the gateway. ' +
  'Mount the gateway before it, or give the gateway what it has read, as req.body or gateway.handle(request, { body })';

/** The way in which a host reads a body, if it has its own. */
export interface BodyReader {
  /** Called before the body is read. Not called for a request that is refused before that. */
  beforeBody?: () => void;
  /**
   * Reads the body, where the host has a better way than the request's own. Stops when it has more bytes than the
   * limit, and returns them. Returns bytes if they are not UTF-8. Need not call back once the client has left.
   */
  readText?: (limitBytes: number, ...then: Parameters<Pending<string | Uint8Array>>) => void;
}

/**
 * Reads a body that has not been read yet, and inflates it where it is compressed.
 * @param isBinary  true: the body need not be a text
 * @throws GatewayError unsupported_media_type (415), payload_too_large (413); the returned value can also fail with
 *   these, or with invalid_request (400)
 */
export function readBody(
  request: Request,
  { bytes: limit }: BodyLimits,
  { beforeBody, readText }: BodyReader,
  inflater: Inflater,
  isBinary = false,
): Pending<string | Uint8Array> {
  const codings = codingsOf(request, inflater);
  if (!readText && request.bodyUsed) throw bodyFailed('consumed');
  const declared = request.headers.get('content-length');
  // A number with fewer digits than the limit is smaller, so it needs no parsing.
  if (declared !== null && declared.length >= String(limit).length && Number(declared) > limit) return tooLarge(limit);
  // A host never reads past a declared length, so only bodies without one are counted. An in-process request can
  // declare a wrong length; `checkBody` then finds the text too large.
  beforeBody?.();
  const isCounted = !readText && declared === null;
  if (codings === null && isCounted && !isBinary && request.body !== null)
    return pendingOf(countedText(request.body, limit));
  const read: Pending<string | Uint8Array> = readText
    ? (done, failed) => readText(limit, done, failed)
    : pendingOf(
        isCounted && request.body !== null ? countedBytes(request.body, limit, isBinary) : declaredBytes(request),
      );
  return codings === null ? read : inflated(read, codings, limit, inflater, () => largeBody(limit));
}

function declaredBytes(request: Request): Promise<Uint8Array> {
  return request.arrayBuffer().then((buffer) => new Uint8Array(buffer));
}

/** Turns a failure to read a body into the caller's error. */
export function unreadable(error: unknown): GatewayError {
  return isGatewayError(error)
    ? error
    : new GatewayError('invalid_request', 'The body could not be read to its end; send the request again', {
        cause: error,
      });
}

async function countedText(body: ReadableStream<Uint8Array>, limit: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  await readCounted(body, limit, (buffer) => {
    text += decodeUtf8(() => decoder.decode(buffer, { stream: true }));
  });
  return text + decodeUtf8(() => decoder.decode());
}

async function countedBytes(body: ReadableStream<Uint8Array>, limit: number, isBinary: boolean): Promise<Uint8Array> {
  const buffers: Uint8Array[] = [];
  await readCounted(body, limit, (buffer) => void buffers.push(buffer), isBinary);
  return joinBytes(buffers);
}

/**
 * @param take      for each buffer; where it throws, the rest is not read
 * @param isBinary  true: the rest is left alone, and not cancelled. Node's own body of a FormData, as requests in process
 *   have it, then rejects where nobody can listen
 */
async function readCounted(
  body: ReadableStream<Uint8Array>,
  limit: number,
  take: (buffer: Uint8Array) => void,
  isBinary = false,
): Promise<void> {
  const reader = body.getReader();
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    size += value.length;
    try {
      if (size > limit) throw largeBody(limit);
      take(value);
    } catch (error) {
      if (isBinary) reader.releaseLock();
      else reader.cancel().catch(() => undefined);
      throw error;
    }
  }
}

function tooLarge(limit: number): never {
  throw largeBody(limit);
}

/** The error for a body that is longer than the limit. */
export function largeBody(limit: number): GatewayError {
  return new GatewayError('payload_too_large', `The body is larger than ${limit} bytes`, {
    metadata: { limit_bytes: limit },
  });
}
