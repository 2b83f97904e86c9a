import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/base/errors.ts';
import { createReadiness } from '../../../src/setup/readiness.ts';

const loaded = { isLoaded: () => true };

describe('readiness', () => {
  it('is one look at the store for probes at the same time, and a new one for the next', async () => {
    let looks = 0;
    const readiness = createReadiness({ ping: async () => void looks++ }, loaded);
    const found = await Promise.all(Array.from({ length: 50 }, () => readiness.look()));
    expect([looks, new Set(found).size, found[0]]).toEqual([1, 1, { isReady: true, reasons: [] }]);
    await readiness.look();
    expect(looks).toBe(2);
  });
  it('waits for a store that hangs, with all its probes, and looks again once that has failed', async () => {
    const pings: ((error: unknown) => void)[] = [];
    const ping = () => new Promise<void>((_, reject) => pings.push(reject));
    const readiness = createReadiness({ ping }, loaded);
    const waiting = [readiness.look(), readiness.look()];
    pings[0]?.(new GatewayError('unavailable', 'The store of this gateway does not respond; try again later'));
    for (const one of await Promise.all(waiting)) {
      expect(one.isReady).toBe(false);
      expect(one.reasons).toEqual([expect.stringContaining('does not respond')]);
    }
    void readiness.look();
    expect(pings).toHaveLength(2);
  });
  it('says nothing of what a store throws', async () => {
    const ping = () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7:6379, password hunter2'));
    expect((await createReadiness({ ping }, loaded).look()).reasons).toEqual(['The store does not answer']);
  });
  it('says what the server of the store has answered, without an address or a secret', async () => {
    const answer = new Error('WRONGPASS invalid username-password pair or user is disabled.');
    const ping = () =>
      Promise.reject(new GatewayError('unavailable', 'Try again', { cause: new Error('x', { cause: answer }) }));
    expect((await createReadiness({ ping }, loaded).look()).reasons).toEqual([
      'The store refuses: WRONGPASS invalid username-password pair or user is disabled.',
    ]);
  });
  it('is over once the gateway is closed, also for a probe that is under way', async () => {
    let answer: () => void = () => undefined;
    const ping = () =>
      new Promise<void>((resolve) => {
        answer = resolve;
      });
    const readiness = createReadiness({ ping }, loaded);
    const underWay = readiness.look();
    readiness.close();
    answer();
    const closed = { isReady: false, reasons: ['The gateway is closed'] };
    expect(await underWay).toEqual(closed);
    expect(await readiness.look()).toEqual(closed);
  });
});
