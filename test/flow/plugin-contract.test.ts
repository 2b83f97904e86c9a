import { describe, expect, it } from 'vitest';
import type { PluginContext } from '../../src/call/hooks.ts';
import { defineGuardrail } from '../../src/guardrails/guardrail.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { moderation } from '../../src/plugins/moderation/index.ts';
import { definePlugin, type Plugin } from '../../src/plugins/plugin.ts';
import { web } from '../../src/plugins/web.ts';
import type { ChatRequest } from '../../src/schema/chat/chat.ts';
import { streamResponses } from '../support/ask-responses.ts';
import { checkResponsesStream } from '../support/check-responses.ts';
import { hello, testGateway, testPricing } from '../support/gateway.ts';
import { engineOf, pageOf } from '../support/search.ts';
import { chunk, completion, sse } from '../support/upstream.ts';

const metadata = { 'x-service-metadata': 'enabled' };
const ask = { model: 'acme/fast', messages: hello, max_tokens: 100 };

function gatewayWith(plugins: readonly Plugin[], options: Partial<GatewayOptions> = {}) {
  const test = testGateway({ plugins: [...plugins], ...options });
  test.upstream.always({ body: completion() });
  return test;
}

/** A plugin that notes what its hooks get. */
function noting(plugin: Partial<Plugin>) {
  const seen: { hook: string; request: ChatRequest; isAsked: boolean }[] = [];
  const note = (hook: string, request: ChatRequest, { isAsked }: Pick<PluginContext, 'isAsked'>) =>
    void seen.push({ hook, request, isAsked });
  const noted = definePlugin({
    id: 'noting',
    before(request, context) {
      note('before', request, context);
      return request;
    },
    prepare(request, _target, context) {
      note('prepare', request, context);
      return request;
    },
    wrap(generate, request, context) {
      note('wrap', request, context);
      return generate(request);
    },
    ...plugin,
  });
  return { plugin: noted, seen, hooks: () => seen.map(({ hook }) => hook) };
}

const all = ['before', 'wrap', 'prepare'];

describe('actsOn of a plugin of the host app', () => {
  const house: Partial<Plugin> = {
    actsOn: ({ model }, { brand }) => model === `${brand}/house`,
    strategy: 'auto',
    before: (request) => ({ ...request, model: 'acme/other' }),
  };

  it('lets it act on requests that do not name it, and chooses the strategy that is shown', async () => {
    const { plugin, hooks } = noting(house);
    const { post } = gatewayWith([plugin]);
    const { status, json } = await post({ ...ask, model: 'service/house' }, metadata);
    expect([status, json.model, hooks()]).toEqual([200, 'acme/other', ['wrap', 'prepare']]);
    expect(json.service_metadata).toMatchObject({ requested: 'service/house', strategy: 'auto' });
    const other = await post(ask, metadata);
    expect([other.json.model, hooks().length]).toEqual(['acme/fast', 2]);
    expect(other.json.service_metadata).toMatchObject({ requested: 'acme/fast', strategy: 'direct' });
  });
  it('is told who asks, and that the request does not ask for it', async () => {
    const { plugin, seen } = noting({ actsOn: (_request, { caller }) => caller.userId === 'user-1' });
    const { post } = gatewayWith([plugin], {
      authenticate: (request) => ({ permissions: ['inference'], userId: request.headers.get('x-user') }),
    });
    await post(ask, { 'x-user': 'user-1' });
    expect(seen.map(({ isAsked }) => isAsked)).toEqual([false, false, false]);
    await post(ask, { 'x-user': 'user-2' });
    expect(seen).toHaveLength(3);
  });
  it('does not let it act where the request switches it off', async () => {
    const { plugin, hooks } = noting({ actsOn: () => true });
    const { post } = gatewayWith([plugin]);
    await post({ ...ask, plugins: [{ id: 'noting', enabled: false }] });
    expect(hooks()).toEqual([]);
    await post({ ...ask, plugins: [{ id: 'noting' }] });
    expect(hooks()).toEqual(all);
  });
  it('fails the call where it throws, without a trace of why', async () => {
    const actsOn = () => {
      throw new Error('a secret of the host app');
    };
    const { post, upstream } = gatewayWith([noting({ actsOn }).plugin]);
    const { status, text } = await post(ask);
    expect([status, text.includes('secret'), upstream.sent.length]).toEqual([500, false, 0]);
  });
  it('is explained, with its strategy', async () => {
    const plugin = definePlugin({
      id: 'house',
      ...house,
      foresee: async (request) => [{ purpose: 'answer', request: { ...request, model: 'acme/other' } }],
    });
    const { call } = gatewayWith([plugin]);
    const { data } = (await call('POST', '/chat/completions/explain', { ...ask, model: 'service/house' })).json;
    expect(data).toMatchObject({
      requested: 'service/house',
      strategy: 'auto',
      candidates: [{ model: 'acme/other' }],
    });
  });
});

