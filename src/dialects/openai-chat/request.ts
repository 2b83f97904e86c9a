import type { ChatMessage, ChatRequest, ChatTool } from '../../schema/chat.ts';
import type { DialectRequest, EncodedRequest } from '../dialect.ts';
import { type ChatQuirks, reasoningFields } from './quirks.ts';
import { moveReasoning } from './reasoning.ts';

/** Fields that speak to the gateway, not to a provider. */
const gatewayFields = new Set([
  'model',
  'models',
  'provider',
  'plugins',
  'route',
  'debug',
  'trace',
  'session_id',
  'stop_server_tools_when',
  'cache_control',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'reasoning',
  'include_reasoning',
  'usage',
  'transforms',
]);

/** What gateways add to an assistant message; strict servers refuse it. */
const addedMessageFields = ['annotations', 'images'] as const;
const movedMessageFields = [...reasoningFields, ...addedMessageFields];

/**
 * Builds the upstream body: unknown fields pass, nulls (which mean "not set") and the gateway's own fields do not, and
 * usage is always asked for.
 */
export function encodeRequest({ request, upstreamModel, quirks }: DialectRequest<ChatQuirks>): EncodedRequest {
  const dropParams = quirks.dropParams;
  const dropped: string[] = [];
  // Of an empty literal V8 makes no old objects: see `Sent` in pipeline/attempt/outgoing.ts.
  const payload: Record<string, unknown> = {};
  payload.model = upstreamModel;
  for (const key in request) {
    const value = (request as Record<string, unknown>)[key];
    if (value === null || value === undefined || gatewayFields.has(key)) continue;
    if (dropParams?.includes(key)) dropped.push(key);
    else payload[key === 'seed' ? (quirks.seedField ?? key) : key] = value;
  }
  payload.messages = encodeMessages(request.messages, quirks, dropped);
  if (request.tools) payload.tools = request.tools.map(encodeTool);

  const effort = request.reasoning_effort ?? effortOf(request.reasoning);
  if (effort !== undefined && effort !== null) {
    if (dropParams?.includes('reasoning_effort')) dropped.push('reasoning_effort');
    else payload.reasoning_effort = effort;
  }
  const largest = largestOutput(request);
  if (largest !== null) {
    const field = quirks.maxTokensField ?? 'max_tokens';
    payload[field] = Math.max(largest, quirks.minMaxTokens ?? 0);
  }
  if (request.stream === true) {
    payload.stream = true;
    if (quirks.streamOptions !== false) payload.stream_options = { ...request.stream_options, include_usage: true };
  }

  return new Encoded(payload, request.stream === true, dropped);
}

class Encoded implements EncodedRequest {
  readonly path = '/chat/completions';
  readonly headers: Record<string, string>;
  readonly payload: Record<string, unknown>;
  readonly body: string;
  readonly choices: number;
  readonly dropped: readonly string[];

  constructor(payload: Record<string, unknown>, isStream: boolean, dropped: readonly string[]) {
    this.headers = {
      'content-type': 'application/json',
      accept: isStream ? 'text/event-stream' : 'application/json',
    };
    this.payload = payload;
    this.body = JSON.stringify(payload);
    this.choices = typeof payload.n === 'number' ? payload.n : 1;
    this.dropped = dropped;
  }
}

/** The fields of `reasoning` this wire has a word for: how much to think, and whether. */
function effortOf(reasoning: ChatRequest['reasoning']): string | null | undefined {
  if (reasoning?.effort !== undefined && reasoning.effort !== null) return reasoning.effort;
  if (reasoning?.enabled === undefined) return undefined;
  return reasoning.enabled ? 'medium' : 'none';
}

/** The newer name wins where a caller sends both. */
function largestOutput(request: ChatRequest): number | null {
  return request.max_completion_tokens ?? request.max_tokens ?? null;
}

function encodeMessages(messages: readonly ChatMessage[], quirks: ChatQuirks, dropped: string[]): readonly unknown[] {
  let out: unknown[] | null = null;
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i] as ChatMessage;
    const encoded = encodeMessage(message, quirks, dropped);
    if (encoded !== message) {
      out ??= messages.slice(0, i);
    }
    out?.push(encoded);
  }
  return out ?? messages;
}

/** The message itself where nothing has to change, which is the usual case. */
function encodeMessage(message: ChatMessage, quirks: ChatQuirks, dropped: string[]): unknown {
  const asSystem = message.role === 'developer' && quirks.developerRole !== true;
  const moved = message.role === 'assistant' && movedMessageFields.some((field) => field in message);
  const parts = message.content;
  const cached = Array.isArray(parts) && parts.some((part) => 'cache_control' in part);
  if (!asSystem && !moved && !cached) return message;
  const encoded: Record<string, unknown> = { ...message };
  if (asSystem) encoded.role = 'system';
  if (moved) {
    for (const field of addedMessageFields) delete encoded[field];
    for (const field of moveReasoning(encoded, quirks.reasoningField ?? null)) {
      const path = `messages[].${field}`;
      if (!dropped.includes(path)) dropped.push(path);
    }
  }
  if (cached) encoded.content = parts.map(withoutCacheControl);
  return encoded;
}

function encodeTool(tool: ChatTool): unknown {
  return 'cache_control' in tool ? withoutCacheControl(tool) : tool;
}

function withoutCacheControl(value: object): object {
  const { cache_control: _, ...others } = value as { cache_control?: unknown };
  return others;
}
