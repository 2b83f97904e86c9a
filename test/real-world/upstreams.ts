import type { GatewayOptions } from '../../src/options.ts';
import { eventFrame } from '../support/converse-wire.ts';
import { type Answer, hello, joined, type TestGateway, testGateway } from '../support/gateway.ts';
import { chunk, completion, sse } from '../support/upstream.ts';

type Json = Record<string, unknown>;
type Dialect =
  | 'openai-chat'
  | 'openai-responses'
  | 'anthropic-messages'
  | 'google-generate-content'
  | 'bedrock-converse';

/** A tool of one text, and one without arguments. */
export const tool = (name: string): Json => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { path: { type: 'string' } } } },
});

/** An assistant's call in the history. */
export const call = (id: string, args = '{"path":"a"}', name = 'read') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

/** The model `acme/it`, served by one provider in a dialect. */
export function served(
  dialect: Dialect,
  model = 'it',
  options: { provider?: string; quirks?: object } = {},
): TestGateway {
  const { provider = 'up', quirks } = options;
  const settings =
    provider === 'up'
      ? { baseUrl: 'https://up.test/v1', apiKey: 'sk-upstream-up-0123456789', dialect, ...(quirks ? { quirks } : {}) }
      : { apiKey: 'sk-upstream-up-0123456789' };
  return testGateway({
    providers: { [provider]: settings } as GatewayOptions['providers'] & object,
    models: [
      { slug: 'acme/it', endpoints: [{ provider, model, pricing: { prompt: '0.000001', completion: '0.000002' } }] },
    ],
  });
}

/** Asks in the wire format of chat completions. */
export function asked(gateway: TestGateway, request: Json = {}): Promise<Answer> {
  return gateway.post({ model: 'acme/it', messages: hello, ...request }, { 'x-service-metadata': 'enabled' });
}

/** What the provider was sent for a chat request. */
export async function sentFor(gateway: TestGateway, request: Json, body: object = completion()): Promise<Json> {
  gateway.upstream.answer({ body });
  await asked(gateway, request);
  return gateway.upstream.sent[0]?.body as Json;
}

/** What a client reads from a stream of a provider. */
export async function streamed(
  gateway: TestGateway,
  pieces: readonly (string | Uint8Array)[],
  request: Json = {},
  headers: Record<string, string> = {},
) {
  gateway.upstream.answer({ body: pieces as string[], headers });
  const answer = await asked(gateway, { stream: true, ...request });
  return { ...answer, ...joined(answer.chunks), deltas: answer.chunks.flatMap(({ choices }) => choices) };
}

/** A stream of chat chunks, with its end. */
export const chatStream = (...events: readonly (object | string)[]): string[] =>
  [...events, '[DONE]'].map((one) => sse(one));

/** A fragment of a tool call, as a chat chunk. */
export const fragment = (fields: Json): object => chunk({ tool_calls: [{ index: 0, ...fields }] });

/** Events of Anthropic. */
export const anthropicStream = (...events: readonly Json[]): string[] =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

export const messageStart = (usage: Json = { input_tokens: 10, output_tokens: 1 }): Json => ({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], stop_reason: null, usage },
});
export const messageEnd = (stop_reason: string, usage: Json = { output_tokens: 5 }): Json[] => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
  { type: 'message_stop' },
];

/** A response of Anthropic. */
export const message = (content: readonly Json[] = [{ type: 'text', text: 'Hi' }], stop_reason = 'end_turn'): Json => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content,
  stop_reason,
  usage: { input_tokens: 10, output_tokens: 5 },
});

/** A response of Google. */
export const candidate = (parts: readonly Json[], finishReason: string | null = 'STOP'): Json => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason === null ? {} : { finishReason }) }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
});
export const googleStream = (...events: readonly Json[]): string[] => events.map((event) => sse(event));

/** A response of Bedrock. */
export const converse = (content: readonly Json[] = [{ text: 'Hi' }], stopReason = 'end_turn'): Json => ({
  output: { message: { role: 'assistant', content } },
  stopReason,
  usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
});
export const converseStream = (...events: readonly [string, Json][]): Uint8Array[] =>
  events.map(([type, payload]) => eventFrame(type, payload));
export const converseHeaders = { 'content-type': 'application/vnd.amazon.eventstream' };
