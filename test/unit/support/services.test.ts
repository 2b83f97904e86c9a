import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isPostgres, isRedis } from '../../support/ask.ts';
import { describeWithPostgres, describeWithRedis, postgresFolder, redisProgram } from '../../support/services.ts';
import { startPostgres, startRedis } from '../../support/start-service.ts';

describeWithRedis('Redis for tests', (url) => {
  it('answers', async () => {
    expect(await url()).toMatch(/^rediss?:\/\/./);
  });
});

describeWithPostgres('PostgreSQL for tests', (url) => {
  it('answers', async () => {
    expect(await url()).toMatch(/^postgres(ql)?:\/\/./);
  });
});

describe('a server of a test’s own', () => {
  it.skipIf(redisProgram === null)('is a Redis that answers until it is stopped, and leaves nothing', async () => {
    const { port, folder, stop } = await startRedis(redisProgram!, { settings: ['--maxmemory', '50mb'] });
    expect(await isRedis(port)).toBe(true);
    await stop();
    expect(await isRedis(port)).toBe(false);
    expect(existsSync(folder)).toBe(false);
  });
  it.skipIf(postgresFolder === null)(
    'is a PostgreSQL that ends also when it is paused',
    { timeout: 30_000 },
    async () => {
      const { port, folder, pid, stop } = await startPostgres(postgresFolder!);
      expect(await isPostgres(port, 'postgres', 'postgres')).toBe(true);
      process.kill(pid, 'SIGSTOP');
      await stop();
      expect(await isPostgres(port, 'postgres', 'postgres')).toBe(null);
      expect(existsSync(folder)).toBe(false);
    },
  );
  it.skipIf(redisProgram === null)('that does not start says why', async () => {
    await expect(startRedis(redisProgram!, { settings: ['--no-such-setting', '1'] })).rejects.toThrow(
      'no-such-setting',
    );
  });
});