describe('an explanation', () => {
  const paying = (nanoUsd: number) =>
    definePlugin({
      id: 'paying',
      isDefault: true,
      async before(request, { hold }) {
        (await hold(nanoUsd)).settle(nanoUsd);
        return request;
      },
      async foresee(_request, { hold, addStage }) {
        (await hold(nanoUsd)).settle(0);
        addStage({ type: 'plugin', name: 'paying', summary: 'one look-up', cost_usd: nanoUsd / 1e9 });
        return [];
      },
    });
  const explained = async (test: ReturnType<typeof gatewayWith>, body: object = ask) =>
    (await test.call('POST', '/chat/completions/explain', body)).json.data;
  const limited = async (plugin: Plugin, limit_usd: number) => {
    const test = gatewayWith([plugin]);
    await test.call('PUT', '/workspaces/default/budgets/daily', { limit_usd });
    return test;
  };

  it('counts what a plugin of the host app would hold, in the hold, in each window and by itself', async () => {
    const test = await limited(paying(5_000_000), 1);
    const without = await explained(await limited(paying(0), 1));
    const found = await explained(test);
    expect(without).not.toHaveProperty('expenses_usd');
    expect(found).toMatchObject({
      expenses_usd: 0.005,
      pipeline: [{ type: 'plugin', name: 'paying', summary: 'one look-up', cost_usd: 0.005 }],
      error: null,
    });
    expect(found.hold_usd).toBeCloseTo(without.hold_usd + 0.005, 12);
    expect(found.budgets[0].hold_usd).toBeCloseTo(found.hold_usd, 12);
    expect(found.budgets[0].held_usd).toBe(0);
    // Nothing was held, and the call costs no more than was told.
    await test.post(ask);
    expect(test.records[0]?.costNanoUsd).toBeLessThanOrEqual(found.hold_usd * 1e9);
  });
  it('refuses what the call would be refused for: no room beside the expense', async () => {
    for (const [nanoUsd, limitUsd] of [
      [5_000_000, 0.004],
      [3_999_999, 0.004],
      [3_500_000, 0.004],
      [1_000_000, 0.004],
    ] as const) {
      const test = await limited(paying(nanoUsd), limitUsd);
      const found = await explained(test);
      const { status } = await test.post(ask);
      expect([nanoUsd, found.error?.code ?? 200]).toEqual([nanoUsd, status]);
    }
  });
  it('shows the plugins and guardrails of the host app that tell nothing beforehand', async () => {
    const silent = definePlugin({ id: 'silent', isDefault: true, before: (request) => request, steps: () => [] });
    const guard = defineGuardrail({ id: 'guard', name: 'Our guard', steps: () => [] });
    const test = gatewayWith([silent], { guardrails: [guard] });
    expect((await explained(test)).pipeline).toEqual([
      {
        type: 'guardrail',
        name: 'Our guard',
        summary: 'acts on the response; how is not known beforehand',
        data: { foreseen: false },
      },
      {
        type: 'plugin',
        name: 'silent',
        summary: 'acts on the request and the response; how is not known beforehand',
        data: { foreseen: false },
      },
    ]);
  });
  it('refuses an amount that is none', async () => {
    const test = gatewayWith([paying(0.5)]);
    const { status, json } = await test.call('POST', '/chat/completions/explain', ask);
    expect([status, json.error.message]).toEqual([500, 'hold: expected an integer of nano-USD, 0 or more']);
  });
});

