import { describe, expect, it } from 'vitest';
import { createGateway } from '../../src/index.ts';
import { anthropic } from '../../src/providers/anthropic.ts';
import { payloadsOf } from '../support/recordings.ts';
import { replayGateway } from '../support/replay.ts';

const encoder = new TextEncoder();
const key = 'sk-ant-test-0123456789';
const replayed = () =>
  replayGateway({
    provider: { ...anthropic, slug: 'replay', apiKey: key },
    pricing: { prompt: '0.000003', completion: '0.000015', inputCacheRead: '0.0000003', inputCacheWrite: '0.00000375' },
  });

const usage = { input_tokens: 10, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 50 };
const message = (content: object[], stopReason = 'end_turn') => ({
  type: 'message',
  role: 'assistant',
  content,
  stop_reason: stopReason,
  usage,
});
const whole = (body: object) => ({ pieces: [encoder.encode(JSON.stringify(body))] });
const stream = (...events: { type: string }[]) => ({
  headers: { 'content-type': 'text/event-stream' },
  pieces: events.map((event) => encoder.encode(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)),
});
const start = { type: 'message_start', message: { role: 'assistant', content: [], usage } };
const words = (text: string) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text },
});
const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 50 } };
const done = { type: 'message_stop' };
const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };

describe('a request to Anthropic', () => {
  it('has the key and the version in headers of their own', async () => {
    const replay = replayed();
    const { status } = await replay.send(whole(message([{ type: 'text', text: 'Hi' }])), {});
    expect(status).toBe(200);
    const { url, headers } = replay.lastHead();
    expect(url).toBe('https://api.anthropic.com/v1/messages');
    expect(headers).toMatchObject({ 'x-api-key': key, 'anthropic-version': '2023-06-01' });
    expect(headers).not.toHaveProperty('authorization');
  });

  it('costs what its parts cost, whether they were cached or not', async () => {
    const expected = (10 * 3 + 100 * 0.3 + 20 * 3.75 + 50 * 15) / 1e6;
    const replay = replayed();
    const { text } = await replay.send(whole(message([{ type: 'text', text: 'Hi' }])), {});
    expect(JSON.parse(text).usage).toMatchObject({
      prompt_tokens: 130,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 20 },
    });
    expect(JSON.parse(text).usage.cost).toBeCloseTo(expected, 12);
    const streamed = await replay.send(stream(start, words('Hi'), end, done), { stream: true });
    const [counted] = payloadsOf(streamed.text).filter((payload) => payload.includes('"usage":'));
    expect(JSON.parse(counted as string).usage.cost).toBeCloseTo(expected, 12);
  });

  it('gets output of a schema back as content, where it was asked for by a tool', async () => {
    const request = {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'a', schema: { type: 'object', properties: { a: { type: 'integer' } } } },
      },
    };
    const replay = replayed();
    const call = { type: 'tool_use', id: 'toolu_1', name: 'structured_output', input: { a: 1 } };
    const { text } = await replay.send(whole(message([call], 'tool_use')), request);
    expect(JSON.parse(text).choices[0]).toMatchObject({ message: { content: '{"a":1}' }, finish_reason: 'stop' });
    // What the replayed model is called says nothing of it: it gets the plainest form.
    expect(replay.lastSent().tool_choice).toMatchObject({ type: 'tool', name: 'structured_output' });
    const begin = { type: 'content_block_start', index: 0, content_block: { ...call, input: {} } };
    const input = (json: string) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: json },
    });
    const stop = { type: 'content_block_stop', index: 0 };
    const finish = { ...end, delta: { stop_reason: 'tool_use' } };
    const events = stream(start, begin, input('{"a"'), input(':1}'), stop, finish, done);
    const streamed = await replay.send(events, { ...request, stream: true });
    const chunks = payloadsOf(streamed.text)
      .filter((payload) => payload !== '[DONE]')
      .map((one) => JSON.parse(one));
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('{"a":1}');
    expect(chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(['stop']);
  });

  it('that is refused for what it holds is the status 400, and names the place', async () => {
    const replay = replayed();
    const audio = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } };
    const { status, text } = await replay.send(whole({}), { messages: [{ role: 'user', content: [audio] }] });
    expect([status, JSON.parse(text).error.message]).toEqual([400, expect.stringContaining('messages[0].content[0]')]);
  });
});

describe('a stream of Anthropic', () => {
  it('that is overloaded before its first token is an error with a status', async () => {
    const { status, text } = await replayed().send(stream(start, overloaded), { stream: true });
    expect([status, JSON.parse(text).error.metadata.provider_code]).toEqual([529, 'overloaded_error']);
  });

  it('that is overloaded later says so in the stream, and does not look complete', async () => {
    const { status, text } = await replayed().send(stream(start, words('Hi'), overloaded), { stream: true });
    expect(status).toBe(200);
    const last = JSON.parse(
      payloadsOf(text)
        .filter((payload) => payload !== '[DONE]')
        .at(-1) as string,
    );
    expect(last).toMatchObject({ error: { code: 529 }, choices: [{ finish_reason: 'error' }] });
  });

  it('that is cut says so, and is complete once the provider has named its end', async () => {
    const cut = await replayed().send(stream(start, words('Hi')), { stream: true });
    expect(cut.text).toContain('"finish_reason":"error"');
    const ended = await replayed().send(stream(start, words('Hi'), end), { stream: true });
    expect(ended.text).toContain('"finish_reason":"stop"');
    expect(ended.text).not.toContain('"error"');
  });
});

it('Claude on another host is set up by quirks, which are checked', () => {
  const vertex = (quirks: object) => () =>
    createGateway({
      providers: {
        vertex: {
          baseUrl: 'https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/anthropic/models',
          dialect: 'anthropic-messages',
          apiKey: 'token',
          quirks,
        },
      },
      models: [],
      apiKeys: [{ key: 'caller-key-0123456789' }],
    });
  expect(vertex({ host: 'vertex' })).not.toThrow();
  expect(vertex({ host: 'elsewhere' })).toThrow(/quirks/);
  expect(vertex({ developerRole: true })).toThrow(/quirks/);
});
