import { cleanName } from '../../base/clean-text.ts';
import { generationId, type Ids } from '../../base/ids.ts';
import type { Issue } from '../../base/refusal.ts';
import type { StopSignal } from '../../base/stop.ts';
import type { Call, Caller } from '../../call/call.ts';
import { fusionDepthHeader } from '../../call/fusion-mark.ts';
import type { ResponseEncoder } from '../../call/response-encoder.ts';
import { chatEncoder } from '../../convert/chat-encoder.ts';
import type { ChatRequest } from '../../schema/chat.ts';
import { missingTools } from '../../schema/validate.ts';
import type { OperationInput } from '../operation.ts';

/** As of the field `session_id`. */
const maxSessionIdChars = 256;
const sessionHeader = 'x-session-id';

/** What a call takes from the input of its operation, beside the request. */
type CallInput<Body = unknown> = Pick<
  OperationInput<Body>,
  'body' | 'caller' | 'headers' | 'signal' | 'receivedAtMs' | 'authenticatedAtMs'
>;

/** Finds what the schema of a chat request does not say: the caller gets status 400. */
export function chatIssues(request: ChatRequest, headers: Headers): readonly Issue[] {
  return withHeaderIssues(missingTools(request), headers);
}

/** Adds what is wrong with the headers of a request for a completion. */
export function withHeaderIssues(issues: readonly Issue[], headers: Headers): readonly Issue[] {
  if ((headers.get(sessionHeader)?.length ?? 0) <= maxSessionIdChars) return issues;
  return [...issues, { path: sessionHeader, message: `expected at most ${maxSessionIdChars} characters` }];
}

/** Makes the call of a chat request: what its headers and its body say together. */
export function chatCalls(ids: Ids, brand: string): (input: CallInput<ChatRequest>) => Call {
  const callOf = completionCalls(ids, brand, 'createChatCompletion');
  const encoder = chatEncoder(brand);
  return (input) => callOf(input, input.body, encoder);
}

/** Makes the calls of any operation whose response is a completion. */
export function completionCalls(
  ids: Ids,
  brand: string,
  operation: string,
): (input: CallInput, request: ChatRequest, encoder: ResponseEncoder) => Call {
  const metadataHeaders = [
    ...new Set([`x-${brand}-metadata`, 'x-service-metadata', 'x-service-experimental-metadata']),
  ];
  return (input, request, encoder) => {
    const { headers, receivedAtMs } = input;
    const wantsMetadata = isFirstEnabled(metadataHeaders, headers);
    // An empty one names no conversation.
    const sessionId = request.session_id || headers.get(sessionHeader) || null;
    const id = generationId(ids, receivedAtMs);
    return new CompletionCall(id, operation, input, request, wantsMetadata, sessionId, encoder);
  };
}

/** Whether the first header that is there says `enabled`: a legacy header must not overrule a newer one. */
function isFirstEnabled(names: readonly string[], headers: Headers): boolean {
  for (const name of names) {
    const value = headers.get(name);
    if (value) return value.trim().toLowerCase() === 'enabled';
  }
  return false;
}

/** @see https://www.w3.org/TR/trace-context/#traceparent-header */
const traceparentForm = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

/** A class for the reason that `Sent` in pipeline/attempt/outgoing.ts is one: it holds the complete request. */
class CompletionCall implements Call {
  readonly id: string;
  readonly operation: string;
  readonly request: ChatRequest;
  readonly caller: Caller;
  readonly signal: StopSignal;
  readonly receivedAtMs: number;
  readonly authenticatedAtMs: number;
  readonly created: number;
  readonly wantsMetadata: boolean;
  readonly sessionId: string | null;
  readonly encoder: ResponseEncoder;
  readonly #headers: Headers;

  constructor(
    id: string,
    operation: string,
    input: CallInput,
    request: ChatRequest,
    wantsMetadata: boolean,
    sessionId: string | null,
    encoder: ResponseEncoder,
  ) {
    this.id = id;
    this.operation = operation;
    this.request = request;
    this.caller = input.caller;
    this.signal = input.signal;
    this.receivedAtMs = input.receivedAtMs;
    this.authenticatedAtMs = input.authenticatedAtMs;
    this.created = Math.floor(input.receivedAtMs / 1000);
    this.wantsMetadata = wantsMetadata;
    this.sessionId = sessionId;
    this.encoder = encoder;
    this.#headers = input.headers;
  }

  /** Only records ask. */
  get traceparent(): string | null {
    const header = this.#headers.get('traceparent');
    return header !== null && traceparentForm.test(header) ? header : null;
  }

  /** Only records ask. */
  get userAgent(): string | null {
    const header = this.#headers.get('user-agent');
    return header === null || header === '' ? null : cleanName(header);
  }

  /** Only records ask. The query of an address may hold what is nobody's business. */
  get referer(): string | null {
    const header = this.#headers.get('http-referer') ?? this.#headers.get('referer');
    const address = header === null ? '' : /^[^?#]*/.exec(header)?.[0];
    return address ? cleanName(address) : null;
  }

  /** Only one plugin asks. */
  get fusionDepth(): string | null {
    return this.#headers.get(fusionDepthHeader);
  }
}
