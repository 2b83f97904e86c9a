import { afterEach, describe, expect, it } from 'vitest';
import { sqliteStore } from '../../adapters/sqlite/sqlite.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { hello, type TestGateway, testGateway } from '../support/gateway.ts';
import { newSqliteFile } from '../support/race/stores.ts';
import { completion, errorBody, type ScriptedAnswer, sse } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello };
const once = { retry: { maxAttempts: 1 }, health: { failuresToCooldown: 5, cooldownMs: 5_000, maxCooldownMs: 8_000 } };
const broken: ScriptedAnswer = { status: 500, body: errorBody('Broken') };
const works: ScriptedAnswer = { body: completion() };

/** A gateway whose host app names the workspace of a request in a header. */
function tenants(options: Partial<GatewayOptions> = {}) {
  const tested = testGateway({
    ...once,
    authenticate: (request) => ({
      permissions: ['inference', 'management'],
      workspaceId: request.headers.get('x-tenant') ?? 'nobody',
    }),
    ...options,
  });
  const post = (tenant: string, body: object = ask) => tested.post(body, { 'x-tenant': tenant });
  /** Requests of a tenant that all are answered so. @returns their statuses */
  const all = async (tenant: string, answer: ScriptedAnswer, count: number, body: object = ask) => {
    const statuses: number[] = [];
    for (let n = 0; n < count; n++) {
      tested.upstream.always(answer);
      statuses.push((await post(tenant, body)).status);
    }
    return statuses;
  };
  const statusOf = async (tenant: string, body: object = ask) => {
    tested.upstream.always(works);
    return (await post(tenant, body)).status;
  };
  return { ...tested, post, all, statusOf };
}

/** What one tenant’s request can provoke. */
const provoked: [string, ScriptedAnswer, object?][] = [
  ['500', broken],
  ['a body that is none', { body: '<p>' }],
  ['an error in a 200', { body: '{"error":{"message":"oops"}}' }],
  ['403', { status: 403, body: errorBody('Forbidden') }],
  ['402', { status: 402, body: errorBody('Fewer tokens, or more credits') }],
  ['a long pause', { status: 429, body: errorBody('Too large'), headers: { 'retry-after': '3600' } }],
  ['a stream that breaks', { body: [sse({ choices: [{ index: 0, delta: { content: 'Hi' } }] })] }, { stream: true }],
  ['a reset', { body: [{ breaks: true }] }],
];

describe('what one workspace provokes', () => {
  it.each(provoked)('takes the endpoint from nobody else: %s', async (_, answer, fields) => {
    const { all, statusOf, call } = tenants();
    const statuses = await all('attacker', answer, 20, { ...ask, ...fields });
    // It does leave the endpoint alone for itself.
    expect(statuses.at(-1)).toBe(503);
    expect(await statusOf('attacker')).toBe(503);
    expect(await statusOf('victim')).toBe(200);
    const { data } = (await call('GET', '/models/acme/fast/endpoints', undefined, { 'x-tenant': 'victim' })).json;
    expect(data.endpoints[0].status).toBe('default');
  });
  it('moves nobody else to a dearer endpoint', async () => {
    const { upstream, all, post } = tenants({ random: () => 0.1 });
    await all('attacker', broken, 4, {
      ...ask,
      model: 'acme/pair',
      provider: { order: ['up'], allow_fallbacks: false },
    });
    upstream.always(works);
    expect((await post('victim', { ...ask, model: 'acme/pair' })).json.provider).toBe('Up');
    expect((await post('attacker', { ...ask, model: 'acme/pair' })).json.provider).toBe('Alt');
  });
  it('does not hold the endpoint down for others once it was down for all', async () => {
    const { all, statusOf, clock, upstream } = tenants();
    await all('attacker', broken, 3);
    await all('victim', broken, 2);
    expect(await statusOf('other')).toBe(503);
    await clock.advance(5_000);
    // It has one turn. The endpoint is then tried by the next, at once.
    expect(await all('attacker', broken, 3)).toEqual([502, 503, 503]);
    expect(await statusOf('victim')).toBe(200);
    expect(await statusOf('other')).toBe(200);
    expect(upstream.sent).toHaveLength(8);
  });
});

describe('what two workspaces meet', () => {
  it('leaves the endpoint alone for all, neither of them counting for more than half', async () => {
    const { all, statusOf, clock } = tenants();
    await all('one', broken, 5);
    await all('two', broken, 1);
    expect(await statusOf('three')).toBe(200);
    await all('one', broken, 5);
    await clock.advance(8_000);
    await all('one', broken, 1);
    await all('two', broken, 2);
    expect(await statusOf('three')).toBe(503);
    await clock.advance(5_000);
    expect(await statusOf('three')).toBe(200);
    expect(await statusOf('two')).toBe(200);
  });
  it('of many, is enough with one failure each', async () => {
    const { all, statusOf } = tenants();
    for (const tenant of ['a', 'b', 'c', 'd']) await all(tenant, broken, 1);
    expect(await statusOf('f')).toBe(200);
    for (const tenant of ['a', 'b', 'c', 'd', 'e']) await all(tenant, broken, 1);
    expect(await statusOf('f')).toBe(503);
  });
  it('leaves the endpoint alone for longer when two more attempts fail', async () => {
    const { all, statusOf, clock } = tenants();
    await all('one', broken, 3);
    await all('two', broken, 2);
    await clock.advance(5_000);
    expect([await all('one', broken, 1), await all('two', broken, 1)]).toEqual([[502], [502]]);
    expect(await statusOf('three')).toBe(503);
    await clock.advance(8_000);
    expect(await statusOf('three')).toBe(200);
  });
  it('of a pause, holds for all until the earlier of the two ends', async () => {
    const { all, statusOf, clock } = tenants();
    const pause = (seconds: number): ScriptedAnswer => ({
      status: 429,
      body: errorBody('Slow down'),
      headers: { 'retry-after': String(seconds) },
    });
    await all('one', pause(60), 1);
    expect(await statusOf('three')).toBe(200);
    await all('two', pause(30), 1);
    // A success since the first pause began says that it was not for all.
    expect(await statusOf('three')).toBe(200);
    await clock.advance(60_000);
    await all('one', pause(60), 1);
    await all('two', pause(30), 1);
    expect([await statusOf('three'), await statusOf('two')]).toEqual([503, 503]);
    await clock.advance(30_000);
    expect([await statusOf('three'), await statusOf('two'), await statusOf('one')]).toEqual([200, 200, 503]);
  });
});

