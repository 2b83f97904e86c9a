import { randomUUID } from 'node:crypto';
import { KeyvPostgres } from '@keyv/postgres';
import KeyvRedis from '@keyv/redis';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createReadiness } from '../../../src/setup/readiness.ts';
import { chooseStorage } from '../../../src/stores/storage/choose.ts';
import { guardStorage } from '../../../src/stores/storage/guard.ts';
import { command } from '../../support/redis-cluster.ts';
import { describeWithOwnPostgres, describeWithOwnRedis } from '../../support/services.ts';
import { startPostgres, startRedis } from '../../support/start-service.ts';
import { limited, newWorkspace } from './ledger.ts';

/** What the log says and `/readyz` gives as its reason, after a probe and a hold. */
async function saidOf(store: object): Promise<{ lines: string; reasons: string; close(): Promise<void> }> {
  const lines: string[] = [];
  const note = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const logger = { info: note, warn: note };
  const settings = { clock: systemClock, timeoutMs: 5_000, logger };
  const storage = guardStorage(chooseStorage(store, { ...settings, onLostHold: 'charge' }), settings);
  const at = { partition: 'p', kind: 'thing', id: 'any' };
  const readiness = createReadiness({ ping: async () => void (await storage.get(at)) }, { isLoaded: () => true });
  const hold = () =>
    storage.ledger.hold({
      id: randomUUID(),
      workspaceId: newWorkspace(),
      amountNanoUsd: 1,
      windows: [limited('daily', 10)],
      leaseMs: 1_000,
    });
  // More than it takes until calls are no longer made.
  for (let n = 0; n < 8; n++) await hold().catch(() => {});
  const { reasons } = await readiness.look();
  return { lines: lines.join('\n'), reasons: reasons.join(), close: () => storage.close() };
}

describeWithOwnRedis('a Redis that refuses', (program) => {
  it('a password: the log and the readiness say so, without the password', { timeout: 30_000 }, async () => {
    const server = await startRedis(program);
    try {
      await command(server, ['CONFIG', 'SET', 'requirepass', 'right-hunter2']);
      const store = new KeyvRedis(`redis://:wrong-hunter2@127.0.0.1:${server.port}`);
      const said = await saidOf(store);
      expect(said.lines).toContain('WRONGPASS invalid username-password pair');
      expect(said.reasons).toContain('WRONGPASS invalid username-password pair');
      expect(said.lines + said.reasons).not.toContain('hunter2');
      await said.close();
    } finally {
      await server.stop();
    }
  });
  it('writes, since its memory is full: the log says so, and reads are served', { timeout: 30_000 }, async () => {
    const server = await startRedis(program, { settings: ['--maxmemory', '1'] });
    try {
      const said = await saidOf(new KeyvRedis(server.url));
      expect(said.lines).toMatch(/store refused a call .*"operation":"hold".*OOM command not allowed/);
      expect(said.reasons).toBe('');
      await said.close();
    } finally {
      await server.stop();
    }
  });
});

describeWithOwnPostgres('a PostgreSQL that refuses', (programs) => {
  it('a user: the log and the readiness say so, without the password', { timeout: 60_000 }, async () => {
    const server = await startPostgres(programs);
    try {
      const uri = `postgres://nobody:hunter2@127.0.0.1:${server.port}/postgres`;
      const store = new KeyvPostgres({ uri, schema: 'public' });
      store.on('error', () => {});
      const said = await saidOf(store);
      expect(said.lines).toContain('role \\"nobody\\" does not exist');
      expect(said.reasons).toContain('role "nobody" does not exist');
      expect(said.lines + said.reasons).not.toContain('hunter2');
      await said.close();
    } finally {
      await server.stop();
    }
  });
});
