import { LLMock } from '@copilotkit/aimock';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import type { GatewayOptions } from '../../src/options.ts';
import type { RequestRecord } from '../../src/telemetry/record.ts';
import { type Answer, chatRequest, joined, nextTurn, readStream, testKey } from '../support/gateway.ts';
import { manualClock } from '../support/manual-clock.ts';

/** A mock server written by others, over real HTTP: it writes chat completions as their authors know them. */
let mock: LLMock;
let gateway: Gateway;
let records: RequestRecord[];

beforeEach(async () => {
  mock = new LLMock({ port: 0 });
  await mock.start();
  open();
});
afterEach(async () => {
  await gateway.close();
  await mock.stop();
});

function open(options: Partial<GatewayOptions> = {}) {
  records = [];
  gateway = createGateway({
    providers: { mock: { baseUrl: `${mock.url}/v1`, apiKey: 'sk-mock-key', name: 'Mock' } },
    models: [
      {
        slug: 'acme/mock',
        endpoints: [{ provider: 'mock', model: 'gpt-4.1', pricing: { prompt: '0.000001', completion: '0.000002' } }],
      },
    ],
    apiKeys: [{ key: testKey }],
    retry: { baseDelayMs: 0 },
    onRecord: (record) => records.push(record),
    ...options,
  });
}

async function ask(content: string, fields: object = {}, signal?: AbortSignal): Promise<Answer> {
  const body = { model: 'acme/mock', messages: [{ role: 'user', content }], ...fields };
  return readStream(await gateway.fetch(chatRequest(body, {}, signal)));
}

describe('aimock as the upstream', () => {
  it('answers JSON', async () => {
    mock.onMessage('hello', {
      content: 'Hi there!',
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    });
    const { status, json } = await ask('hello');
    expect([status, json.choices[0]?.message.content, json.choices[0]?.finish_reason]).toEqual([
      200,
      'Hi there!',
      'stop',
    ]);
    expect(json).toMatchObject({
      model: 'acme/mock',
      provider: 'Mock',
      usage: { prompt_tokens: 7, completion_tokens: 3, cost: 0.000013 },
    });
    expect(mock.getLastRequest()?.body).toMatchObject({ model: 'gpt-4.1' });
  });
  it('streams, with usage at the end', async () => {
    const content = 'Grüße — "quoted"\n\\ and 日本語 👋 to all of you, in many chunks';
    mock.onMessage(
      'hello',
      { content, usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } },
      { chunkSize: 3 },
    );
    const { chunks } = await ask('hello', { stream: true });
    expect(chunks.length).toBeGreaterThan(10);
    expect(joined(chunks)).toMatchObject({ content, finish: 'stop' });
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 3, cost: 0.000013 });
    expect(records).toMatchObject([{ outcome: 'ok', isEstimated: false }]);
  });
  it.each([false, true])('calls tools (stream: %s), and takes their results', async (stream) => {
    const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];
    mock.onToolResult('call_w', { content: 'It is sunny' });
    mock.onMessage('weather?', { toolCalls: [{ id: 'call_w', name: 'weather', arguments: '{"city":"Bern"}' }] });
    const first = await ask('weather?', { tools, stream });
    const calls = stream
      ? joined(first.chunks).calls
      : first.json.choices[0]?.message.tool_calls?.map(({ id, function: called }) => ({
          id,
          name: called.name,
          arguments: called.arguments,
        }));
    expect(calls).toEqual([{ id: 'call_w', name: 'weather', arguments: '{"city":"Bern"}' }]);
    expect(stream ? joined(first.chunks).finish : first.json.choices[0]?.finish_reason).toBe('tool_calls');
    const messages = [
      { role: 'user', content: 'weather?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_w', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_w', content: 'sunny' },
    ];
    const second = await ask('', { messages, tools, stream });
    expect(stream ? joined(second.chunks).content : second.json.choices[0]?.message.content).toBe('It is sunny');
  });
  it.each([false, true])('thinks first (stream: %s)', async (stream) => {
    mock.onMessage('think', { content: 'Yes', reasoning: 'Let me see' });
    const { chunks, json } = await ask('think', { stream });
    expect(stream ? joined(chunks).reasoning : json.choices[0]?.message.reasoning).toBe('Let me see');
  });
  it.each([false, true])('is rate limited once, and asked again (stream: %s)', async (stream) => {
    mock.onMessage('hello', { content: 'Hi' });
    mock.nextRequestError(429, { message: 'Slow down', type: 'rate_limit_error' });
    const clock = manualClock();
    open({ clock });
    const pending = ask('hello', { stream });
    // It asks for a second, which only this clock may bring about.
    while (clock.nextMs !== clock.now() + 1000) await nextTurn();
    await clock.advance(1000);
    expect((await pending).status).toBe(200);
    expect(records[0]?.attempts.map((attempt) => attempt.status)).toEqual([429, 200]);
  });
  it('is rate limited for good: 429', async () => {
    mock.onMessage('hello', { error: { message: 'Slow down', type: 'rate_limit_error' }, status: 429 });
    open({ retry: { maxAttempts: 1 } });
    const { status, json } = await ask('hello');
    expect([status, json.error.message]).toEqual([429, 'Slow down']);
  });
  it('cuts its stream: an error in the stream, which never looks whole', async () => {
    mock.onMessage(
      'hello',
      { content: 'This is a long answer that will be cut somewhere' },
      { chunkSize: 4, latency: 5, truncateAfterChunks: 4 },
    );
    const { chunks } = await ask('hello', { stream: true });
    expect(joined(chunks).content).toMatch(/^This/);
    expect(chunks.at(-1)).toMatchObject({ error: { code: 502 }, choices: [{ finish_reason: 'error' }] });
    expect(records).toMatchObject([{ outcome: 'cut', status: 502 }]);
  });
  it('sends malformed JSON: 502', async () => {
    mock.onMessage('hello', { content: 'Hi' }, { chaos: { malformedRate: 1 } });
    expect((await ask('hello')).status).toBe(502);
    expect((await ask('hello', { stream: true })).status).toBe(502);
  });
  it('fails: 502; disconnects: 502', async () => {
    mock.onMessage('drop', { content: 'Hi' }, { chaos: { dropRate: 1 } });
    mock.onMessage('disconnect', { content: 'Hi' }, { chaos: { disconnectRate: 1 } });
    expect((await ask('drop')).status).toBe(502);
    expect((await ask('disconnect')).status).toBe(502);
  });
  it('is slow to its first token: a comment keeps the line open', async () => {
    mock.onMessage('hello', { content: 'Hi' }, { streamingProfile: { ttft: 150 } });
    open({ keepAlive: { firstMs: 20, everyMs: 40 } });
    const { comments, chunks } = await ask('hello', { stream: true });
    expect(comments.length).toBeGreaterThan(0);
    expect(joined(chunks).content).toBe('Hi');
  });
  it('is too slow to its first token: 524', async () => {
    mock.onMessage('hello', { content: 'Hi' }, { streamingProfile: { ttft: 20_000 } });
    open({ timeouts: { headersMs: 60, firstEventMs: 60 }, retry: { maxAttempts: 1 } });
    expect((await ask('hello', { stream: true })).status).toBe(524);
  });
  it("does not know the answer: its error is the caller's", async () => {
    const { status, json } = await ask('unheard of');
    expect([status, json.error.metadata?.provider_name]).toEqual([404, 'Mock']);
  });
});
