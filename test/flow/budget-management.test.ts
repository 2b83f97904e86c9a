import { describe, expect, it } from 'vitest';
import { intervals } from '../../src/base/windows.ts';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import { hello, testKey } from '../support/gateway.ts';
import { tenantGateway } from '../support/tenant-gateway.ts';
import { completion } from '../support/upstream.ts';

const now = '2026-01-01T00:00:00.000Z';
const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const noWorkspace = 'There is no workspace with this id or slug';
const noInterval = 'There is no such budget; its interval is one of daily, weekly, monthly, lifetime';

/** The first of January 2026 is a Thursday. */
const ends = {
  daily: '2026-01-02T00:00:00.000Z',
  weekly: '2026-01-05T00:00:00.000Z',
  monthly: '2026-02-01T00:00:00.000Z',
  lifetime: null,
};

describe('PUT /workspaces/{id}/budgets/{interval}', () => {
  it.each(intervals)('makes a %s budget, with the fields of the contract, and what is left', async (interval) => {
    const { manage } = tenantGateway();
    const made = await manage('PUT', `/workspaces/default/budgets/${interval}`, { limit_usd: 12.5 });
    expect(made.status).toBe(200);
    expect(made.json).toEqual({
      data: {
        id: uuid,
        workspace_id: defaultWorkspaceId,
        limit_usd: 12.5,
        reset_interval: interval,
        spent_usd: 0,
        held_usd: 0,
        remaining_usd: 12.5,
        overspent_usd: 0,
        resets_at: ends[interval],
        created_at: now,
        updated_at: now,
      },
    });
    expect((await manage('GET', `/workspaces/default/budgets/${interval}`)).json).toEqual(made.json);
    expect((await manage('GET', '/workspaces/default/budgets')).json).toEqual({ data: [made.json.data] });
  });
  it('changes the one that is there: id and creation stay', async () => {
    const { manage, clock } = tenantGateway();
    const { json: made } = await manage('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
    await clock.advance(1000);
    const changed = await manage('PUT', `/workspaces/${defaultWorkspaceId}/budgets/daily`, { limit_usd: 2 });
    const expected = { ...made.data, limit_usd: 2, remaining_usd: 2, updated_at: '2026-01-01T00:00:01.000Z' };
    expect([changed.status, changed.json]).toEqual([200, { data: expected }]);
    expect((await manage('GET', '/workspaces/default/budgets')).json.data).toEqual([expected]);
  });
  it.each([1e-9, 0.1, 0.30000000000000004, 100, 9_000_000])('takes a limit of %d USD', async (limit_usd) => {
    const { manage } = tenantGateway();
    const made = await manage('PUT', '/workspaces/default/budgets/daily', { limit_usd });
    expect(made.status).toBe(200);
    expect(made.json.data.limit_usd).toBeCloseTo(limit_usd, 12);
    expect(made.json.data.limit_usd).toBeLessThanOrEqual(limit_usd);
  });
  it.each<[string, unknown, string]>([
    ['0', { limit_usd: 0 }, 'limit_usd: expected more than 0'],
    ['less', { limit_usd: -0.01 }, 'limit_usd: expected more than 0'],
    ['less than a nano-dollar', { limit_usd: 9e-10 }, 'limit_usd: expected at least 1e-9'],
    ['more than can be counted exactly', { limit_usd: 9_000_000.01 }, 'limit_usd: expected at most 9000000'],
    ['no finite number', '{"limit_usd":1e999}', 'limit_usd: expected number'],
    ['a text', { limit_usd: '5' }, 'limit_usd: expected number'],
    ['null', { limit_usd: null }, 'limit_usd: expected number'],
    ['missing', {}, 'limit_usd: expected number'],
    ['misspelt', { limit: 5, limit_usd: 5 }, 'limit: unknown key "limit"'],
  ])('refuses a limit that is %s, and keeps what was', async (_, body, message) => {
    const { manage } = tenantGateway();
    await manage('PUT', '/workspaces/default/budgets/daily', { limit_usd: 3 });
    const refused = await manage('PUT', '/workspaces/default/budgets/daily', body);
    expect([refused.status, refused.json.error.message]).toEqual([400, message]);
    expect((await manage('GET', '/workspaces/default/budgets/daily')).json.data.limit_usd).toBe(3);
  });
  it('ties no limit to another', async () => {
    const { manage } = tenantGateway();
    const limits = { daily: 100, weekly: 10, monthly: 10, lifetime: 1 };
    for (const [interval, limit_usd] of Object.entries(limits)) {
      expect((await manage('PUT', `/workspaces/default/budgets/${interval}`, { limit_usd })).status).toBe(200);
    }
  });
  it('loses none of several at once', async () => {
    const { manage } = tenantGateway();
    const bodies = intervals.flatMap((interval, at) => [1, 2, 3].map((n) => [interval, at * 10 + n] as const));
    const put = await Promise.all(
      bodies.map(([interval, limit_usd]) => manage('PUT', `/workspaces/default/budgets/${interval}`, { limit_usd })),
    );
    expect(new Set(put.map(({ status }) => status))).toEqual(new Set([200]));
    const { json } = await manage('GET', '/workspaces/default/budgets');
    expect(json.data.map((budget: { reset_interval: string }) => budget.reset_interval)).toEqual(intervals);
    for (const [at, { id, limit_usd }] of json.data.entries()) {
      expect([1, 2, 3]).toContain(limit_usd - at * 10);
      // All puts of an interval were of one budget.
      const ids = put.flatMap(({ json: { data } }) => (data.reset_interval === intervals[at] ? [data.id] : []));
      expect(new Set(ids)).toEqual(new Set([id]));
    }
  });
  it('holds from the next request on, and what was spent stays spent', async () => {
    const { manage, post, upstream } = tenantGateway();
    upstream.always({ body: completion() });
    const ask = { model: 'acme/fast', messages: hello, max_tokens: 10 };
    const put = (limit_usd: number) => manage('PUT', '/workspaces/default/budgets/daily', { limit_usd });
    expect((await post(ask)).status).toBe(200);
    await put(0.000001);
    expect((await post(ask)).status).toBe(402);
    await put(1);
    const answer = await post(ask);
    expect(answer.status).toBe(200);
    const cost = Number(answer.json.usage?.cost);
    expect(cost).toBeGreaterThan(0);
    await put(cost);
    const refused = await post(ask);
    expect(refused.status).toBe(402);
    // Of the request before the first budget as well.
    expect(refused.json.error.metadata).toMatchObject({ interval: 'daily', limit_usd: cost, spent_usd: 2 * cost });
    await manage('DELETE', '/workspaces/default/budgets/daily');
    expect((await post(ask)).status).toBe(200);
  });
});

describe('GET /workspaces/{id}/budgets', () => {
  it('lists from the narrowest interval to the broadest, by id and by slug', async () => {
    const { manage, workspace } = tenantGateway();
    const id = await workspace('acme');
    for (const interval of intervals.toReversed()) {
      await manage('PUT', `/workspaces/acme/budgets/${interval}`, { limit_usd: 1 });
    }
    for (const name of ['acme', id]) {
      const { json } = await manage('GET', `/workspaces/${name}/budgets`);
      expect(json.data.map((budget: { reset_interval: string }) => budget.reset_interval)).toEqual(intervals);
      expect(new Set(json.data.map((budget: { workspace_id: string }) => budget.workspace_id))).toEqual(new Set([id]));
    }
  });
  it('lists none where there is none', async () => {
    const { manage } = tenantGateway();
    expect((await manage('GET', '/workspaces/default/budgets')).json).toEqual({ data: [] });
    const missing = await manage('GET', '/workspaces/default/budgets/daily');
    expect([missing.status, missing.json.error.message]).toEqual([404, 'The workspace has no daily budget']);
  });
});

describe('DELETE /workspaces/{id}/budgets/{interval}', () => {
  it('deletes it alone, and answers alike where there is none', async () => {
    const { manage } = tenantGateway();
    await manage('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
    await manage('PUT', '/workspaces/default/budgets/weekly', { limit_usd: 1 });
    for (let round = 0; round < 2; round++) {
      const deleted = await manage('DELETE', '/workspaces/default/budgets/daily');
      expect([deleted.status, deleted.json]).toEqual([200, { deleted: true }]);
      const { json } = await manage('GET', '/workspaces/default/budgets');
      expect(json.data).toMatchObject([{ reset_interval: 'weekly' }]);
    }
  });
});

describe('budgets', () => {
  const body = { limit_usd: 1 };
  const all: [string, string, object?][] = [
    ['GET', '/budgets'],
    ['GET', '/budgets/daily'],
    ['PUT', '/budgets/daily', body],
    ['DELETE', '/budgets/daily'],
  ];
  it.each(all)('of an unknown workspace are not there: %s %s', async (method, path, given) => {
    const { manage } = tenantGateway();
    for (const name of ['acme', crypto.randomUUID(), 'A', '%00']) {
      const refused = await manage(method, `/workspaces/${name}${path}`, given);
      expect([refused.status, refused.json.error.message]).toEqual([404, noWorkspace]);
    }
  });
  it.each(['GET', 'PUT', 'DELETE'])('of another interval are not there: %s', async (method) => {
    const { manage } = tenantGateway();
    for (const interval of ['yearly', 'DAILY', 'null', 'constructor', 'day%2Fly', '0']) {
      const path = `/workspaces/default/budgets/${interval}`;
      const refused = await manage(method, path, method === 'PUT' ? body : undefined);
      expect([refused.status, refused.json.error.message]).toEqual([404, noInterval]);
    }
  });
  it.each(all)('need the permission to manage: %s %s', async (method, path, given) => {
    const { manage } = tenantGateway();
    const statuses = [];
    for (const key of [testKey, 'sk-unknown-key', null])
      statuses.push((await manage(method, `/workspaces/default${path}`, given, key)).status);
    expect(statuses).toEqual([403, 401, 401]);
    expect((await manage('GET', '/workspaces/default/budgets')).json.data).toEqual([]);
  });
  it.each([
    ['POST', '/workspaces/default/budgets'],
    ['POST', '/workspaces/default/budgets/daily'],
    ['PATCH', '/workspaces/default/budgets/daily'],
  ])('know no %s %s', async (method, path) => {
    expect((await tenantGateway().manage(method, path, {})).status).toBe(405);
  });
});

describe('a budget that is read', () => {
  it('says what is spent, what is held, what is left and until when', async () => {
    const tested = tenantGateway();
    await tested.manage('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
    await tested.manage('PUT', '/workspaces/default/budgets/lifetime', { limit_usd: 5 });
    tested.upstream.answer({ body: completion() }, { instead: 'hang' });
    const ask = { model: 'acme/fast', messages: hello, max_tokens: 1_000 };
    const { json } = await tested.post(ask, { authorization: `Bearer ${testKey}` });
    const left = tested.send(ask);
    left.catch(() => undefined);
    await tested.clock.advance(0);
    const { data } = (await tested.manage('GET', '/workspaces/default/budgets')).json;
    const [daily, lifetime] = data;
    expect(daily).toMatchObject({ spent_usd: json.usage?.cost, resets_at: ends.daily });
    expect(lifetime).toMatchObject({ spent_usd: json.usage?.cost, resets_at: null });
    expect(daily.held_usd).toBeGreaterThan(0.008);
    expect(daily.spent_usd + daily.held_usd + daily.remaining_usd).toBeCloseTo(1, 9);
    expect(lifetime.remaining_usd).toBeCloseTo(daily.remaining_usd + 4, 9);
    await tested.manage('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.000001 });
    const lowered = (await tested.manage('GET', '/workspaces/default/budgets/daily')).json.data;
    expect([lowered.remaining_usd, daily.overspent_usd]).toEqual([0, 0]);
    expect(lowered.overspent_usd).toBeCloseTo(daily.spent_usd - 0.000001, 9);
    await tested.gateway.close();
  });
});
