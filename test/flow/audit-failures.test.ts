import { expect, it } from 'vitest';
import { GatewayError } from '../../src/base/errors.ts';
import { operations } from '../../src/operations/index.ts';
import { operator } from '../../src/setup/in-process.ts';

it('an audit log that cannot be written lets nothing be changed', async () => {
  let created = 0;
  const deps = {
    brand: 'gateway',
    bounds: {},
    pipeline: {},
    byokProviders: new Map(),
    workspaces: { create: async () => void created++ },
    clock: { now: () => 0 },
    auditLog: {
      append: async () => {
        throw new GatewayError('unavailable', 'The store is out of reach');
      },
    },
    onAudit: null,
    auditFailed() {},
  };
  const create = operations(deps as never).find(({ name }) => name === 'createWorkspace');
  const input = { body: { name: 'W', slug: 'w' }, query: {}, params: {}, headers: new Headers(), caller: operator };
  await expect(create?.run(input as never)).rejects.toMatchObject({ status: 503 });
  expect(created).toBe(0);
});
