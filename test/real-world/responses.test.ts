import { describe, expect, it } from 'vitest';
import {
  askResponses,
  nativeMessage,
  nativeMessageEvents,
  nativeResponse,
  nativeStream,
  nativeUp,
  streamResponses,
} from '../support/ask-responses.ts';
import { hello, joined, testGateway } from '../support/gateway.ts';
import { chunk, sse } from '../support/upstream.ts';
import { chatStream, fragment, tool } from './upstreams.ts';

interface Event {
  type: string;
  output_index?: number;
  item?: { id: string; type: string; content?: unknown; summary?: unknown };
  response?: {
    status: string;
    output: { id: string; content?: { annotations?: unknown }[] }[];
    error?: { code?: string; message: string };
  };
  error?: { message: string };
}
const eventsOf = (text: string): Event[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Event);
const overload = {
  type: 'error',
  error: {
    type: 'service_unavailable_error',
    code: 'server_is_overloaded',
    message: 'Our servers are currently overloaded.',
  },
};
const failed = {
  type: 'response.failed',
  response: nativeResponse([], {
    status: 'failed',
    error: { code: 'server_is_overloaded', message: 'Our servers are currently overloaded.' },
    usage: null,
  }),
};
const frames = (...events: object[]) => events.map((event) => sse(event));
const created = { type: 'response.created', response: nativeResponse([], { status: 'in_progress', usage: null }) };
const read = { type: 'function', name: 'read', parameters: { type: 'object', properties: {} } };

describe('a client that speaks Responses', () => {
  it('learns of an error within a stream by response.failed', async () => {
    const test = testGateway(nativeUp);
    test.upstream.answer({ body: frames(created, ...nativeMessageEvents(0, ['Half']).slice(0, 3), overload) });
    const last = eventsOf((await streamResponses(test)).text).at(-1);
    expect([last?.type, last?.response?.status]).toEqual(['response.failed', 'failed']);
    expect(last?.response?.error?.message).toContain('overloaded');
  });
  it('gets the answer of the next endpoint where the first fails before its first token', async () => {
    const test = testGateway(nativeUp);
    test.upstream.answer(
      { body: frames(created, overload, failed) },
      { body: frames(created, overload, failed) },
      { body: chatStream(chunk({ content: 'From alt' }), chunk({}, 'stop')) },
    );
    const { text } = await streamResponses(test, { model: 'acme/pair' });
    expect(text).toContain('From alt');
    expect(eventsOf(text).at(-1)?.type).toBe('response.completed');
  });
  it('finds in response.completed the items of the stream, under their ids', async () => {
    const test = testGateway(nativeUp);
    const reasoning = { id: 'rs_1', type: 'reasoning', summary: [], status: 'completed' };
    const events = [
      { type: 'response.output_item.added', output_index: 0, item: { ...reasoning, status: 'in_progress' } },
      { type: 'response.output_item.done', output_index: 0, item: reasoning },
      ...nativeMessageEvents(1, ['Shipped']),
    ];
    test.upstream.answer({ body: nativeStream(events, [reasoning, nativeMessage('Shipped')]) });
    const all = eventsOf((await streamResponses(test)).text);
    const done = all.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item?.id);
    expect(all.at(-1)?.response?.output.map(({ id }) => id)).toEqual(done);
    expect(done).toHaveLength(2);
  });
  it('finds annotations in every text of response.completed', async () => {
    const test = testGateway();
    test.upstream.answer({ body: chatStream(chunk({ content: 'pong' }), chunk({}, 'stop')) });
    const last = eventsOf((await streamResponses(test)).text).at(-1);
    expect(last?.response?.output[0]?.content?.[0]?.annotations).toEqual([]);
  });
  it('gets an output_index of its own for each item, also where calls come before the text', async () => {
    const test = testGateway();
    const begun = fragment({ id: 'call_1', type: 'function', function: { name: 'read', arguments: '{}' } });
    test.upstream.answer({ body: chatStream(begun, chunk({ content: 'Done' }), chunk({}, 'tool_calls')) });
    const added = eventsOf((await streamResponses(test, { tools: [read] })).text).filter(
      ({ type }) => type === 'response.output_item.added',
    );
    expect(added.map(({ output_index }) => output_index).sort()).toEqual([0, 1]);
  });
  it('gets the lists of an item that a provider left out', async () => {
    const test = testGateway(nativeUp);
    const [, ...rest] = nativeMessageEvents(1, ['Hi']);
    const events = [
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { id: 'rs_1', type: 'reasoning', status: 'in_progress' },
      },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { id: 'rs_1', type: 'reasoning', status: 'completed' },
      },
      {
        type: 'response.output_item.added',
        output_index: 1,
        item: { id: 'msg_upstream', type: 'message', role: 'assistant', status: 'in_progress' },
      },
      ...rest,
    ];
    test.upstream.answer({ body: nativeStream(events, [nativeMessage('Hi')]) });
    const added = eventsOf((await streamResponses(test)).text).filter(
      ({ type }) => type === 'response.output_item.added',
    );
    expect(added.map(({ item }) => item?.summary ?? item?.content)).toEqual([[], []]);
  });
  it('may send back items of tools that it does not have here', async () => {
    const test = testGateway();
    test.upstream.answer({
      body: {
        ...JSON.parse('{}'),
        id: 'x',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      },
    });
    const input = [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
      {
        type: 'local_shell_call',
        id: 'ls_1',
        call_id: 'c1',
        status: 'completed',
        action: { type: 'exec', command: ['ls'], env: {} },
      },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
    ];
    expect((await askResponses(test, { input })).status).toBe(200);
  });
});

describe('a provider that speaks Responses', () => {
  it('fails within 200: a chat client gets an error, not an empty answer', async () => {
    const test = testGateway(nativeUp);
    test.upstream.always({ body: frames(created, failed) });
    const answer = await test.post({ model: 'acme/fast', messages: hello, stream: true });
    expect(answer.status).toBeGreaterThanOrEqual(500);
    const json = testGateway(nativeUp);
    json.upstream.always({ body: failed.response });
    expect((await json.post({ model: 'acme/fast', messages: hello })).status).toBeGreaterThanOrEqual(500);
  });
  it('fails in the middle: a chat client sees an error at the end', async () => {
    const test = testGateway(nativeUp);
    test.upstream.answer({ body: frames(created, ...nativeMessageEvents(0, ['Half']).slice(0, 3), failed) });
    const { chunks } = await test.post({ model: 'acme/fast', messages: hello, stream: true });
    expect(joined(chunks).content).toBe('Half');
    expect(JSON.stringify(chunks.at(-1))).toContain('error');
  });
  it('gets no temperature for GPT-5', async () => {
    const test = testGateway({
      ...nativeUp,
      models: [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'gpt-5' }] }],
    });
    test.upstream.answer({ body: nativeResponse([nativeMessage('Hi')]) });
    await test.post({ model: 'acme/fast', messages: hello, temperature: 1e-8, tools: [tool('read')] });
    expect(test.upstream.sent[0]?.body).not.toHaveProperty('temperature');
  });
});
