import type { ZodError, ZodType } from 'zod';
import { GatewayError, isGatewayError } from '../base/errors.ts';
import { checkParsed, JsonError, parseJson } from '../base/json.ts';
import { type Pending, pendingOf } from '../base/pending.ts';
import type { Operation } from '../operations/operation.ts';
import type { BodyCheck } from '../schema/compiled.ts';
import { validationIssues } from '../schema/validate.ts';

export interface BodyLimits {
  bytes: number;
  depth: number;
  values: number;
}

/**
 * Parses and checks a body that was read.
 * @param given    text, or bytes, or an object that the host parsed already
 * @param headers  of the request, for what an operation says of them
 * @throws GatewayError invalid_request (400), payload_too_large (413), unprocessable (422)
 */
export function checkBody(given: unknown, operation: Operation, limits: BodyLimits, headers: Headers): unknown {
  const value = isText(given) ? parse(decoded(given, limits), limits) : shallow(given, limits);
  const checked = (operation.body as () => BodyCheck<unknown>)().safeParse(value);
  if (!checked.success) throw invalid(checked.error);
  const issues = operation.issues?.(checked.data, headers);
  if (issues !== undefined && issues.length > 0) throw refusal('invalid_request', issues);
  const contradicted = operation.contradictions?.(checked.data) ?? [];
  if (contradicted.length > 0) throw refusal('unprocessable', contradicted);
  return checked.data;
}

/** Reads the query of a URL. @throws GatewayError invalid_request (400) */
export function checkQuery(url: string, schema: ZodType): unknown {
  const checked = schema.safeParse(Object.fromEntries(new URL(url).searchParams));
  if (!checked.success) throw invalid(checked.error);
  return checked.data;
}

function invalid(error: ZodError): GatewayError {
  return refusal('invalid_request', validationIssues(error));
}

/** The message describes the first issue; the metadata holds all issues. */
function refusal(
  kind: 'invalid_request' | 'unprocessable',
  issues: readonly { path: string; message: string }[],
): GatewayError {
  const [first] = issues;
  const message = first
    ? first.path === ''
      ? first.message
      : `${first.path}: ${first.message}`
    : 'The body is not valid';
  return new GatewayError(kind, message, { metadata: { issues } });
}

function isText(body: unknown): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}

function parse(text: string, { depth, values }: BodyLimits): unknown {
  if (text === '')
    throw refusal('invalid_request', [{ path: '', message: 'The body is empty; a JSON object was expected' }]);
  try {
    return parseJson(text, depth, values);
  } catch (error) {
    throw shownJsonError(error, values);
  }
}

/** Checks a parsed body, because the host's parser may have no limits. */
function shallow(parsed: unknown, { depth, values }: BodyLimits): unknown {
  try {
    checkParsed(parsed, depth, values);
  } catch (error) {
    throw shownJsonError(error, values);
  }
  return parsed;
}

function shownJsonError(error: unknown, values: number): unknown {
  if (!(error instanceof JsonError)) return error;
  const message = `The body is ${error.message}`;
  return error.isTooLarge
    ? new GatewayError('payload_too_large', message, { metadata: { limit_values: values } })
    : refusal('invalid_request', [{ path: '', message }]);
}

function decoded(given: string | Uint8Array, { bytes: limit }: BodyLimits): string {
  if (given.length > limit) tooLarge(limit);
  return typeof given === 'string' ? given : new TextDecoder().decode(given);
}

/**
 * Reads a body that has not been read yet.
 * @param readText  the host's own way to read the body
 * @throws GatewayError invalid_request (400), payload_too_large (413); the returned value can also fail with them
 */
export function readBody(request: Request, { bytes: limit }: BodyLimits, readText?: Pending<string>): Pending<string> {
  const encoding = request.headers.get('content-encoding');
  if (encoding && encoding !== 'identity') {
    throw refusal('invalid_request', [
      { path: '', message: 'A compressed body is not accepted; send it without Content-Encoding' },
    ]);
  }
  const declared = request.headers.get('content-length');
  // A number with fewer digits than the limit is smaller, so it needs no parsing.
  if (declared !== null && declared.length >= String(limit).length && Number(declared) > limit) return tooLarge(limit);
  // A host never reads past a declared length, so only bodies without one are counted. An in-process request can
  // declare a wrong length; `checkBody` then finds the text too large.
  if (declared === null && request.body !== null) return pendingOf(countedText(request.body, limit));
  return readText ?? pendingOf(request.text());
}

/** Turns a failure to read a body into the caller's error. */
export function unreadable(error: unknown): GatewayError {
  return isGatewayError(error)
    ? error
    : new GatewayError('invalid_request', 'The body could not be read', { cause: error });
}

async function countedText(body: ReadableStream<Uint8Array>, limit: number): Promise<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > limit) {
      reader.cancel().catch(() => undefined);
      return tooLarge(limit);
    }
    text += decoder.decode(value, { stream: true });
  }
}

function tooLarge(limit: number): never {
  throw new GatewayError('payload_too_large', `The body is larger than ${limit} bytes`, {
    metadata: { limit_bytes: limit },
  });
}
