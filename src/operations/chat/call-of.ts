import type { StopSignal } from '../../base/async/stop.ts';
import { generationId, type Ids } from '../../base/ids.ts';
import type { Issue } from '../../base/refusal.ts';
import { cleanName } from '../../base/text/clean-text.ts';
import { type Ask, askOf } from '../../call/ask.ts';
import type { Call, Caller } from '../../call/call.ts';
import type { ResponseEncoder } from '../../call/response-encoder.ts';
import { chatEncoder } from '../../formats/chat/encoder.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import { missingTools } from '../../schema/chat/validate.ts';
import type { OperationInput } from '../operation.ts';

/** The same as for the field `session_id`. */
const maxSessionIdChars = 256;
const sessionHeader = 'x-session-id';

/** The parts of an operation's input that a call takes, beside the request. */
type CallInput<Body = unknown> = Pick<
  OperationInput<Body>,
  'body' | 'isLong' | 'caller' | 'headers' | 'signal' | 'time' | 'receivedAtMs' | 'authenticatedAtMs' | 'connection'
>;

/** Finds faults that the schema of a chat request does not: the caller gets status 400. */
export function chatIssues(request: ChatRequest, headers: Headers): readonly Issue[] {
  return withHeaderIssues(missingTools(request), headers);
}

/** Adds the faults in the headers of a request for a completion. */
export function withHeaderIssues(issues: readonly Issue[], headers: Headers): readonly Issue[] {
  if ((headers.get(sessionHeader)?.length ?? 0) <= maxSessionIdChars) return issues;
  return [...issues, { path: sessionHeader, message: `expected at most ${maxSessionIdChars} characters` }];
}

/** Makes the call of a chat request from its headers and its body. */
export function chatCalls(ids: Ids, brand: string): (input: CallInput<ChatRequest>) => Call {
  const callOf = completionCalls(ids, brand, 'createChatCompletion');
  const encoder = chatEncoder(brand);
  return (input) => callOf(input, askOf(input.body), encoder);
}

/** Makes the calls of any operation whose response is a completion. */
export function completionCalls(
  ids: Ids,
  brand: string,
  operation: string,
  /** A further header that may name the conversation; one that is too long names none. */
  ownSessionHeader: string | null = null,
): (input: CallInput, ask: Ask, encoder: ResponseEncoder, asked?: Call['asked'], held?: Call['held']) => Call {
  const ownSession = (headers: Headers): string | null => {
    const named = ownSessionHeader === null ? null : headers.get(ownSessionHeader);
    return named !== null && named.length <= maxSessionIdChars ? named : null;
  };
  const metadataHeaders = [
    ...new Set([`x-${brand}-metadata`, 'x-service-metadata', 'x-service-experimental-metadata']),
  ];
  return (input, ask, encoder, asked, held) => {
    const { headers, receivedAtMs } = input;
    const wantsMetadata = isFirstEnabled(metadataHeaders, headers);
    // An empty one names no conversation.
    const sessionId = ask.request.session_id || headers.get(sessionHeader) || ownSession(headers) || null;
    const id = generationId(ids, receivedAtMs);
    return new CompletionCall(id, operation, input, ask, wantsMetadata, sessionId, encoder, asked, held);
  };
}

/**
 * Tells whether the first header that is there has the value `enabled`: a legacy header must not overrule a newer one.
 */
function isFirstEnabled(names: readonly string[], headers: Headers): boolean {
  for (const name of names) {
    const value = headers.get(name);
    if (value) return value.trim().toLowerCase() === 'enabled';
  }
  return false;
}

/** @see https://www.w3.org/TR/trace-context/#traceparent-header */
const traceparentForm = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

/** The headers that no plugin is shown: they prove who the caller is. */
const secretHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
]);

/** The call of a client. It holds the complete request, so it is a class: docs/performance.md, "Classes instead of literals". */
class CompletionCall implements Call {
  readonly id: string;
  readonly operation: string;
  readonly ask: Ask;
  readonly isLong: boolean;
  readonly caller: Caller;
  readonly signal: StopSignal;
  readonly time: Call['time'];
  readonly receivedAtMs: number;
  readonly authenticatedAtMs: number;
  readonly created: number;
  readonly wantsMetadata: boolean;
  readonly sessionId: string | null;
  readonly encoder: ResponseEncoder;
  readonly asked: Call['asked'];
  readonly held: Call['held'];
  readonly connection: number | null;
  readonly #headers: Headers;

  constructor(
    id: string,
    operation: string,
    input: CallInput,
    ask: Ask,
    wantsMetadata: boolean,
    sessionId: string | null,
    encoder: ResponseEncoder,
    asked: Call['asked'],
    held: Call['held'],
  ) {
    this.id = id;
    this.operation = operation;
    this.ask = ask;
    this.isLong = input.isLong;
    this.caller = input.caller;
    this.signal = input.signal;
    this.time = input.time;
    this.receivedAtMs = input.receivedAtMs;
    this.authenticatedAtMs = input.authenticatedAtMs;
    this.created = Math.floor(input.receivedAtMs / 1000);
    this.wantsMetadata = wantsMetadata;
    this.sessionId = sessionId;
    this.encoder = encoder;
    this.asked = asked;
    this.held = held;
    this.connection = input.connection ?? null;
    this.#headers = input.headers;
  }

  header(name: string): string | null {
    return secretHeaders.has(name.toLowerCase()) ? null : this.#headers.get(name);
  }

  get request(): ChatRequest {
    return this.ask.request;
  }

  /** Only records ask. */
  get traceparent(): string | null {
    const header = this.#headers.get('traceparent');
    return header !== null && traceparentForm.test(header) ? header : null;
  }

  /** A getter, because only records read it. */
  get userAgent(): string | null {
    const header = this.#headers.get('user-agent');
    return header === null || header === '' ? null : cleanName(header);
  }

  /** A getter, because only records read it. The query is cut off, because it may contain private data. */
  get referer(): string | null {
    const header = this.#headers.get('http-referer') ?? this.#headers.get('referer');
    const address = header === null ? '' : /^[^?#]*/.exec(header)?.[0];
    return address ? cleanName(address) : null;
  }
}
