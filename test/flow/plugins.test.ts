import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import * as z3 from 'zod/v3';
import { GatewayError } from '../../src/base/errors.ts';
import type { Generation, ModelResponse } from '../../src/call/generation.ts';
import type { PluginHooks } from '../../src/call/hooks.ts';
import { blockedBy, defineGuardrail } from '../../src/guardrails/guardrail.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { definePlugin } from '../../src/plugins/plugin.ts';
import type { ChatChunk } from '../../src/schema/chat/chunk.ts';
import { hello, type TestGateway, testGateway } from '../support/gateway.ts';
import { completion, errorBody, textStream } from '../support/upstream.ts';

const ask = { model: 'acme/pair', messages: hello, max_tokens: 100 };
const streamed = { ...ask, stream: true };
const metadata = { 'x-service-metadata': 'enabled' };

/** A gateway with one plugin that acts on every request. */
const withPlugin = (hooks: PluginHooks, options: Partial<GatewayOptions> = {}) =>
  testGateway({ plugins: [definePlugin({ id: 'test', isDefault: true, ...hooks })], ...options });

/** A chunk with another text. */
const retold = (one: ChatChunk, change: (text: string) => string): ChatChunk => ({
  ...one,
  choices: one.choices.map((choice) =>
    choice.delta.content ? { ...choice, delta: { ...choice.delta, content: change(choice.delta.content) } } : choice,
  ),
});
const textOf = (chunks: readonly ChatChunk[]) => chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');

