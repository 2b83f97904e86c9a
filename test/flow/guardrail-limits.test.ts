// Loaded beforehand: a guardrail loads it when it is first needed, which takes time that a manual clock knows nothing of.
import 're2js';
import { describe, expect, it } from 'vitest';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { builtinSlugs } from '../../src/schema/tenants/guardrail.ts';
import { checkError, hello, type TestGateway, testGateway } from '../support/gateway.ts';
import { completion, textStream } from '../support/upstream.ts';

const metadata = { 'x-service-metadata': 'enabled' };

function gatewayOn(limits: GatewayOptions['limits'] = {}, options: Partial<GatewayOptions> = {}): TestGateway {
  const test = testGateway({ limits, ...options });
  test.upstream.always({ body: completion() });
  return test;
}

const regex = (pattern: string, more: object = {}) => ({ pattern, type: 'regex', action: 'block', ...more });
const make = (test: TestGateway, fields: object) => test.call('POST', '/guardrails', { name: 'G', ...fields });
const assign = (test: TestGateway, id: string) =>
  test.call('POST', `/guardrails/${id}/assignments/workspaces`, { workspace_ids: [defaultWorkspaceId] });

describe('the expressions of guardrails in the store', () => {
  it.each<[string, GatewayOptions['limits'], object[], RegExp]>([
    ['one expression', {}, [regex('[ab]*a[ab]{900}c')], /content_filters\[0\].*too large.*steps.*limit is 150000/],
    ['one with a long match', {}, [regex('a{60}', { max_length: 4096 })], /too large.*limit is 150000/],
    ['one, by the option', { expressionSteps: 1_000 }, [regex('a{60}')], /limit is 1000/],
    [
      'all of a guardrail',
      { guardrailSteps: 5_000 },
      [regex('a{10}'), regex('b{10}')],
      /at most 5000 steps.*may take \d+/,
    ],
    ['look-behind', {}, [regex('(?<=a)b')], /look-around/],
  ])('are bounded: %s', async (_, limits, filters, message) => {
    const { status, json } = await make(gatewayOn(limits), { content_filters: filters });
    checkError(400, json);
    expect(status).toBe(400);
    expect(json.error.message).toMatch(message);
  });
  it('are bounded together, where they act on the same request', async () => {
    const test = gatewayOn({ imposedSteps: 10_000 });
    const ids: string[] = [];
    for (let at = 0; at < 2; at++)
      ids.push((await make(test, { content_filters: [regex('a{20}')] })).json.data.id as string);
    expect((await assign(test, ids[0] as string)).status).toBe(200);
    const { status, json } = await assign(test, ids[1] as string);
    checkError(400, json);
    expect([status, json.error.message]).toEqual([400, expect.stringMatching(/may take \d+ steps.*limit is 10000/)]);
  });
});