describe('the variant of a plugin of the host app', () => {
  const named = {
    slug: 'acme/chat:local',
    endpoints: [{ provider: 'up', model: 'chat:local', pricing: testPricing }],
  };

  it.each(['acme/fast:local', 'acme/fast:local:floor', 'acme/fast:floor:local'])('in %s asks for it', async (model) => {
    const { plugin, seen, hooks } = noting({ variant: 'local' });
    const { post, upstream } = gatewayWith([plugin]);
    const { status, json } = await post({ ...ask, model });
    expect([status, json.model, upstream.sent[0]?.body.model]).toEqual([200, 'acme/fast', 'up-fast']);
    expect(hooks()).toEqual(all);
    for (const { isAsked, request } of seen) expect([isAsked, request.plugins]).toEqual([true, [{ id: 'noting' }]]);
  });
  it('leaves out all of its hooks where it is the end of a name, and the plugin no default', async () => {
    const { plugin, hooks } = noting({ variant: 'local' });
    const { post, upstream } = gatewayWith([plugin], { models: [named] });
    expect((await post({ ...ask, model: named.slug })).status).toBe(200);
    expect([hooks(), upstream.sent[0]?.body.model]).toEqual([[], 'chat:local']);
  });
  it('is served where the plugin acts by default, which says whether it was asked for', async () => {
    const { plugin, seen, hooks } = noting({ variant: 'local', isDefault: true });
    const { post } = gatewayWith([plugin]);
    for (const model of ['acme/fast', 'acme/fast:local']) expect((await post({ ...ask, model })).status).toBe(200);
    expect(hooks()).toEqual([...all, ...all]);
    expect(seen.map(({ isAsked }) => isAsked)).toEqual([false, false, false, true, true, true]);
  });
  it('stands beside that of another plugin, in either order', async () => {
    const one = noting({ id: 'one', variant: 'local' });
    const two = noting({ id: 'two', variant: 'quiet' });
    const { post } = gatewayWith([one.plugin, two.plugin]);
    for (const model of ['acme/fast:local:quiet', 'acme/fast:quiet:local'])
      expect((await post({ ...ask, model })).status).toBe(200);
    expect([one.hooks(), two.hooks()]).toEqual([
      [...all, ...all],
      [...all, ...all],
    ]);
  });
  it('may be the one of a built-in plugin, which then no longer acts on it', async () => {
    const engine = engineOf([pageOf('botany')]);
    const { plugin, hooks } = noting({ variant: 'online' });
    const { post } = gatewayWith([plugin], { searchEngines: [engine] });
    expect((await post({ ...ask, model: 'acme/fast:online' })).status).toBe(200);
    expect([hooks(), engine.asked.length]).toEqual([all, 0]);
  });
  it('is explained, and shown as part of a model', async () => {
    const { plugin } = noting({ variant: 'local' });
    const { call } = gatewayWith([plugin]);
    const body = { ...ask, model: 'acme/fast:local' };
    expect((await call('POST', '/chat/completions/explain', body)).json.data).toMatchObject({
      candidates: [{ model: 'acme/fast' }],
    });
    expect((await call('GET', '/model/acme/fast:local')).status).toBe(200);
    expect((await call('GET', '/model/acme/fast:quiet')).status).toBe(404);
  });
});