describe('a plugin of the host app', () => {
  it('changes a request before it is routed', async () => {
    const { post, upstream } = withPlugin({
      before: (request) => ({ ...request, model: 'acme/other', temperature: 0 }),
    });
    upstream.always({ body: completion() });
    expect((await post(ask)).json.model).toBe('acme/other');
    expect(upstream.sent[0]?.body).toMatchObject({ model: 'alt-other', temperature: 0 });
  });
  it('refuses a request before a provider is called', async () => {
    const refuse = () => {
      throw new GatewayError('permission_denied', 'Not on Sundays');
    };
    const { post, upstream, records } = withPlugin({ before: refuse });
    const refused = await post(ask);
    expect([refused.status, refused.json.error.message]).toEqual([403, 'Not on Sundays']);
    expect(upstream.sent).toHaveLength(0);
    expect(records).toMatchObject([{ status: 403, outcome: 'failed', generations: [], costNanoUsd: 0 }]);
  });
  it('prepares the request of one attempt, which knows its model and context', async () => {
    const { post, upstream } = withPlugin({
      prepare: (request, { endpoint }) => ({ ...request, user: `${endpoint.providerSlug} ${endpoint.contextLength}` }),
    });
    upstream.answer({ status: 401, body: errorBody('no') }, { body: completion() });
    expect((await post(ask)).status).toBe(200);
    expect(upstream.sent.map(({ body }) => body.user)).toEqual(['up null', 'alt null']);
  });
  it('answers without calling a provider at all', async () => {
    const canned: ModelResponse = {
      kind: 'complete',
      head: { id: 'gen-x', created: 1, model: 'acme/canned', provider: 'Cache' },
      result: {
        id: '',
        object: 'chat.completion',
        created: 0,
        model: '',
        system_fingerprint: null,
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'From a cache', refusal: null },
            finish_reason: 'stop',
            native_finish_reason: 'stop',
            logprobs: null,
          },
        ],
      },
    };
    const wrap: PluginHooks['wrap'] = async (_generate, _request, { call }) => ({
      ...canned,
      head: { ...canned.head, id: call.id },
    });
    const { post, upstream, records } = withPlugin({ wrap });
    expect((await post(ask)).json.choices[0]?.message.content).toBe('From a cache');
    expect(textOf((await post(streamed)).chunks)).toBe('From a cache');
    expect(upstream.sent).toHaveLength(0);
    expect(records.map(({ outcome, costNanoUsd, generations }) => [outcome, costNanoUsd, generations.length])).toEqual([
      ['ok', 0, 0],
      ['ok', 0, 0],
    ]);
  });
  it('adds stages to the metadata and annotations to the message, in JSON and in streams', async () => {
    const citation = {
      type: 'url_citation',
      url_citation: { url: 'https://a.test', title: 'A', start_index: 0, end_index: 1 },
    };
    const { post, upstream } = withPlugin({
      before(request, context) {
        context.addStage({ type: 'plugin', name: 'test', summary: 'looked up 1' });
        context.addAnnotations([citation]);
        return request;
      },
    });
    upstream.answer({ body: completion() }, { body: textStream('Hi') });
    const json = await post(ask, metadata);
    expect(json.json.choices[0]?.message.annotations).toEqual([citation]);
    expect(json.json.service_metadata).toMatchObject({ pipeline: [{ type: 'plugin', name: 'test' }] });
    const stream = await post(streamed, metadata);
    expect(stream.chunks.flatMap(({ choices }) => choices[0]?.delta.annotations ?? [])).toEqual([citation]);
    expect(stream.chunks.at(-1)?.service_metadata).toMatchObject({ pipeline: [{ name: 'test' }] });
  });
  it('is asked for by id, with options that it checks itself, and switched off by `enabled: false`', async () => {
    const shout = definePlugin<{ times: number }>({
      id: 'shout',
      options: () =>
        z.object({ id: z.literal('shout'), enabled: z.boolean().optional(), times: z.int().min(1).max(3) }),
      before: (request, { options }) => ({ ...request, user: '!'.repeat(options.times) }),
    });
    const { post, upstream } = testGateway({ plugins: [shout] });
    upstream.always({ body: completion() });
    await post({ ...ask, plugins: [{ id: 'shout', times: 2 }] });
    await post({ ...ask, plugins: [{ id: 'shout', times: 2, enabled: false }] });
    await post(ask);
    expect(upstream.sent.map(({ body }) => body.user)).toEqual(['!!', undefined, undefined]);
    const wrong = await post({ ...ask, plugins: [{ id: 'shout', times: 9 }] });
    expect([wrong.status, wrong.json.error.metadata?.issues]).toEqual([
      400,
      [{ path: 'plugins[0].times', message: 'expected at most 3' }],
    ]);
    const unknown = await post({ ...ask, plugins: [{ id: 'whisper' }] });
    expect(unknown.status).toBe(400);
  });
  it('may check its options by a schema of another library, whose words the caller gets', async () => {
    const shout = definePlugin<{ times: number }>({
      id: 'shout',
      options: () => z3.object({ times: z3.number().max(3, 'Not so loud') }),
      before: (request, { options }) => ({ ...request, user: '!'.repeat(options.times) }),
    });
    const { post, upstream } = testGateway({ plugins: [shout] });
    upstream.always({ body: completion() });
    await post({ ...ask, plugins: [{ id: 'shout', times: 2 }] });
    expect(upstream.sent[0]?.body.user).toBe('!!');
    const wrong = await post({ ...ask, plugins: [{ id: 'shout', times: 9 }] });
    expect([wrong.status, wrong.json.error.metadata?.issues]).toEqual([
      400,
      [{ path: 'plugins[0].times', message: 'Not so loud' }],
    ]);
  });
  it('that throws fails the call with a 500 that says nothing, and settles it', async () => {
    const { post, records } = withPlugin({
      before() {
        throw new Error('secret details');
      },
    });
    const failed = await post(ask);
    expect([failed.status, failed.text.includes('secret')]).toEqual([500, false]);
    expect(records).toMatchObject([{ status: 500, outcome: 'failed' }]);
  });
  it('takes the place of the one that is built in with the same id, but not of another of the host app', async () => {
    const user = (value: string) => definePlugin({ id: 'file-parser', before: (one) => ({ ...one, user: value }) });
    const { post, upstream } = testGateway({ plugins: [user('ours')] });
    upstream.always({ body: completion() });
    await post({ ...ask, plugins: [{ id: 'file-parser' }] });
    expect(upstream.sent[0]?.body.user).toBe('ours');
    expect(() => testGateway({ plugins: [user('a'), user('b')] })).toThrow(/plugins\[1\]\.id/);
  });
  it('sees which models a request names', async () => {
    const named: unknown[] = [];
    const { post, upstream } = withPlugin({
      async before(request, { models, clock }) {
        named.push(...(await models(request)).map((model) => model?.slug ?? null), clock.now() > 0);
        return request;
      },
    });
    upstream.always({ body: completion() });
    await post({ ...ask, models: ['acme/fast:nitro', 'service/auto', '~acme/latest', 'up/any'] });
    expect(named).toEqual(['acme/pair', 'acme/fast', null, null, 'up/any', true]);
  });
});