const assignKey = (test: TestGateway, id: string, hash: string) =>
  test.call('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [hash] });

/** A store that outlives a gateway. */
function lasting() {
  const values = new Map<string, unknown>();
  const store = {
    get: async (key: string) => values.get(key),
    set: async (key: string, value: unknown) => Boolean(values.set(key, value)),
    delete: async (key: string) => values.delete(key),
    clear: async () => values.clear(),
  };
  return { values, options: { store: store as never, storeCacheMs: 0 } };
}

describe('what acts on the requests of a key', () => {
  it('is bounded together: what acts on the key, and what acts on the workspace', async () => {
    const test = gatewayOn({ imposedSteps: 10_000 });
    const keys: string[] = [];
    for (let at = 0; at < 2; at++)
      keys.push((await test.call('POST', '/keys', { name: `k${at}` })).json.data.hash as string);
    const [first, second] = keys as [string, string];
    const ids: string[] = [];
    for (let at = 0; at < 3; at++)
      ids.push((await make(test, { content_filters: [regex('a{20}')] })).json.data.id as string);
    const [one, two, three] = ids as [string, string, string];
    expect((await assignKey(test, one, first)).status).toBe(200);
    expect((await assignKey(test, two, second)).status).toBe(200);
    const both = await assignKey(test, two, first);
    checkError(400, both.json);
    expect([both.status, both.json.error.message]).toEqual([400, expect.stringMatching(/limit is 10000/)]);
    expect((await assign(test, three)).status).toBe(400);
    const larger = { content_filters: [regex('a{20}'), regex('b{20}')] };
    expect((await test.call('PATCH', `/guardrails/${one}`, larger)).status).toBe(400);
    expect((await test.call('PATCH', `/guardrails/${three}`, larger)).status).toBe(200);
  });
  it('counts guardrails of earlier versions, which did not write their steps down', async () => {
    const { values, options } = lasting();
    const before = gatewayOn({}, options);
    const ids: string[] = [];
    for (let at = 0; at < 2; at++)
      ids.push((await make(before, { content_filters: [regex('a{20}')] })).json.data.id as string);
    expect((await assign(before, ids[0] as string)).status).toBe(200);
    let count = 0;
    for (const [key, value] of values) {
      const without = JSON.stringify(value).replaceAll(/,(\\*)"steps\1":\d+/g, () => {
        count++;
        return '';
      });
      values.set(key, JSON.parse(without));
    }
    expect(count).toBe(2);
    const now = gatewayOn({ imposedSteps: 10_000 }, options);
    expect((await assign(now, ids[1] as string)).status).toBe(400);
    // What is taken away is never too much.
    const of = { workspace_ids: [defaultWorkspaceId] };
    expect((await now.call('POST', `/guardrails/${ids[0]}/assignments/workspaces/remove`, of)).status).toBe(200);
    expect((await assign(now, ids[1] as string)).status).toBe(200);
  });
});

const notEvaluated = {
  type: 'guardrail',
  name: 'G',
  summary: 'blocked: not evaluated',
  guardrail_scope: 'workspace',
  data: { patterns: [], action: 'block' },
};

describe('a guardrail that cannot be evaluated', () => {
  it('blocks where a stored expression is larger than may be by now', async () => {
    const { options } = lasting();
    const before = gatewayOn({}, options);
    await assign(before, (await make(before, { content_filters: [regex('a{20}')] })).json.data.id);
    expect((await before.post({ model: 'acme/fast', messages: hello })).status).toBe(200);
    const { post, upstream } = gatewayOn({ expressionSteps: 1_000 }, options);
    const { status, json } = await post({ model: 'acme/fast', messages: hello }, metadata);
    checkError(403, json);
    expect([status, json.error.message]).toEqual([403, expect.stringMatching(/G cannot be evaluated.*limit is 1000/)]);
    expect([json.service_metadata?.pipeline, upstream.sent.length]).toMatchObject([[notEvaluated], 0]);
  });

  /** A gateway on which each look at the clock takes a millisecond. */
  async function slow(on: 'input' | 'output', guardrailMs: number): Promise<TestGateway> {
    const test = gatewayOn({}, { timeouts: { guardrailMs } });
    const filters = [regex('a{20}b', { applies_to: on, action: 'redact' })];
    await assign(test, (await make(test, { content_filters: filters })).json.data.id);
    let passedMs = test.clock.monotonic();
    test.clock.monotonic = () => passedMs++;
    return test;
  }
  const long = 'aaaab '.repeat(20_000);

  it('blocks a request that takes longer than it may', async () => {
    const { post, upstream } = await slow('input', 50);
    const { status, json } = await post({ model: 'acme/fast', messages: [{ role: 'user', content: long }] }, metadata);
    checkError(403, json);
    expect([status, json.error.message]).toEqual([
      403,
      expect.stringMatching(/G cannot be evaluated.*more than 50 ms/),
    ]);
    const direction = { data: { direction: 'input', reason: 'the patterns took more than 50 ms' } };
    expect(json.service_metadata?.pipeline).toMatchObject([{ ...notEvaluated, ...direction }]);
    expect(upstream.sent.length).toBe(0);
    const other = await slow('input', 100_000);
    // Without the driver of the clock, which moves it on while the work pauses.
    expect((await other.send({ model: 'acme/fast', messages: [{ role: 'user', content: long }] })).status).toBe(200);
  });
  it.each([false, true])('blocks a response that takes longer than it may (stream: %s)', async (stream) => {
    const { post, upstream } = await slow('output', 500);
    upstream.answer({ body: stream ? textStream('Hi ', long, 'end') : completion({ content: long }) });
    const { status, json, chunks, text } = await post({ model: 'acme/fast', messages: hello, stream }, metadata);
    const error = stream ? chunks.at(-1)?.error : json.error;
    expect([stream ? 200 : 403, error?.code, error?.message]).toEqual([
      status,
      403,
      expect.stringMatching(/response was blocked.*G cannot be evaluated.*more than 500 ms/),
    ]);
    expect([text.includes('not evaluated'), text.includes('"finish_reason":"stop"')]).toEqual([true, false]);
    upstream.answer({ body: stream ? textStream('Hi ', 'you') : completion({ content: 'Hi you' }) });
    expect((await post({ model: 'acme/fast', messages: hello, stream })).text).toContain('"finish_reason":"stop"');
  });
});

it.each([0, 1, 100])('a guardrail with %i filters and built-in ones acts', async (count) => {
  for (const builtins of [1, 2, builtinSlugs.length, 2 * builtinSlugs.length]) {
    const test = gatewayOn();
    const made = await make(test, {
      content_filters: Array.from({ length: count }, (_, at) => regex(`secret-${at}`)),
      content_filter_builtins: Array.from({ length: builtins }, (_, at) => ({
        slug: builtinSlugs[at % builtinSlugs.length],
        action: 'block',
      })),
    });
    expect(made.status).toBe(201);
    await assign(test, made.json.data.id);
    const passes = await test.post({ model: 'acme/fast', messages: hello });
    const blocked = await test.post({
      model: 'acme/fast',
      messages: [{ role: 'user', content: 'bob＠example.com' }],
    });
    expect([count, builtins, passes.status, blocked.status]).toEqual([count, builtins, 200, 403]);
  }
});