describe('the headers of a request', () => {
  it('can be read by a plugin, but for those that prove who the caller is', async () => {
    const seen: (string | null | undefined)[][] = [];
    const note = ({ call }: Pick<PluginContext, 'call'>) =>
      void seen.push(['x-tier', 'x-none', 'Authorization', 'cookie', 'x-api-key'].map((name) => call.header?.(name)));
    const plugin = definePlugin({
      id: 'reading',
      isDefault: true,
      variant: 'local',
      before(request, context) {
        note(context);
        return request;
      },
      async foresee(_request, context) {
        note(context);
        return [];
      },
    });
    const { post, call } = gatewayWith([plugin]);
    const headers = { 'x-tier': 'gold', cookie: 'session=1', 'x-api-key': 'sk-1' };
    await post(ask, headers);
    await call('POST', '/chat/completions/explain', { ...ask, model: 'acme/fast:local' }, headers);
    expect(seen).toEqual(Array(2).fill(['gold', null, null, null, null]));
  });
});

describe('a citation of a plugin of the host app', () => {
  const url_citation = { url: 'https://a.test/', title: 'A', start_index: 0, end_index: 5 };
  const citing = definePlugin({
    id: 'citing',
    isDefault: true,
    steps: ({ addAnnotations }) => [
      {
        push(chunk) {
          if (chunk.choices[0]?.finish_reason) addAnnotations([{ type: 'url_citation', url_citation }]);
          return [chunk];
        },
      },
    ],
  });

  it('comes to its text where a call stands behind it, in a stream of Responses', async () => {
    const test = gatewayWith([citing]);
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
    const chunks = [chunk({ content: 'Hello' }), chunk({ tool_calls: [call] }), chunk({}, 'tool_calls')];
    test.upstream.always({ body: [...chunks.map((one) => sse(one)), 'data: [DONE]\n\n'] });
    const tools = [{ type: 'function', name: 'look', parameters: {} }];
    const { final } = checkResponsesStream((await streamResponses(test, { tools })).text);
    expect(final.output).toMatchObject([
      { type: 'message', content: [{ text: 'Hello', annotations: [{ url: 'https://a.test/', end_index: 5 }] }] },
      { type: 'function_call', name: 'look' },
    ]);
  });
});

describe('what a plugin of the host app declares', () => {
  const build = (...plugins: Partial<Plugin>[]) => {
    return () => testGateway({ plugins: plugins.map((one, at) => ({ id: `own-${at}`, ...one })) });
  };

  it('may fail closed: it is then never skipped', () => {
    expect(build({ failsClosed: true })).not.toThrow();
    for (const one of [{ failsClosed: true }, moderation()])
      expect(build({ ...one, onError: 'skip' })).toThrow(/plugins\[0\]\.onError.*expected "fail"/s);
  });
  it.each([
    [/plugins\[0\]\.variant/, { variant: 'nitro' }],
    [/plugins\[0\]\.variant/, { variant: 'a:b' }],
    [/plugins\[0\]\.variant/, { variant: '' }],
    [/plugins\[0\]\.variant/, { variant: 'constructor '.repeat(5) }],
    [/plugins\[0\]\.strategy/, { strategy: 'best' as never }],
  ])('is refused with %s for %j', (message, plugin) => {
    expect(build(plugin)).toThrow(message);
  });
  it('is refused where two have one variant', () => {
    expect(build({ variant: 'local' }, { variant: 'local' })).toThrow(/plugins\[1\]\.variant.*no other plugin/s);
    expect(build({ variant: 'constructor' }, web())).not.toThrow();
  });
  it('is listed as dropped where it has nothing to do, and nobody has read its settings', async () => {
    const { post } = gatewayWith([definePlugin({ id: 'settings' })]);
    const { json } = await post({ ...ask, plugins: [{ id: 'settings' }] }, metadata);
    expect(json.service_metadata).toMatchObject({ dropped: ['plugins[].settings'] });
  });
  it('is named in the error of a search that nothing can make', async () => {
    const plugin = definePlugin({
      id: 'look-up',
      async before(request, { search }) {
        await search({ query: 'bananas' });
        return request;
      },
    });
    const { post } = gatewayWith([plugin]);
    const { status, json } = await post({ ...ask, plugins: [{ id: 'look-up' }] });
    expect([status, json.error.metadata?.plugin]).toEqual([400, 'look-up']);
  });
});