describe('steps', () => {
  const upper = { push: (one: ChatChunk) => [retold(one, (text) => text.toUpperCase())] };
  it('see a complete response and a stream in the same way', async () => {
    const { post, upstream } = withPlugin({ steps: () => [upper] });
    upstream.answer({ body: completion() }, { body: textStream('Hello ', 'there') });
    expect((await post(ask)).json.choices[0]?.message.content).toBe('HELLO THERE');
    expect(textOf((await post(streamed)).chunks)).toBe('HELLO THERE');
  });
  it('leave a complete response as it is where they change nothing', async () => {
    const { post, upstream } = withPlugin({ steps: () => [{ push: (one) => [one] }] });
    const { post: plain, upstream: other } = testGateway();
    const body = completion(
      { extra: 1 },
      { annotations: [{ type: 'x' }] },
      { content_filter_results: { hate: 'safe' } },
    );
    upstream.answer({ body });
    other.answer({ body });
    expect((await post(ask)).text).toBe((await plain(ask)).text);
  });
  it('hold back and release, and are asked once at the end', async () => {
    let held: ChatChunk[] = [];
    let ends = 0;
    const hold = {
      push(one: ChatChunk) {
        held.push(one);
        return [];
      },
      end() {
        ends++;
        const released = held;
        held = [];
        return released;
      },
    };
    const { post, upstream } = withPlugin({ steps: () => [hold] });
    upstream.answer({ body: textStream('a', 'b', 'c') }, { body: completion() });
    expect(textOf((await post(streamed)).chunks)).toBe('abc');
    expect((await post(ask)).json.choices[0]?.message.content).toBe('Hello there');
    expect(ends).toBe(2);
  });
  it('may wait where they say so', async () => {
    const { post, upstream } = withPlugin({
      steps: () => [{ isAsync: true, push: async (one) => [retold(one, (text) => `${text}.`)], end: async () => [] }],
    });
    upstream.answer({ body: textStream('a', 'b') }, { body: completion() });
    expect(textOf((await post(streamed)).chunks)).toBe('a.b.');
    expect((await post(ask)).json.choices[0]?.message.content).toBe('Hello there.');
  });
  it('end a response with an error: in-band in a stream, as a status in JSON; what was used is booked', async () => {
    const stop = {
      push(one: ChatChunk): readonly ChatChunk[] {
        if (textOf([one]).includes('there')) throw new GatewayError('permission_denied', 'Not this word');
        return [one];
      },
    };
    const { post, upstream, records } = withPlugin({ steps: () => [stop] });
    upstream.answer({ body: textStream('Hello ', 'there', ' you') }, { body: completion() });
    const cut = await post(streamed);
    expect(textOf(cut.chunks)).toBe('Hello ');
    expect(cut.chunks.at(-1)).toMatchObject({ error: { code: 403, message: 'Not this word' } });
    expect(upstream.sent[0]?.closedAtMs).not.toBeNull();
    const refused = await post(ask);
    expect([refused.status, refused.json.error.message]).toEqual([403, 'Not this word']);
    expect(records.map(({ outcome, status }) => [outcome, status])).toEqual([
      ['cut', 403],
      ['failed', 403],
    ]);
    // 10 prompt and 2 completion tokens: the response was made, and is on the provider's bill.
    expect(records[1]?.costNanoUsd).toBe(36_000);
    expect(records[0]?.costNanoUsd).toBeGreaterThan(0);
  });
  it('learn of the end also where the client leaves, or another step refuses the response', async () => {
    const ends: string[] = [];
    const log = {
      push: (one: ChatChunk) => [one],
      end({ kind }: { kind: string }) {
        ends.push(kind);
        return [];
      },
    };
    const refuse = {
      push(): readonly ChatChunk[] {
        throw new GatewayError('permission_denied', 'No');
      },
    };
    const { post, upstream, send, run } = withPlugin({
      steps: ({ call }) => [log, ...(call.sessionId ? [refuse] : [])],
    });
    upstream.answer(
      { body: completion() },
      { body: textStream('a') },
      { body: [...textStream('a', 'b')].slice(0, 2).concat({ hangs: true } as never) },
    );
    await post({ ...ask, session_id: 's' });
    await post({ ...streamed, session_id: 's' });
    const response = await run(send(streamed));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await run(reader.read());
    await reader.cancel();
    expect(ends).toEqual(['failed', 'failed', 'cancelled']);
  });
  it('that throw something else are an internal error that says nothing', async () => {
    const { post, upstream } = withPlugin({
      steps: () => [
        {
          push() {
            throw new Error('secret details');
          },
        },
      ],
    });
    upstream.always({ body: textStream('a') });
    const cut = await post(streamed);
    expect(cut.text).not.toContain('secret');
    expect(cut.chunks.at(-1)?.error).toMatchObject({ code: 500 });
  });
  it('of guardrails come last, and see what the client would get', async () => {
    const seen: string[] = [];
    const { post, upstream } = withPlugin(
      { steps: () => [upper] },
      {
        guardrails: [
          defineGuardrail({
            id: 'watch',
            steps: () => [
              {
                push(one) {
                  seen.push(textOf([one]));
                  return [one];
                },
              },
            ],
          }),
        ],
      },
    );
    upstream.answer({ body: textStream('a', 'b') });
    await post(streamed);
    expect(seen.join('')).toBe('AB');
  });
});

