import { keepExact } from '../../base/exact-json.ts';
import { peek } from '../../base/framing/peek.ts';
import type { UpstreamError } from '../../base/http/upstream-error.ts';
import { JsonError, parseJson } from '../../base/json.ts';
import type { Redactor } from '../../base/secrets.ts';
import { cleanText } from '../../base/text/clean-text.ts';
import type { DecodedResult, StreamPart } from '../../dialects/dialect.ts';
import { resultWithOwnNames } from '../../dialects/fit/index.ts';
import { argumentFields } from '../../dialects/shared/values.ts';
import { toChunks } from '../../formats/chunks.ts';
import type { ChatResult, Usage } from '../../schema/chat/chat.ts';
import { readText, readTextBounded, textAtHand } from '../../transport/send.ts';
import type { TransportResponse } from '../../transport/transport.ts';
import { withoutJoinedSecrets } from '../secrets/redaction.ts';
import { badStream, type EventReader, eventReader, foldEvents, readToFirstToken } from '../stream/events.ts';
import type { AttemptContext } from './context.ts';
import type { Watchdog } from './watchdog.ts';

/** A complete response. */
export interface CompleteResponse {
  kind: 'result';
  result: ChatResult;
  /** The usage that the provider reported; null: it has reported none. */
  usage: Usage | null;
}

/** A stream whose first token is there. The owner reads it to the end or closes it. */
export interface OpenStream {
  kind: 'stream';
  /** The events that follow; null: none follow, because the upstream sent JSON. */
  events: EventReader | null;
  /** The parts of the events up to the first token. */
  first: StreamPart[];
  watchdog: Watchdog;
  /** The number of choices that the request asks for. */
  expectedChoices: number;
  /** true: names of tools in the upstream's bytes are not the caller's own. */
  hasOtherNames: boolean;
  /** Takes out keys, which must not reach the client, if the upstream repeats them. */
  redactor: Redactor;
  /** Lets go of the upstream: closes the socket unless the stream was read to its end. Safe to call more than once. */
  close(): void;
}

export type Attempted = CompleteResponse | OpenStream;

const firstOfResponse = 'the first of its response';

