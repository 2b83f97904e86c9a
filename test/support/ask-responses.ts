import type { CallAnswer, TestGateway } from './gateway.ts';
import { testKey } from './gateway.ts';
import { sse } from './upstream.ts';

/** An answer of any kind, read to its end. */
export interface ReadAnswer {
  status: number;
  headers: Headers;
  text: string;
}

const defaults = { model: 'acme/fast', input: 'Hello' };

/** Posts a Responses request with the key of the tests, and reads JSON. */
export function askResponses(
  { call }: TestGateway,
  body: object = {},
  headers: Record<string, string> = {},
  path = '/responses',
): Promise<CallAnswer> {
  return call('POST', path, { ...defaults, ...body }, { authorization: `Bearer ${testKey}`, ...headers });
}

/** As `askResponses`, without reading and without moving the clock. */
export function sendResponses(
  { gateway }: Pick<TestGateway, 'gateway'>,
  body: object = {},
  headers: Record<string, string> = {},
  signal?: AbortSignal,
  path = '/responses',
): Promise<Response> {
  const init = {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...defaults, ...body }),
  };
  return gateway.fetch(`http://gateway.test/v1${path}`, signal ? { ...init, signal } : init);
}

/** Asks for a stream, and reads it to its end. */
export async function streamResponses(
  test: TestGateway,
  body: object = {},
  headers: Record<string, string> = {},
): Promise<ReadAnswer> {
  const response = await test.run(sendResponses(test, { stream: true, ...body }, headers));
  return { status: response.status, headers: response.headers, text: await test.run(response.text()) };
}

export const nativeUsage = { input_tokens: 10, output_tokens: 2, total_tokens: 12 };

/** A response as a provider that speaks Responses writes one. */
export function nativeResponse(output: readonly object[], fields: object = {}): object {
  return {
    id: 'resp_upstream',
    object: 'response',
    created_at: 1_700_000_000,
    model: 'upstream-model',
    status: 'completed',
    output,
    usage: nativeUsage,
    ...fields,
  };
}

/** The message item of a text. */
export function nativeMessage(text: string, fields: object = {}): object {
  return {
    type: 'message',
    id: 'msg_upstream',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
    ...fields,
  };
}

/** The events of a message whose text comes in pieces, without the end of its response. */
export function nativeMessageEvents(index: number, texts: readonly string[], fields: object = {}): object[] {
  const place = { output_index: index, item_id: 'msg_upstream' };
  const whole = nativeMessage(texts.join(''), fields);
  const begun = { ...whole, status: 'in_progress', content: [] };
  return [
    { type: 'response.output_item.added', output_index: index, item: begun },
    { type: 'response.content_part.added', ...place, content_index: 0, part: { type: 'output_text', text: '' } },
    ...texts.map((delta) => ({ type: 'response.output_text.delta', ...place, content_index: 0, delta })),
    { type: 'response.output_text.done', ...place, content_index: 0, text: texts.join('') },
    { type: 'response.output_item.done', output_index: index, item: whole },
  ];
}

/** A stream as a provider that speaks Responses writes one, an event a frame. */
export function nativeStream(events: readonly object[], output: readonly object[], fields: object = {}): string[] {
  const created = { type: 'response.created', response: nativeResponse([], { status: 'in_progress', usage: null }) };
  const completed = { type: 'response.completed', response: nativeResponse(output, fields) };
  return [created, ...events, completed].map((event) => sse(event));
}

/** The provider `up` speaks Responses; models and prices are those of the test gateway. */
export const nativeUp = {
  providers: {
    up: {
      baseUrl: 'https://up.test/v1',
      apiKey: 'sk-upstream-up-0123456789',
      name: 'Up',
      dialect: 'openai-responses' as const,
    },
    alt: { baseUrl: 'https://alt.test/v1', apiKey: 'sk-upstream-alt-0123456789', name: 'Alt' },
  },
};
