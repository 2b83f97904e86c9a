import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { resolveOptions } from '../../../src/options.ts';
import type { OperationRecord } from '../../../src/telemetry/record.ts';
import { type Answer, hello, testGateway, upstreamKeys } from '../../support/gateway.ts';
import { chunk, completion, errorBody, sse, usageChunk } from '../../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello };
const streamed = { ...ask, stream: true };
const start = sse(chunk({ role: 'assistant', content: '' }));
const some = sse(chunk({ content: 'Hi' }));
const stop = sse(chunk({}, 'stop'));

/** How a stream ended. */
const endOf = ({ chunks }: Answer) => chunks.at(-1)?.error?.code ?? 'whole';

/** What a request is sent on as. */
async function sentFor(fields: object): Promise<Record<string, unknown>> {
  const { post, upstream } = testGateway();
  upstream.always({ body: completion() });
  expect((await post({ ...ask, ...fields })).status).toBe(200);
  return upstream.sent[0]?.body as Record<string, unknown>;
}

async function statusOf(fields: object, headers?: Record<string, string>): Promise<number> {
  const { post, upstream } = testGateway();
  upstream.always({ body: completion() });
  return (await post({ ...ask, ...fields }, headers)).status;
}

describe('what is decided of requests and responses', () => {
  it('What counts as the first event', async () => {
    for (const first of [
      { content: 'Hi' },
      { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '' } }] },
    ]) {
      const { post, upstream } = testGateway();
      upstream.answer({ body: [start, sse(chunk(first)), { breaks: true }] });
      expect(endOf(await post(streamed))).toBe(502);
      expect(upstream.sent).toHaveLength(1);
    }
    const { post, upstream } = testGateway();
    upstream.answer({ body: [start, start, { breaks: true }] }, { body: [start, stop, sse('[DONE]')] });
    expect(endOf(await post(streamed))).toBe('whole');
    expect(upstream.sent).toHaveLength(2);
  });
  it('May the stream be opened before the first token', async () => {
    for (const [waitMs, status] of [
      [9_900, 400],
      [10_100, 200],
    ] as const) {
      const { post, upstream } = testGateway();
      upstream.answer({ afterMs: waitMs, status: 400, body: errorBody('No') });
      const got = await post(streamed);
      expect([got.status, got.comments.length > 0, got.chunks.at(-1)?.error?.code]).toEqual(
        status === 400 ? [400, false, undefined] : [200, true, 400],
      );
    }
  });
  it('Does `[DONE]` follow an error chunk', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: [start, some, { breaks: true }] });
    expect((await post(streamed)).text).toMatch(/"finish_reason":"error".*\n\ndata: \[DONE\]\n\n$/);
  });
  it('Is a stream whole that says `[DONE]`', async () => {
    for (const finishesWithoutReason of [false, true]) {
      const providers = { up: { baseUrl: 'https://up.test/v1', quirks: { finishesWithoutReason } } };
      const { post, upstream } = testGateway({ providers, models: [] });
      upstream.answer({ body: [start, some, sse('[DONE]')] });
      expect(endOf(await post({ ...streamed, model: 'up/x' }))).toBe(finishesWithoutReason ? 'whole' : 502);
    }
  });
  it('And one that breaks after every choice', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: [start, some, stop, { breaks: true }] });
    const got = await post(streamed);
    expect([endOf(got), got.chunks.at(-1)?.usage?.estimated]).toEqual(['whole', true]);
  });
  it('How long do we wait for usage', async () => {
    const { post, upstream, clock } = testGateway();
    const from = clock.now();
    upstream.answer({ body: [start, some, stop, { hangs: true }] });
    expect(endOf(await post(streamed))).toBe('whole');
    expect(clock.now() - from).toBe(5_000);
  });
  it('How much a request may name', async () => {
    const { limits } = resolveOptions({ apiKeys: [{ key: 'sk-test-inference' }] });
    expect(limits).toMatchObject({ models: 20, slugChars: 256, listItems: 1000, jsonValues: 50_000 });
    const many = (count: number) => Array.from({ length: count }, (_, at) => `acme/m${at}`);
    expect(await statusOf({ models: many(21) })).toBe(400);
    expect(await statusOf({ model: 'x'.repeat(257) })).toBe(400);
    expect(await statusOf({ provider: { only: many(1001) } })).toBe(400);
    expect(await statusOf({ more: Array.from({ length: 100_000 }, () => 0) })).toBe(413);
  });
  it('Upstream 404', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ status: 404, body: errorBody('No') }, { body: completion() });
    const got = await post({ ...ask, models: ['acme/other'] });
    expect([got.status, got.json.model]).toEqual([200, 'acme/other']);
    upstream.answer({ status: 404, body: errorBody('No') }, { body: completion() });
    expect((await post({ ...ask, model: 'acme/pair' })).status).toBe(200);
    upstream.answer({ status: 404, body: errorBody('No') });
    expect((await post(ask)).status).toBe(404);
  });
  it('Upstream 503', async () => {
    for (const status of [503, 529]) {
      const { post, upstream } = testGateway();
      upstream.always({ status });
      expect((await post(ask)).status).toBe(529);
    }
  });
  it('Error body with status 200', async () => {
    for (const [code, expected] of [
      [429, 429],
      ['no', 502],
    ]) {
      const { post, upstream } = testGateway();
      upstream.always({ body: { error: { message: 'No', code } } });
      const { status, json } = await post(ask);
      expect([status, json.error.metadata?.provider_code]).toEqual([expected, String(code)]);
    }
  });
  it('A choice without a message', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: { choices: [{ index: 0, finish_reason: 'content_filter' }] } });
    const { status, json } = await post(ask);
    const [choice] = json.choices;
    expect([status, choice?.finish_reason, choice?.message.content]).toEqual([200, 'content_filter', null]);
  });
  it('Tool calls without an id', async () => {
    const { post, upstream } = testGateway();
    const call = { index: 0, function: { name: 'f', arguments: '{}' } };
    upstream.answer({ body: [sse(chunk({ tool_calls: [call] }, 'tool_calls'), '[DONE]')] });
    expect((await post(streamed)).text).toContain('"id":"call_0","type":"function"');
  });
  it('Earlier reasoning in assistant messages', async () => {
    for (const field of ['reasoning_content', 'reasoning', 'reasoning_details']) {
      const value = field === 'reasoning_details' ? [{ type: 'reasoning.text', text: 'Hm' }] : 'Hm';
      const messages = [...hello, { role: 'assistant', content: 'Hi', [field]: value }, ...hello];
      expect(((await sentFor({ messages })).messages as object[])[1]).toEqual({ role: 'assistant', content: 'Hi' });
      const up = { baseUrl: 'https://up.test/v1', quirks: { reasoningField: 'reasoning_content' as const } };
      const { post, upstream } = testGateway({ providers: { up, alt: up } });
      upstream.always({ body: completion() });
      await post({ ...ask, messages });
      const sent = upstream.sent[0]?.body.messages as object[] | undefined;
      expect(sent?.[1]).toMatchObject({ reasoning_content: 'Hm' });
    }
  });
  it('How long may a provider', async () => {
    const seconds: number[] = [];
    for (const [stream, upstreamAnswer] of [
      [true, { instead: 'hang' }],
      [false, { instead: 'hang' }],
      [true, { body: [start, { hangs: true }] }],
    ] as const) {
      const { post, upstream, clock } = testGateway({ retry: { maxAttempts: 1 }, keepAlive: { firstMs: 1_000_000 } });
      const from = clock.now();
      upstream.answer(upstreamAnswer);
      expect((await post({ ...ask, stream })).status).toBe(524);
      seconds.push((clock.now() - from) / 1000);
    }
    expect(seconds).toEqual([60, 300, 300]);
  });
  it('finish_reason `stop` from a model that called tools', async () => {
    const { post, upstream } = testGateway();
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    upstream.answer({ body: completion({}, { content: null, tool_calls: [call] }) });
    expect((await post(ask)).json.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      native_finish_reason: 'stop',
    });
  });
  it('Unknown finish_reason', async () => {
    const { post, upstream } = testGateway({ retry: { maxAttempts: 1 } });
    upstream.answer({ body: completion({}, {}, { finish_reason: 'done_for_today' }) });
    expect((await post(ask)).json.choices[0]?.finish_reason).toBe('stop');
    for (const word of ['abort', 'network_error']) {
      upstream.answer({ body: completion({}, {}, { finish_reason: word }) });
      expect([word, (await post(ask)).status]).toEqual([word, 502]);
    }
  });
  it('`created`', async () => {
    const { post, upstream, clock } = testGateway();
    const created = Math.floor(clock.now() / 1000);
    upstream.answer({ body: [start, some, { waitMs: 5_000 }, stop, sse(usageChunk(), '[DONE]')] });
    expect(new Set((await post(streamed)).chunks.map((one) => one.created))).toEqual(new Set([created]));
  });
  it("Caller's own deadline", async () => {
    for (const name of ['X-Service-Timeout-Ms', 'X-Acme-Timeout-Ms']) {
      const { post, upstream, clock } = testGateway({ brand: 'acme' });
      upstream.always({ instead: 'hang' });
      const from = clock.now();
      expect((await post(ask, { [name]: '700' })).status).toBe(408);
      expect(clock.now() - from).toBe(700);
    }
    const { post, upstream, clock } = testGateway({ timeouts: { totalMs: 300 } });
    upstream.always({ instead: 'hang' });
    const from = clock.now();
    await post(ask, { 'x-service-timeout-ms': '700' });
    expect(clock.now() - from).toBe(300);
    expect((await post(ask, { 'x-service-timeout-ms': '1e3' })).status).toBe(400);
  });
  it('Which requests that are refused', async () => {
    const refused: OperationRecord[] = [];
    const { post } = testGateway({ onOperation: (record) => refused.push(record), limits: { bodyBytes: 1000 } });
    const noKey = { authorization: 'Bearer wrong' };
    for (const [status, body, headers] of [
      [400, '{', {}],
      [401, ask, noKey],
      [413, { ...ask, user: 'x'.repeat(1000) }, {}],
      [422, { ...ask, reasoning_effort: 'low', reasoning: { effort: 'high' } }, {}],
    ] as const) {
      const got = await post(body, headers);
      const id = got.headers.get('x-generation-id');
      expect([got.status, id]).toEqual([status, expect.stringMatching(/^gen-/)]);
      expect(refused.at(-1)).toMatchObject({ kind: 'refusal', status, id });
    }
    expect(new Set(refused.map(({ id }) => id)).size).toBe(4);
  });
  it('The metadata headers', async () => {
    const { post, upstream } = testGateway({ brand: 'acme' });
    upstream.always({ body: completion() });
    const [brand, service, legacy] = [
      'x-acme-metadata',
      'x-service-metadata',
      'x-service-experimental-metadata',
    ] as const;
    const isShown = async (headers: Record<string, string>) => 'acme_metadata' in (await post(ask, headers)).json;
    expect(await isShown({ [service]: 'disabled', [legacy]: 'enabled' })).toBe(false);
    expect(await isShown({ [service]: 'enabled', [legacy]: 'disabled' })).toBe(true);
    expect(await isShown({ [brand]: 'disabled', [service]: 'enabled' })).toBe(false);
    expect(await isShown({ [service]: '', [legacy]: 'enabled' })).toBe(true);
  });
  it('A forced tool and the `tools`', async () => {
    const { post, upstream } = testGateway();
    const named = (name: string) => ({ type: 'function', function: { name } });
    const statusOf = async (tool_choice: unknown, tools?: object[]) =>
      (await post({ ...ask, tool_choice, ...(tools && { tools }) })).status;
    expect(await statusOf('required')).toBe(400);
    expect(await statusOf(named('g'), [named('f')])).toBe(422);
    expect(await statusOf({ type: 'service:web_search' }, [named('f')])).toBe(422);
    expect(
      await statusOf({ type: 'allowed_tools', allowed_tools: { tools: [named('f'), named('g')] } }, [named('f')]),
    ).toBe(422);
    // Of a tool that is there, the gateway says that it cannot run it.
    for (const type of ['service:web_search', 'acme:web_search', 'web_search', 'web_search_preview'])
      expect([type, await statusOf({ type }, [{ type: 'web_search' }])]).toEqual([type, 400]);
    expect(upstream.sent).toEqual([]);
  });
  it('Fields that are not forwarded', async () => {
    const values: Record<string, unknown> = {
      models: ['acme/other'],
      provider: {},
      plugins: [],
      route: 'fallback',
      debug: {},
      trace: {},
      session_id: 's',
      stop_server_tools_when: [{ type: 'has_tool_call', tool_name: 'f' }],
      cache_control: { type: 'ephemeral' },
      usage: { include: true },
      transforms: [],
      include_reasoning: true,
    };
    const sent = await sentFor({ ...values, reasoning: { effort: 'low' }, unknown_field: 1 });
    expect(sent).toEqual({ model: 'up-fast', messages: hello, reasoning_effort: 'low', unknown_field: 1 });
  });
  it('Largest output', async () => {
    expect(await sentFor({ max_completion_tokens: 5 })).toMatchObject({ max_tokens: 5 });
    const sent = await sentFor({ max_completion_tokens: 5, max_tokens: 9 });
    expect([sent.max_tokens, sent.max_completion_tokens]).toEqual([5, undefined]);
  });
  it('Endpoint of unknown price', async () => {
    for (const provider of [{ max_price: { prompt: 1_000 } }, { zdr: true }, { data_collection: 'deny' }]) {
      expect(await statusOf({ model: 'acme/free', provider })).toBe(404);
    }
    expect(await statusOf({ model: 'acme/fast', provider: { max_price: { prompt: 1_000 } } })).toBe(200);
  });
  it('Usage missing or implausible', async () => {
    for (const usage of [
      undefined,
      { prompt_tokens: -1, completion_tokens: 2 },
      { prompt_tokens: 1e12, completion_tokens: 1 },
    ]) {
      const { post, upstream } = testGateway();
      upstream.answer({ body: completion({ usage }) });
      expect((await post(ask)).json.usage).toMatchObject({ estimated: true, prompt_tokens: expect.any(Number) });
    }
  });
  it('Amounts', async () => {
    const pricing = { prompt: '0.000000000001', completion: 0 };
    const models = [{ slug: 'acme/cheap', endpoints: [{ provider: 'up', model: 'x', pricing }] }];
    const { post, upstream, records } = testGateway({ models });
    upstream.always({
      body: completion({ usage: { prompt_tokens: 1_001, completion_tokens: 0, total_tokens: 1_001 } }),
    });
    await post({ ...ask, model: 'acme/cheap' });
    expect(records[0]?.costNanoUsd).toBe(2);
  });
  it("Operator's key refused", async () => {
    for (const status of [401, 402, 403]) {
      const { post, upstream } = testGateway();
      upstream.always({ status, body: errorBody(`The key ${upstreamKeys.up} of your account`) });
      const got = await post(ask);
      expect([got.status, upstream.sent.length]).toEqual([502, 1]);
      expect(got.text).not.toMatch(/account|sk-upstream/);
      expect((await post(ask)).headers.get('retry-after')).toBe('60');
    }
  });
  it('The operator has no money or quota left, said with another status', async () => {
    const { post, upstream } = testGateway();
    const error = { message: 'You exceeded your current quota of org-4711', code: 'insufficient_quota' };
    upstream.always({ status: 429, body: { error } });
    const got = await post(ask);
    expect([got.status, upstream.sent.length]).toEqual([502, 1]);
    expect(got.text).not.toMatch(/org-4711|quota/);
    expect((await post(ask)).headers.get('retry-after')).toBe('60');
    expect(upstream.sent).toHaveLength(1);
  });
  it('Upstream response headers', async () => {
    const { post, upstream } = testGateway();
    upstream.always({
      body: completion(),
      headers: { 'set-cookie': 'a=b', 'x-ratelimit-limit': '5', 'x-request-id': 'r' },
    });
    const names = [...(await post(ask)).headers.keys()];
    expect(names.sort()).toEqual(['cache-control', 'content-type', 'x-generation-id']);
  });
  it('Counts of tokens', async () => {
    for (const name of ['max_tokens', 'max_completion_tokens']) {
      expect([await statusOf({ [name]: 0 }), await statusOf({ [name]: 1 })]).toEqual([400, 200]);
    }
  });
  it('`service_tier: "fast"`', async () => {
    expect(await statusOf({ service_tier: 'fast' })).toBe(400);
  });
  it('`route`', async () => {
    for (const route of ['fallback', 'sort', null, { any: 1 }]) expect(await statusOf({ route })).toBe(200);
    expect(await statusOf({ route: 'other' })).toBe(400);
  });
  it('Keys in the store', async () => {
    const store = new Keyv();
    const { gateway, clock, post, upstream } = testGateway({ store });
    upstream.always({ body: completion() });
    const { key, record } = await gateway.apiKeys.create();
    const headers = { authorization: `Bearer ${key}` };
    const other = testGateway({ store });
    expect((await post(ask, headers)).status).toBe(200);
    await other.gateway.apiKeys.delete(record.hash);
    const believedMs = 5_000;
    await clock.advance(believedMs - 1);
    expect((await post(ask, headers)).status).toBe(200);
    await clock.advance(2);
    expect((await post(ask, headers)).status).toBe(401);
    const silent = new Keyv();
    Object.assign(silent.store, { get: () => new Promise(() => undefined) });
    const waiting = testGateway({ store: silent });
    const from = waiting.clock.now();
    expect((await waiting.post(ask, headers)).status).toBe(503);
    expect(waiting.clock.now() - from).toBe(250);
  });
});
