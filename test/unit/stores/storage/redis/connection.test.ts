import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RedisAdapter, RedisClient, RedisCommandOptions } from '../../../../../src/stores/storage/redis/client.ts';
import { connectRedis, createScript } from '../../../../../src/stores/storage/redis/connection.ts';

afterEach(() => vi.restoreAllMocks());

const script = createScript('return 1');

/** A client that is connected, and notes the limits it is given. */
function connected() {
  const limits: RedisCommandOptions[] = [];
  const sent: RedisCommandOptions[] = [];
  const scripting = (options: RedisCommandOptions) => ({
    evalSha: async () => void sent.push(options),
    eval: async () => undefined,
  });
  const client = {
    isOpen: true,
    isReady: true,
    on: () => undefined,
    withCommandOptions(options: RedisCommandOptions) {
      limits.push(options);
      return scripting(options);
    },
  } as unknown as RedisClient;
  return { client, limits, sent };
}

function adapterOf(client: RedisClient): { client: RedisClient } & RedisAdapter {
  return { client, createKeyPrefix: (key) => key };
}

/** Signals that abort when they are told to, in the order they were asked for. */
function manualTimeouts() {
  const asked: { ms: number; abort(): void }[] = [];
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const controller = new AbortController();
    asked.push({ ms, abort: () => controller.abort() });
    return controller.signal;
  });
  return asked;
}

describe('how long a command may wait to be sent', () => {
  it('is limited by a signal that the commands of a second have together', async () => {
    const asked = manualTimeouts();
    const { client, limits, sent } = connected();
    const redis = connectRedis(adapterOf(client));
    for (let at = 0; at < 3; at++) await redis.run(script, ['{a}:b'], []);
    expect(limits).toEqual([{ timeout: undefined, abortSignal: expect.any(AbortSignal) }]);
    expect(sent).toEqual([limits[0], limits[0], limits[0]]);
    expect(asked.map(({ ms }) => ms).sort((a, b) => a - b)).toEqual([1_000, 5_000]);
  });
  it('is as long for those of the next second', async () => {
    const asked = manualTimeouts();
    const { client, limits, sent } = connected();
    const redis = connectRedis(adapterOf(client));
    await redis.run(script, ['{a}:b'], []);
    asked.find(({ ms }) => ms === 1_000)?.abort();
    await redis.run(script, ['{a}:b'], []);
    expect(sent[1]).toBe(limits[1]);
    expect(limits[1]?.abortSignal).not.toBe(limits[0]?.abortSignal);
    expect(limits.map(({ abortSignal }) => abortSignal.aborted)).toEqual([false, false]);
    expect(asked.map(({ ms }) => ms).filter((ms) => ms === 5_000)).toHaveLength(2);
  });
  it('is told to a client that has taken the place of another', async () => {
    const [before, after] = [connected(), connected()];
    const adapter = adapterOf(before.client);
    const redis = connectRedis(adapter);
    await redis.run(script, ['{a}:b'], []);
    Object.assign(adapter, { client: after.client });
    await redis.run(script, ['{a}:b'], []);
    expect([before.sent.length, after.sent.length]).toEqual([1, 1]);
  });
});
