import { describe, expect, it } from 'vitest';
import { brittleStore, type Fault } from '../support/brittle-store.ts';
import { tenantGateway } from '../support/tenant-gateway.ts';

/** A gateway over a store that fails when told to. */
function open() {
  const { state, entries, store } = brittleStore();
  return {
    ...tenantGateway({ store }),
    entries,
    fail: (how: Fault | null) => {
      state.fault = how;
    },
  };
}

const workspace = '/workspaces/acme';
const all: [string, string, object?][] = [
  ['POST', '/workspaces', { name: 'New', slug: 'new' }],
  ['GET', '/workspaces'],
  ['GET', workspace],
  ['PATCH', workspace, { name: 'New' }],
  ['DELETE', workspace],
  ['GET', `${workspace}/budgets`],
  ['GET', `${workspace}/budgets/daily`],
  ['PUT', `${workspace}/budgets/daily`, { limit_usd: 2 }],
  ['DELETE', `${workspace}/budgets/daily`],
  ['POST', '/keys', { name: 'New' }],
  ['GET', '/keys'],
  ['GET', '/keys/:hash'],
  ['PATCH', '/keys/:hash', { disabled: true }],
  ['DELETE', '/keys/:hash'],
  ['GET', '/key'],
];

describe('while the store is away', () => {
  it.each(all)('says so, and changes nothing: %s %s', async (method, path, body) => {
    const { manage, workspace: make, key, fail, entries, call } = open();
    await make('acme');
    await manage('PUT', `${workspace}/budgets/daily`, { limit_usd: 1 });
    const { hash } = await key();
    const before = JSON.stringify([...entries]);
    const named = path.replace(':hash', hash);
    for (const how of [
      () => Promise.reject(new Error('connection to redis://user:secret@10.0.0.1 lost')),
      () => new Promise<never>(() => undefined),
    ]) {
      fail(how);
      // It moves the clock as far as the store's time limit.
      const refused = await call(method, named, body);
      expect(refused.status).toBe(503);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(refused.text).not.toMatch(/secret|redis/);
    }
    expect(JSON.stringify([...entries])).toBe(before);
    fail(null);
    expect((await call(method, named, body)).status).toBeLessThan(300);
  });
});