describe('a guardrail', () => {
  it('blocks with 403, its patterns, and its stage in the metadata for who asks', async () => {
    const words = defineGuardrail({
      id: 'words',
      scope: 'workspace',
      appliesTo: ({ userId }) => userId === null,
      before(request, context) {
        if (JSON.stringify(request.messages).includes('Hello')) throw blockedBy(words, ['greeting'], context);
        return request;
      },
    });
    const { post, upstream, records } = testGateway({ guardrails: [words] });
    const blocked = await post(ask, metadata);
    expect([blocked.status, blocked.json.error.metadata?.patterns]).toEqual([403, ['greeting']]);
    expect(blocked.json.service_metadata).toMatchObject({
      pipeline: [
        {
          type: 'guardrail',
          name: 'words',
          guardrail_id: 'words',
          guardrail_scope: 'workspace',
          data: { patterns: ['greeting'] },
        },
      ],
    });
    expect([upstream.sent.length, records[0]?.pipeline.length]).toEqual([0, 1]);
  });
});

/** Only output costs: 8 micro-USD a token. The worst case of one generation of 100 tokens is 0.0008 USD. */
const pricing = { prompt: '0', completion: '0.000008' };
const models = [
  { slug: 'acme/pair', endpoints: ['up', 'alt'].map((provider) => ({ provider, model: 'm', pricing })) },
  { slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm', pricing }] },
  { slug: 'acme/other', endpoints: [{ provider: 'alt', model: 'm', pricing }] },
];
const usage = (tokens: number) => ({ prompt_tokens: 10, completion_tokens: tokens, total_tokens: 10 + tokens });
/** A response without choices, which has used 5 tokens all the same. */
const broke = { body: { choices: [], usage: usage(5) } };

/** Calls the upstream twice, at once or one after the other, and delivers the second. */
const twice = (atOnce: boolean): PluginHooks => ({
  async wrap(generate, request) {
    const first = { ...request, model: 'acme/pair', stream: false };
    const second = { ...request, model: 'acme/other' };
    if (atOnce) {
      const [, last] = await Promise.all([generate(first), generate(second)]);
      return last as Generation;
    }
    await generate(first);
    return generate(second);
  },
});

/** What the daily budget says is spent, by refusing a request that is too large for it. */
async function spentOf(post: TestGateway['post']) {
  const refused = await post({ ...ask, max_tokens: 10_000_000 });
  expect(refused.json.error.metadata).toMatchObject({ held_usd: 0 });
  return refused.json.error.metadata?.spent_usd;
}

/** A gateway with the plugin, the models above and a budget of the default workspace in USD. */
async function limited(hooks: PluginHooks, limitUsd: number, options: Partial<GatewayOptions> = {}) {
  const tested = withPlugin(hooks, { models, retry: { attemptsPerEndpoint: 1 }, ...options });
  expect((await tested.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: limitUsd })).status).toBe(200);
  return tested;
}

