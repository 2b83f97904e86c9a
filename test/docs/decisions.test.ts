import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { resolveOptions } from '../../src/options.ts';
import { type Answer, hello, testGateway, upstreamKeys } from '../support/gateway.ts';
import { chunk, completion, errorBody, sse, usageChunk } from '../support/upstream.ts';
import { catalogueChecks } from './catalogue-decisions.ts';
import { healthChecks } from './health-decisions.ts';
import { quoted, readDoc, tableRows } from './markdown.ts';
import { routingChecks } from './routing-decisions.ts';
import { tenantChecks, tenantMeans } from './tenant-decisions.ts';

const rows = tableRows(readDoc('docs/decisions.md'));

const apiKeys = [{ key: 'sk-test-inference' }];
const ask = { model: 'acme/fast', messages: hello };
const streamed = { ...ask, stream: true };
const start = sse(chunk({ role: 'assistant', content: '' }));
const some = sse(chunk({ content: 'Hi' }));
const stop = sse(chunk({}, 'stop'));

/** How a stream ended. */
const endOf = ({ chunks }: Answer) => chunks.at(-1)?.error?.code ?? 'complete';

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

/** By the words a row begins with. Every row is either here or a choice of means, below. */
const checks: Record<string, (answer: string) => Promise<void>> = {
  async 'What counts as the first event'() {
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
    expect(endOf(await post(streamed))).toBe('complete');
    expect(upstream.sent).toHaveLength(2);
  },
  async 'May the stream be opened before the first token'(answer) {
    expect(answer).toContain('10 s');
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
  },
  async 'Does `[DONE]` follow an error chunk'() {
    const { post, upstream } = testGateway();
    upstream.answer({ body: [start, some, { breaks: true }] });
    expect((await post(streamed)).text).toMatch(/"finish_reason":"error".*\n\ndata: \[DONE\]\n\n$/);
  },
  async 'Is a stream complete with `[DONE]`'() {
    for (const finishesWithoutReason of [false, true]) {
      const providers = { up: { baseUrl: 'https://up.test/v1', quirks: { finishesWithoutReason } } };
      const { post, upstream } = testGateway({ providers, models: [] });
      upstream.answer({ body: [start, some, sse('[DONE]')] });
      expect(endOf(await post({ ...streamed, model: 'up/x' }))).toBe(finishesWithoutReason ? 'complete' : 502);
    }
  },
  async 'Is a stream complete that breaks after every choice'() {
    const { post, upstream } = testGateway();
    upstream.answer({ body: [start, some, stop, { breaks: true }] });
    const got = await post(streamed);
    expect([endOf(got), got.chunks.at(-1)?.usage?.estimated]).toEqual(['complete', true]);
  },
  async 'What does a client see when a stream breaks'(answer) {
    expect(quoted(answer)).toEqual(['streams.onCut: "close"']);
    expect(resolveOptions({ apiKeys, streams: { onCut: 'close' } }).streams).toEqual({ onCut: 'close' });
    const { post, upstream } = testGateway();
    upstream.answer({ body: [start, some, { breaks: true }] });
    expect(endOf(await post(streamed))).toBe(502);
  },
  async 'How long may a provider'(answer) {
    const seconds = [...answer.matchAll(/(\d+) s\b/g)].map(([, number]) => Number(number));
    const cases: [stream: boolean, upstreamAnswer: object][] = [
      [true, { instead: 'hang' }],
      [false, { instead: 'hang' }],
      [true, { body: [start, { hangs: true }] }],
    ];
    const taken: number[] = [];
    for (const [stream, upstreamAnswer] of cases) {
      const { post, upstream, clock } = testGateway({ retry: { maxAttempts: 1 }, keepAlive: { firstMs: 1_000_000 } });
      const from = clock.now();
      upstream.answer(upstreamAnswer);
      expect((await post({ ...ask, stream })).status).toBe(524);
      taken.push((clock.now() - from) / 1000);
    }
    expect(taken).toEqual(seconds);
    const named = quoted(answer).map((path) => path.split('.')[1]);
    const { timeouts } = resolveOptions({ apiKeys });
    expect(named.map((name) => timeouts[name as keyof typeof timeouts] / 1000)).toEqual(seconds);
  },
  async 'How long do we wait for usage'(answer) {
    const { post, upstream, clock } = testGateway();
    const from = clock.now();
    upstream.answer({ body: [start, some, stop, { hangs: true }] });
    expect(endOf(await post(streamed))).toBe('complete');
    expect(answer).toBe(`At most ${(clock.now() - from) / 1000} s`);
  },
  async 'Upstream 404'() {
    const { post, upstream } = testGateway();
    upstream.answer({ status: 404, body: errorBody('No') }, { body: completion() });
    const got = await post({ ...ask, models: ['acme/other'] });
    expect([got.status, got.json.model]).toEqual([200, 'acme/other']);
    upstream.answer({ status: 404, body: errorBody('No') }, { body: completion() });
    expect((await post({ ...ask, model: 'acme/pair' })).status).toBe(200);
    upstream.answer({ status: 404, body: errorBody('No') });
    expect((await post(ask)).status).toBe(404);
  },
  async 'Upstream 503'() {
    for (const status of [503, 529]) {
      const { post, upstream } = testGateway();
      upstream.always({ status });
      expect((await post(ask)).status).toBe(529);
    }
  },
  async 'Error body with status 200'() {
    for (const [code, expected] of [
      [429, 429],
      ['no', 502],
    ]) {
      const { post, upstream } = testGateway();
      upstream.always({ body: { error: { message: 'No', code } } });
      const { status, json } = await post(ask);
      expect([status, json.error.metadata?.provider_code]).toEqual([expected, String(code)]);
    }
  },
  async 'A choice without a message'() {
    const { post, upstream } = testGateway();
    upstream.answer({ body: { choices: [{ index: 0, finish_reason: 'content_filter' }] } });
    const { status, json } = await post(ask);
    expect([status, json.choices[0]?.finish_reason, json.choices[0]?.message.content]).toEqual([
      200,
      'content_filter',
      null,
    ]);
  },
  async 'Tool calls without an id'() {
    const { post, upstream } = testGateway();
    const call = { index: 0, function: { name: 'f', arguments: '{}' } };
    upstream.answer({ body: [sse(chunk({ tool_calls: [call] }, 'tool_calls'), '[DONE]')] });
    expect((await post(streamed)).text).toContain('"id":"call_0","type":"function"');
  },
  async 'Earlier reasoning in assistant messages'(answer) {
    for (const field of quoted(answer).filter((one) => one.startsWith('reasoning_') || one === 'reasoning')) {
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
  },
  async 'finish_reason `stop` from a model that called tools'() {
    const { post, upstream } = testGateway();
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    upstream.answer({ body: completion({}, { content: null, tool_calls: [call] }) });
    expect((await post(ask)).json.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      native_finish_reason: 'stop',
    });
  },
  async 'Unknown finish_reason'(answer) {
    const { post, upstream } = testGateway({ retry: { maxAttempts: 1 } });
    upstream.answer({ body: completion({}, {}, { finish_reason: 'done_for_today' }) });
    expect((await post(ask)).json.choices[0]?.finish_reason).toBe('stop');
    for (const word of quoted(answer).filter((one) => one !== 'stop')) {
      upstream.answer({ body: completion({}, {}, { finish_reason: word }) });
      expect([word, (await post(ask)).status]).toEqual([word, 502]);
    }
  },
  async '`created`'() {
    const { post, upstream, clock } = testGateway();
    const created = Math.floor(clock.now() / 1000);
    upstream.answer({ body: [start, some, { waitMs: 5_000 }, stop, sse(usageChunk(), '[DONE]')] });
    expect(new Set((await post(streamed)).chunks.map((one) => one.created))).toEqual(new Set([created]));
  },
  async "Caller's own deadline"() {
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
  },
  async 'Null fields of a request'() {
    expect(await sentFor({ temperature: null, seed: 1 })).toEqual({ model: 'up-fast', messages: hello, seed: 1 });
  },
  async 'Fields that are not forwarded'(answer) {
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
    expect(quoted(answer).filter((name) => !name.startsWith('reasoning'))).toEqual(Object.keys(values));
    const sent = await sentFor({ ...values, reasoning: { effort: 'low' }, unknown_field: 1 });
    expect(sent).toEqual({ model: 'up-fast', messages: hello, reasoning_effort: 'low', unknown_field: 1 });
  },
  async '`developer` messages'() {
    const { messages } = await sentFor({ messages: [{ role: 'developer', content: 'Be brief' }, ...hello] });
    expect(messages).toEqual([{ role: 'system', content: 'Be brief' }, ...hello]);
  },
  async 'Largest output'() {
    expect(await sentFor({ max_completion_tokens: 5 })).toMatchObject({ max_tokens: 5 });
    const sent = await sentFor({ max_completion_tokens: 5, max_tokens: 9 });
    expect([sent.max_tokens, sent.max_completion_tokens]).toEqual([5, undefined]);
  },
  async 'Endpoint of unknown price'() {
    for (const provider of [{ max_price: { prompt: 1_000 } }, { zdr: true }, { data_collection: 'deny' }]) {
      expect(await statusOf({ model: 'acme/free', provider })).toBe(404);
    }
    expect(await statusOf({ model: 'acme/fast', provider: { max_price: { prompt: 1_000 } } })).toBe(200);
  },
  async 'Usage missing or implausible'() {
    for (const usage of [
      undefined,
      { prompt_tokens: -1, completion_tokens: 2 },
      { prompt_tokens: 1e12, completion_tokens: 1 },
    ]) {
      const { post, upstream } = testGateway();
      upstream.answer({ body: completion({ usage }) });
      expect((await post(ask)).json.usage).toMatchObject({ estimated: true, prompt_tokens: expect.any(Number) });
    }
  },
  async Amounts() {
    const pricing = { prompt: '0.000000000001', completion: 0 };
    const models = [{ slug: 'acme/cheap', endpoints: [{ provider: 'up', model: 'x', pricing }] }];
    const { post, upstream, records } = testGateway({ models });
    upstream.always({
      body: completion({ usage: { prompt_tokens: 1_001, completion_tokens: 0, total_tokens: 1_001 } }),
    });
    await post({ ...ask, model: 'acme/cheap' });
    expect(records[0]?.costNanoUsd).toBe(2);
  },
  async "Operator's key refused"(answer) {
    for (const status of [401, 402, 403]) {
      const { post, upstream } = testGateway();
      upstream.always({ status, body: errorBody(`The key ${upstreamKeys.up} of your account`) });
      const got = await post(ask);
      expect([got.status, upstream.sent.length]).toEqual([502, 1]);
      expect(got.text).not.toMatch(/account|sk-upstream/);
      expect((await post(ask)).headers.get('retry-after')).toBe(/in cooldown for (\d+) s/.exec(answer)?.[1]);
    }
  },
  async 'Upstream response headers'() {
    const { post, upstream } = testGateway();
    upstream.always({
      body: completion(),
      headers: { 'set-cookie': 'a=b', 'x-ratelimit-limit': '5', 'x-request-id': 'r' },
    });
    const names = [...(await post(ask)).headers.keys()];
    expect(names.sort()).toEqual(['content-type', 'x-generation-id']);
  },
  async 'Requests that name no model'() {
    expect(await statusOf({ model: undefined })).toBe(400);
    const { post, upstream } = testGateway({ defaultModel: 'acme/other' });
    upstream.answer({ body: completion() });
    expect((await post({ messages: hello })).json.model).toBe('acme/other');
  },
  async 'Compressed request bodies'() {
    expect(await statusOf({}, { 'content-encoding': 'gzip' })).toBe(400);
  },
  async '`OPTIONS`'() {
    const { gateway } = testGateway();
    const response = await gateway.fetch('http://gateway.test/v1/chat/completions', { method: 'OPTIONS' });
    expect([response.status, response.headers.get('allow')]).toEqual([204, 'POST, OPTIONS']);
  },
  async 'Counts of tokens'() {
    for (const name of ['max_tokens', 'max_completion_tokens']) {
      expect([await statusOf({ [name]: 0 }), await statusOf({ [name]: 1 })]).toEqual([400, 200]);
    }
  },
  async '`service_tier: "fast"`'() {
    expect(await statusOf({ service_tier: 'fast' })).toBe(400);
  },
  async '`route`'() {
    for (const route of ['fallback', 'sort', null, { any: 1 }]) expect(await statusOf({ route })).toBe(200);
    expect(await statusOf({ route: 'other' })).toBe(400);
  },
  async 'Keys in the store'(answer) {
    expect(quoted(answer)).toEqual(['gateway.apiKeys', 'storeCacheMs']);
    const store = new Keyv();
    const { gateway, clock, post, upstream } = testGateway({ store });
    upstream.always({ body: completion() });
    const { key, record } = await gateway.apiKeys.create();
    const headers = { authorization: `Bearer ${key}` };
    const other = testGateway({ store });
    expect((await post(ask, headers)).status).toBe(200);
    await other.gateway.apiKeys.delete(record.hash);
    const believedMs = Number(/cached for (\d+) s/.exec(answer)?.[1]) * 1000;
    await clock.advance(believedMs - 1);
    expect((await post(ask, headers)).status).toBe(200);
    await clock.advance(2);
    expect((await post(ask, headers)).status).toBe(401);
    const silent = new Keyv();
    Object.assign(silent.store, { get: () => new Promise(() => undefined) });
    const waiting = testGateway({ store: silent });
    const from = waiting.clock.now();
    expect((await waiting.post(ask, headers)).status).toBe(503);
    expect(waiting.clock.now() - from).toBe(Number(/503 within (\d+) ms/.exec(answer)?.[1]));
  },
  ...tenantChecks,
  ...routingChecks,
  ...healthChecks,
  ...catalogueChecks,
};

