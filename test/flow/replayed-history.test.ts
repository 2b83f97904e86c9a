import { describe, expect, it } from 'vitest';
import { hello, testGateway, testKey } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

/** A turn as the official libraries dump it: every field that they know, with null where nothing is. */
const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
const unset = { refusal: null, annotations: null, audio: null, function_call: null, tool_calls: null };
const result = { role: 'tool', tool_call_id: 'call_1', content: 'seen', name: null };

const turns: [name: string, turn: object[], sent: object[]][] = [
  [
    'a text',
    [{ content: 'Hi', role: 'assistant', ...unset, parsed: null, name: null }],
    [{ content: 'Hi', role: 'assistant' }],
  ],
  [
    'a text of this gateway',
    [
      {
        role: 'assistant',
        content: 'Hi',
        ...unset,
        reasoning: null,
        reasoning_content: null,
        reasoning_details: null,
        images: null,
      },
    ],
    [{ role: 'assistant', content: 'Hi' }],
  ],
  [
    'calls gathered from a stream',
    [{ role: 'assistant', ...unset, content: null, tool_calls: [{ index: 0, ...call }] }, result],
    [
      { role: 'assistant', content: null, tool_calls: [expect.objectContaining(call)] },
      { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
    ],
  ],
  [
    'thoughts and images',
    [
      {
        role: 'assistant',
        content: 'Hi',
        ...unset,
        reasoning: 'hm',
        reasoning_content: 'hm',
        reasoning_details: [
          { type: 'reasoning.text', text: 'hm', signature: null, id: null, index: null, format: null },
        ],
        images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: null }, index: 0 }],
        annotations: [],
      },
    ],
    [{ role: 'assistant', content: 'Hi' }],
  ],
  [
    'sound',
    [
      {
        role: 'assistant',
        ...unset,
        content: null,
        audio: { id: 'audio_1', data: null, expires_at: null, transcript: null },
      },
    ],
    [{ role: 'assistant', content: null, audio: { id: 'audio_1' } }],
  ],
];

describe('an assistant message', () => {
  it.each(turns)('is taken as the history of the next turn: %s', async (_, turn, sent) => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: completion() });
    const { status, json } = await post({ model: 'acme/fast', messages: [...hello, ...turn, ...hello] });
    expect([status, json.error]).toEqual([200, undefined]);
    expect(upstream.sent[0]?.body.messages).toEqual([...hello, ...sent, ...hello]);
  });
});

const item = {
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    status: null,
    phase: null,
    content: [{ type: 'output_text', text: '{"a":1}', annotations: [], logprobs: null, parsed: { a: 1 } }],
  },
  call: {
    id: 'fc_1',
    type: 'function_call',
    call_id: 'call_1',
    name: 'look',
    arguments: '{}',
    parsed_arguments: {},
    status: null,
    namespace: null,
  },
  output: { type: 'function_call_output', call_id: 'call_1', output: 'seen', id: null, status: null },
  thought: { id: 'rs_1', type: 'reasoning', summary: [], content: null, encrypted_content: 'x', status: null },
  easy: { type: null, role: 'user', content: 'And now?', phase: null },
};

describe('an output item', () => {
  const caller = { authorization: `Bearer ${testKey}` };
  const input = [item.thought, item.message, item.thought, item.call, item.output, item.easy];
  const gatewayTo = (dialect: 'openai-chat' | 'openai-responses') =>
    testGateway({
      providers: { up: { baseUrl: 'https://up.test/v1', name: 'Up', dialect } },
      models: [{ slug: 'acme/m', endpoints: [{ provider: 'up', model: 'm' }] }],
    });

  it('is taken as input, and reaches a provider of Responses without what only a client library wrote', async () => {
    const { call, upstream } = gatewayTo('openai-responses');
    upstream.answer({
      body: JSON.stringify({
        status: 'completed',
        output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }],
        usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
      }),
    });
    const { status, json } = await call('POST', '/responses', { model: 'acme/m', input }, caller);
    expect([status, json.error ?? null]).toEqual([200, null]);
    const sent = upstream.sent[0]?.body.input as object[];
    expect(sent).toHaveLength(input.length);
    expect(JSON.stringify(sent)).not.toMatch(/parsed|(status|phase|logprobs|namespace|id|type)":null/);
    expect(sent[1]).toMatchObject({
      id: 'msg_1',
      content: [{ type: 'output_text', text: '{"a":1}', annotations: [] }],
    });
    expect(sent[3]).toEqual({ id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' });
    expect(sent[5]).toEqual({ role: 'user', content: 'And now?' });
  });

  it('is taken as input for a provider of chat completions', async () => {
    const { call, upstream } = gatewayTo('openai-chat');
    upstream.answer({ body: completion() });
    const { status, json } = await call('POST', '/responses', { model: 'acme/m', input }, caller);
    expect([status, json.error ?? null]).toEqual([200, null]);
    expect(upstream.sent[0]?.body.messages).toMatchObject([
      // A server of which nothing is known gets a user first.
      { role: 'user' },
      { role: 'assistant', content: '{"a":1}', tool_calls: [{ id: 'call_1' }] },
      { role: 'tool', content: 'seen' },
      { role: 'user', content: 'And now?' },
    ]);
  });
});