describe.each([
  ['one after the other', false],
  ['at the same time', true],
])('two generations under one client call, %s', (_, atOnce) => {
  it.each([
    ['JSON', false],
    ['a stream', true],
  ])('are one call: one hold, one record, money to the nano-dollar; %s', async (_kind, stream) => {
    const { post, upstream, records } = await limited(twice(atOnce), 1);
    const second = stream ? { body: textStream('Hi') } : { body: completion({ usage: usage(2) }) };
    const first = { body: completion({ usage: usage(7) }) };
    // The first generation fails at `up` and falls back to `alt`. At once, the second is sent before that.
    upstream.answer(broke, ...(atOnce ? [second, first] : [first, second]));
    const answer = await post(stream ? streamed : ask, metadata);
    expect(answer.status).toBe(200);
    expect(records).toHaveLength(1);
    const [record] = records;
    expect(record?.generations).toHaveLength(2);
    expect(record?.attempts.map(({ provider, status }) => `${provider} ${status}`).sort()).toEqual([
      'Alt 200',
      'Alt 200',
      'Up 502',
    ]);
    const costs = record?.generations.map(({ costNanoUsd }) => costNanoUsd) as number[];
    expect(record?.costNanoUsd).toBe((costs[0] ?? 0) + (costs[1] ?? 0));
    // What the failed attempt has used, the first response and the second.
    expect(costs).toEqual([5 * 8_000 + 7 * 8_000, 2 * 8_000]);
    expect(await spentOf(post)).toBe((record?.costNanoUsd ?? 0) / 1e9);
    const shown = stream ? answer.chunks.at(-1)?.service_metadata : answer.json.service_metadata;
    expect(shown).toMatchObject({ generations: [{ provider: 'Alt' }, { provider: 'Alt' }] });
    const reported = stream ? answer.chunks.at(-1)?.usage : answer.json.usage;
    expect(reported?.completion_tokens).toBe(record?.usage?.completion_tokens);
  });
});