/** Rows about how something is built, by what shows that it still is. */
const means: Record<string, [path: string, shows: RegExp]> = {
  'Own event framing instead of a parser library': ['src/base/framing/sse.ts', /from '\.\.\/sse\.ts'/],
  'The key of a credential with several parts': ['test/flow/credential-parts.test.ts', /POST \/byok/],
  'SHA-256': ['src/base/secrets.ts', /from '@noble\/hashes/],
  'HTTP on Node': ['src/transport/exchange.ts', /\.dispatch\(/],
  ...tenantMeans,
};

describe('docs/decisions.md', () => {
  it('has a check for every row, and a row for every check', () => {
    const known = [...Object.keys(checks), ...Object.keys(means)];
    const questions = rows.map(({ cells }) => cells[0] as string);
    expect(questions.map((question) => known.filter((words) => question.startsWith(words)).length)).toEqual(
      questions.map(() => 1),
    );
    expect(known).toHaveLength(questions.length);
  });
  it.each(rows.map(({ cells }) => cells as [string, string]))('%s', async (question, answer) => {
    const words = [...Object.keys(checks), ...Object.keys(means)].find((one) => question.startsWith(one)) as string;
    const [path, shows] = means[words] ?? [];
    if (path) expect(readDoc(path)).toMatch(shows as RegExp);
    else await checks[words]?.(answer);
    expect.hasAssertions();
  });
});
