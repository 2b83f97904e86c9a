import { isObject, type Loose } from '../../base/values.ts';
import type { ChatRequest, ChatTool, ResponseFormat } from '../../schema/chat/chat.ts';
import type { DialectRequest, EncodedRequest, Reading, StructuredOutput, ThoughtFieldMemory } from '../dialect.ts';
import { gatewayFields } from '../shared/gateway-fields.ts';
import { outputInstruction } from '../shared/structured-output.ts';
import { encodeMessages } from './messages.ts';
import { isRefused } from './parameters.ts';
import type { ChatQuirks } from './quirks.ts';
import { encodeReasoning } from './reasoning-request.ts';

/** Fields that speak to the gateway, and those that are written anew, in the provider's own words. */
const handledFields: ReadonlySet<string> = new Set([
  ...gatewayFields,
  'cache_control',
  'max_tokens',
  'max_completion_tokens',
  'reasoning',
  'reasoning_effort',
]);

/**
 * Builds the upstream body: unknown fields pass, nulls (which mean "not set") and the gateway's own fields do not, and
 * usage is always asked for. Fields that the provider does not take are listed.
 */
export function encodeRequest({
  request,
  upstreamModel,
  quirks,
  thoughtField,
}: DialectRequest<ChatQuirks>): EncodedRequest {
  // A quirk is what somebody knows; without one, what the provider has sent counts.
  const learnt = quirks.reasoningField === undefined ? thoughtField : undefined;
  const dropParams = quirks.dropParams;
  const dropped: string[] = [];
  // An empty literal: docs/performance.md, "Classes instead of literals".
  const payload: Record<string, unknown> = {};
  payload.model = upstreamModel;
  for (const key in request) {
    const value = (request as Record<string, unknown>)[key];
    if (value === null || value === undefined || handledFields.has(key)) continue;
    if (dropParams !== undefined && isRefused(key, dropParams)) dropped.push(key);
    else payload[key === 'seed' ? (quirks.seedField ?? key) : key] = value;
  }
  payload.messages = encodeMessages(request.messages, quirks, dropped, learnt?.known());
  if (payload.tools !== undefined) payload.tools = encodeTools(request.tools ?? [], quirks, dropped);
  encodeReasoning(request, quirks, payload, dropped);
  encodeLargestOutput(request, quirks, payload, dropped);
  encodeCacheControl(request, quirks, payload, dropped);
  encodeStream(request, quirks, payload, dropped);
  return new Encoded(
    pathOf(upstreamModel, quirks),
    payload,
    request.stream === true,
    dropped,
    encodeFormat(quirks, payload),
    learnt,
  );
}

function pathOf(model: string, { modelInPath }: ChatQuirks): string {
  return modelInPath === true ? `/deployments/${encodeURIComponent(model)}/chat/completions` : '/chat/completions';
}

class Encoded implements EncodedRequest {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly payload: Record<string, unknown>;
  readonly body: string;
  readonly choices: number;
  readonly dropped: readonly string[];
  readonly structuredOutput?: StructuredOutput;
  readonly reading?: Reading;

  constructor(
    path: string,
    payload: Record<string, unknown>,
    isStream: boolean,
    dropped: readonly string[],
    structuredOutput: StructuredOutput | null,
    thoughtField: ThoughtFieldMemory | undefined,
  ) {
    this.path = path;
    this.headers = {
      'content-type': 'application/json',
      accept: isStream ? 'text/event-stream' : 'application/json',
    };
    this.payload = payload;
    this.body = JSON.stringify(payload);
    this.choices = typeof payload.n === 'number' ? payload.n : 1;
    this.dropped = dropped;
    if (structuredOutput !== null) this.structuredOutput = structuredOutput;
    if (thoughtField !== undefined) this.reading = { thoughtField };
  }
}

/** Encodes the largest output. The newer name wins where a caller sends both. */
function encodeLargestOutput(
  { max_tokens: older, max_completion_tokens: newer }: ChatRequest,
  quirks: ChatQuirks,
  payload: Record<string, unknown>,
  dropped: string[],
): void {
  const largest = newer ?? older ?? null;
  if (largest === null) return;
  payload[quirks.maxTokensField ?? 'max_tokens'] = Math.max(largest, quirks.minMaxTokens ?? 0);
  if ((older ?? largest) !== largest) dropped.push('max_tokens');
}

function encodeCacheControl(
  { cache_control: mark }: ChatRequest,
  quirks: ChatQuirks,
  payload: Record<string, unknown>,
  dropped: string[],
): void {
  if (mark === undefined || mark === null) return;
  if (quirks.cacheControl?.includes('request')) payload.cache_control = mark;
  else dropped.push('cache_control');
}

/**
 * Encodes the options of a stream. `include_usage` has no effect, as usage is always sent. Other options are for the
 * provider, in a stream.
 */
function encodeStream(
  { stream, stream_options: options }: ChatRequest,
  quirks: ChatQuirks,
  payload: Record<string, unknown>,
  dropped: string[],
): void {
  const takesOptions = stream === true && quirks.streamOptions !== false;
  if (stream === true) payload.stream = true;
  if (takesOptions) payload.stream_options = { ...options, include_usage: true };
  else if (options && Object.keys(options).some((key) => key !== 'include_usage')) dropped.push('stream_options');
}

function encodeTools(tools: readonly ChatTool[], quirks: ChatQuirks, dropped: string[]): readonly unknown[] {
  if (quirks.cacheControl?.includes('tools')) return tools;
  return tools.map((tool) => {
    if (!('cache_control' in tool)) return tool;
    const { cache_control: _, ...others } = tool;
    if (!dropped.includes('tools[].cache_control')) dropped.push('tools[].cache_control');
    return others;
  });
}

/**
 * Asks for structured output as the provider takes it.
 * @param payload  the body; for a provider without schemas, its format and messages are changed
 * @returns the way in which it is asked for; null: it is not
 */
function encodeFormat({ jsonSchema }: ChatQuirks, payload: Loose): StructuredOutput | null {
  const format = payload.response_format as ResponseFormat | undefined;
  if (format === undefined || format.type === 'text') return null;
  if (format.type !== 'json_schema' || jsonSchema !== false) return 'native';
  payload.response_format = { type: 'json_object' };
  payload.messages = withInstruction(payload.messages as readonly unknown[], outputInstruction(format) ?? '');
  return 'instruction';
}

/** Behind the caller's own instructions, which stay at the beginning: what is cached begins there. Servers want one message. */
function withInstruction(messages: readonly unknown[], instruction: string): unknown[] {
  const end = messages.findIndex((message) => !isObject(message) || !isInstruction(message.role));
  const at = (end < 0 ? messages.length : end) - 1;
  const last = messages[at];
  if (!isObject(last)) return [{ role: 'system', content: instruction }, ...messages];
  const content =
    typeof last.content === 'string'
      ? `${last.content}\n\n${instruction}`
      : [...(last.content as unknown[]), { type: 'text', text: instruction }];
  return messages.with(at, { ...last, content });
}

function isInstruction(role: unknown): boolean {
  return role === 'system' || role === 'developer';
}