describe('several generations under one client call', () => {
  it('hold together what each may cost: the one that does not fit is refused, and nothing is overspent', async () => {
    // Each may cost 0.0008 USD.
    for (const [limitUsd, status, sent] of [
      [0.0015, 402, 1],
      [0.0016, 200, 2],
    ] as const) {
      const { post, upstream } = await limited(twice(true), limitUsd);
      upstream.always({ body: completion({ usage: usage(2) }) });
      const answer = await post(ask);
      expect([answer.status, upstream.sent.length]).toEqual([status, sent]);
      expect(await spentOf(post)).toBeCloseTo(sent * 0.000016, 9);
    }
  });
  it('one after the other may use again what the first has left', async () => {
    const { post, upstream } = await limited(twice(false), 0.00082);
    upstream.always({ body: completion({ usage: usage(2) }) });
    expect((await post(ask)).status).toBe(200);
    expect(await spentOf(post)).toBeCloseTo(0.000032, 9);
  });
  it('end together within 50 ms when the client leaves, each settled once', async () => {
    const { send, run, upstream, records, clock } = await limited(twice(true), 1);
    upstream.always({ instead: 'hang' });
    const controller = new AbortController();
    const response = send(streamed, {}, controller.signal);
    const gone = expect(response).rejects.toThrow();
    await clock.advance(1000);
    expect(upstream.sent).toHaveLength(2);
    controller.abort(new Error('closed'));
    await run(gone);
    await clock.advance(50);
    expect(upstream.sent.map(({ closedAtMs }) => (closedAtMs ?? 1e15) - (upstream.sent[0]?.atMs ?? 0) <= 1050)).toEqual(
      [true, true],
    );
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ outcome: 'cancelled', status: 499 });
    expect(records[0]?.generations.map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled']);
  });
  it('that a plugin leaves over are stopped when the call ends, and are in its record', async () => {
    const first: PluginHooks = {
      async wrap(generate, request) {
        void generate({ ...request, model: 'acme/other' }).catch(() => undefined);
        return generate({ ...request, model: 'acme/fast' });
      },
    };
    const { post, upstream, records, clock } = await limited(first, 1);
    upstream.answer({ instead: 'hang' }, { body: completion({ usage: usage(2) }) });
    expect((await post(ask)).status).toBe(200);
    await clock.advance(10);
    expect(upstream.sent.filter(({ closedAtMs }) => closedAtMs !== null)).toHaveLength(1);
    expect(records).toHaveLength(1);
    expect(records[0]?.generations.map(({ outcome }) => outcome).sort()).toEqual(['failed', 'ok']);
  });
  it('whose streams nobody reads are stopped and settled when the call ends', async () => {
    const leaves: PluginHooks = {
      async wrap(generate, request) {
        await generate({ ...request, model: 'acme/other', stream: true });
        return generate({ ...request, model: 'acme/fast' });
      },
    };
    const { post, upstream, records } = await limited(leaves, 1);
    upstream.answer(
      { body: [...textStream('a').slice(0, 2), { hangs: true }] },
      { body: completion({ usage: usage(2) }) },
    );
    expect((await post(ask)).status).toBe(200);
    expect(upstream.sent[0]?.closedAtMs).not.toBeNull();
    expect(records).toHaveLength(1);
    expect(records[0]?.generations.map(({ outcome }) => outcome)).toEqual(['cancelled', 'ok']);
    // Also the money is free again: nothing is held.
    await spentOf(post);
  });
  it('whose steps cannot be made are stopped and settled', async () => {
    const breaks: PluginHooks = {
      steps() {
        throw new Error('secret details');
      },
    };
    const { post, upstream, records } = await limited(breaks, 1);
    upstream.answer({ body: [...textStream('a').slice(0, 2), { hangs: true }] });
    expect((await post(streamed)).status).toBe(500);
    expect(upstream.sent[0]?.closedAtMs).not.toBeNull();
    expect(records).toMatchObject([{ status: 500, generations: [{ outcome: 'cancelled' }] }]);
  });
  it('whose prompt a plugin makes too long for the budget are refused with 402, and the endpoint is free again', async () => {
    const longer: PluginHooks = {
      prepare: (request) => ({ ...request, max_tokens: call.isLong ? 1_000_000 : request.max_tokens }),
    };
    const call = { isLong: true };
    const { post, upstream } = await limited(longer, 0.01);
    upstream.always({ body: completion({ usage: usage(2) }) });
    const refused = await post({ ...ask, model: 'acme/fast' });
    expect([refused.status, upstream.sent.length]).toEqual([402, 0]);
    call.isLong = false;
    expect((await post({ ...ask, model: 'acme/fast' })).status).toBe(200);
    await spentOf(post);
  });
  it('book what a plugin has paid for, and refuse what it cannot', async () => {
    const pays: PluginHooks = {
      async before(request, context) {
        const expense = await context.hold(500_000);
        expense.settle(300_000);
        return request;
      },
    };
    const { post, upstream, records } = await limited(pays, 0.002);
    upstream.always({ body: completion({ usage: usage(2) }) });
    expect((await post(ask)).json.usage?.cost).toBe(0.000316);
    expect(records[0]?.costNanoUsd).toBe(316_000);
    const forgets: PluginHooks = { before: async (request, { hold }) => hold(500_000).then(() => request) };
    const other = await limited(forgets, 0.0012);
    other.upstream.always({ body: completion({ usage: usage(2) }) });
    // 0.0005 and 0.0008 do not fit into 0.0012.
    expect((await other.post(ask)).status).toBe(402);
    expect(other.records[0]?.costNanoUsd).toBe(500_000);
  });
});