/** Reads a response with an error status. */
export async function readError(context: AttemptContext, response: TransportResponse): Promise<UpstreamError> {
  const { settings, provider, redactor, watchdog } = context;
  watchdog.arm(settings.timeouts.idleMs, 'all of its error');
  // Keys are taken out before the text is cut: half a key is still a secret.
  const text = redactor.redact(await readTextBounded(response.body, settings.limits.errorBytes));
  const decoded = provider.dialect.decodeError(response.status, response.headers, text, settings.clock.now());
  // The body of a redirect names the target, whose address may hold a token.
  if (isRedirect(response.status)) return redirected(decoded, response.headers.location);
  // A page for browsers says nothing to an API client.
  const raw = /^\s*</.test(text) ? '' : cleanText(text, maxRawChars);
  return raw === '' ? decoded : decoded.with({ raw });
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/**
 * Makes the error of a redirect. Redirects are not followed: the key would go along. The target is for the log alone,
 * without its query.
 */
function redirected(error: UpstreamError, location: string | undefined): UpstreamError {
  const message = `The provider responded with a redirect (${error.status}), and the gateway follows none: baseUrl of the provider has to be the address that serves the requests, with its scheme and path`;
  const to = location === undefined ? '' : cleanText(location.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//'), 200);
  return error.with({ message, failure: `redirect (${error.status})${to === '' ? '' : ` to ${to}`}, not followed` });
}

/** The most characters of a provider's error response that are shown. */
const maxRawChars = 1_000;

/**
 * Reads a response with a success status, up to its end or to its first token. Returns no promise where all of it is
 * here, as a short response comes in one packet with its headers.
 * @param release  called once nothing of the upstream is needed any more
 */
export function readResponse(
  context: AttemptContext,
  response: TransportResponse,
  isStream: boolean,
  release: () => void,
): Attempted | Promise<Attempted> {
  const { limits, timeouts } = context.settings;
  const received = isStream ? null : textAtHand(response.body, limits.bodyBytes);
  if (received !== null) return readComplete(context, received, release);
  context.watchdog.arm(timeouts.firstEventMs, firstOfResponse);
  if (isStream) return openStream(context, response, release);
  return readText(response.body, limits.bodyBytes, untilComplete(context)).then((text) =>
    readComplete(context, text, release),
  );
}

/**
 * Makes the reader of a JSON body. It waits for more bytes anew each time, and for nothing after the end of a stream.
 */
function untilComplete({ settings, provider, watchdog }: AttemptContext): (bytes: Uint8Array) => boolean {
  const hasEnded = provider.dialect.framing.endWatch();
  return (bytes) => {
    watchdog.arm(settings.timeouts.idleMs, 'all of its response');
    return hasEnded(bytes);
  };
}

/** Reads the response to a request for JSON. A stream that came instead is folded into a result. */
function readComplete(context: AttemptContext, received: string, release: () => void): CompleteResponse {
  const { settings, provider, redactor, encoded } = context;
  const text = redactor.redact(received);
  const { result, usage } =
    provider.dialect.framing.recognises(text, true) === true
      ? foldEvents(text, encoded.choices, provider, settings.limits, redactor, encoded.reading)
      : decodeBody(context, text);
  release();
  return { kind: 'result', result, usage };
}

/** Opens the response to a request for a stream. A JSON body that came instead is cut into chunks. */
async function openStream(
  context: AttemptContext,
  response: TransportResponse,
  release: () => void,
): Promise<OpenStream> {
  const { settings, provider, redactor, watchdog, encoded } = context;
  const source = await peek(response.body, provider.dialect.framing);
  if (!source.isStream) {
    const text = redactor.redact(await readText(source, settings.limits.bodyBytes, untilComplete(context)));
    const { result, usage } = decodeBody(context, text);
    release();
    return {
      kind: 'stream',
      events: null,
      first: partsOf(result, usage),
      watchdog,
      expectedChoices: result.choices.length,
      hasOtherNames: false,
      redactor,
      close: () => undefined,
    };
  }
  const events = eventReader(source, provider, settings.limits, encoded.reading);
  const first = await readToFirstToken(events, redactor);
  watchdog.disarm();
  const close = () => {
    release();
    source.cancel();
  };
  const hasOtherNames = encoded.reading?.ownNames !== undefined;
  return { kind: 'stream', events, first, watchdog, expectedChoices: encoded.choices, hasOtherNames, redactor, close };
}

function partsOf(result: ChatResult, usage: Usage | null): StreamPart[] {
  const parts: StreamPart[] = toChunks(result).map((chunk) => ({ kind: 'chunk', chunk }));
  if (usage) parts.push({ kind: 'usage', usage });
  parts.push({ kind: 'done' });
  return parts;
}

function decodeBody({ settings, provider, redactor, encoded }: AttemptContext, text: string): DecodedResult {
  const body = parseBody(text, settings.limits.depth);
  const { reading } = encoded;
  const decoded = resultWithOwnNames(provider.dialect.decodeResult(body, provider.quirks, reading), reading?.ownNames);
  withoutJoinedSecrets(decoded.result, redactor);
  return decoded;
}

/**
 * Reads a JSON body of another task than chat.
 * @param results  the results in it, each as large as a usual body
 * @throws UpstreamError bad_response
 */
export async function readJson(context: AttemptContext, { body }: TransportResponse, results = 1): Promise<unknown> {
  const { settings, redactor, watchdog } = context;
  const { limits, timeouts } = settings;
  watchdog.arm(timeouts.firstEventMs, firstOfResponse);
  const mostBytes = Math.max(limits.bodyBytes, Math.min(limits.bodyBytes * results, limits.streamBytes));
  const text =
    textAtHand(body, mostBytes) ??
    (await readText(body, mostBytes, () => {
      watchdog.arm(timeouts.idleMs, 'all of its response');
      return false;
    }));
  return parsedBody(redactor.redact(text), limits.depth);
}

function parseBody(text: string, maxDepth: number): unknown {
  const body = parsedBody(text, maxDepth);
  keepExact(body, text, argumentFields);
  return body;
}

function parsedBody(text: string, maxDepth: number): unknown {
  const start = text.trimStart();
  if (start === '') throw badStream('The provider responded with an empty body.');
  if (start.startsWith('<')) throw badStream('The provider responded with a page of HTML instead of JSON.');
  try {
    return parseJson(text, maxDepth);
  } catch (error) {
    if (error instanceof JsonError) throw badStream(`The provider responded with a body that is ${error.message}.`);
    throw error;
  }
}