describe('what no request can provoke', () => {
  it.each<[string, ScriptedAnswer, number]>([
    ['a connection that is refused, five times', { instead: 'refuse' }, 5],
    ['an unknown credential of the operator', { status: 401, body: errorBody('No such key') }, 1],
  ])('leaves the endpoint alone for all: %s', async (_, answer, count) => {
    const { all, statusOf } = tenants();
    await all('one', answer, count);
    expect(await statusOf('two')).toBe(503);
  });
});

describe('a refusal of the content', () => {
  const refusals: [string, ScriptedAnswer, number][] = [
    ['403', { status: 403, body: errorBody('Content violates usage guidelines. Team: t-1, API key ID: k-1') }, 403],
    ['403 of a router', { status: 403, body: errorBody('Your input was flagged for violence') }, 403],
    ['400', { status: 400, body: errorBody('The response was filtered', 'content_filter') }, 400],
    ['422', { status: 422, body: errorBody('Input data may contain inappropriate content.') }, 400],
    ['500 with a code', { status: 500, body: errorBody('No', 'content_filter') }, 400],
    ['a 200', { body: '{"error":{"message":"Content Exists Risk"}}' }, 400],
  ];
  it.each(refusals)('is the caller’s, and counts for no cooldown: %s', async (_, answer, status) => {
    const { all, statusOf, post, upstream } = tenants({ retry: { maxAttempts: 5 } });
    expect(new Set(await all('one', answer, 6))).toEqual(new Set([status]));
    expect(upstream.sent).toHaveLength(6);
    const { json, text } = await post('one');
    expect(json.error.metadata?.error_type).toBe('content_policy_violation');
    expect(text).not.toMatch(/t-1|k-1/);
    expect([await statusOf('one'), await statusOf('two')]).toEqual([200, 200]);
  });
  it('in a stream is too', async () => {
    const { all, statusOf } = tenants();
    const error = sse({ error: { code: 'content_filter', message: 'No' } });
    const body = [sse({ choices: [{ index: 0, delta: { content: 'Hi' } }] }), error];
    await all('one', { body }, 6, { ...ask, stream: true });
    expect(await statusOf('one')).toBe(200);
  });
  it('with a pause does not make the endpoint pause', async () => {
    const { all, statusOf } = tenants();
    const body = errorBody('No', 'content_filter');
    await all('one', { status: 400, body, headers: { 'retry-after': '3600' } }, 1);
    expect(await statusOf('one')).toBe(200);
  });
  it('is not one where the provider has closed the operator’s account', async () => {
    const { all, statusOf } = tenants();
    const closed = { status: 403, body: errorBody('Your account was suspended: it violates our usage policies') };
    expect(await all('one', closed, 1)).toEqual([502]);
    expect([await statusOf('one'), await statusOf('two')]).toEqual([503, 200]);
  });
});

describe('instances on one store', () => {
  const endings: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of endings.splice(0).reverse()) await end();
  });

  async function instances() {
    const place = await newSqliteFile();
    endings.push(place.clear);
    return [1, 2].map(() => {
      const store = sqliteStore({ path: place.at.path });
      const made = tenants({ store });
      endings.push(async () => {
        await made.run(made.gateway.close());
        await store.disconnect();
      });
      return made;
    }) as [ReturnType<typeof tenants>, ReturnType<typeof tenants>];
  }
  /** Each tells, and then hears, what the other has seen; a request makes it do so. */
  async function meet(one: ReturnType<typeof tenants>, two: ReturnType<typeof tenants>) {
    for (let round = 0; round < 2; round++) {
      for (const { clock, statusOf } of [one, two] as (TestGateway & typeof one)[]) {
        await statusOf('somebody', { ...ask, model: 'acme/other' });
        await clock.advance(2_000);
      }
    }
  }

  it('leave an endpoint alone for the workspace alone that met its failures elsewhere', async () => {
    const [one, two] = await instances();
    await one.all('attacker', { status: 403, body: errorBody('No') }, 5);
    await meet(one, two);
    expect([await two.statusOf('attacker'), await two.statusOf('victim')]).toEqual([503, 200]);
  });
  it('leave it alone for all when each has met it with another workspace', async () => {
    const [one, two] = await instances();
    const refused = { status: 403, body: errorBody('No') };
    await one.all('one', refused, 1);
    await two.all('two', refused, 1);
    await meet(one, two);
    expect([await one.statusOf('three'), await two.statusOf('three')]).toEqual([503, 503]);
  });
});
