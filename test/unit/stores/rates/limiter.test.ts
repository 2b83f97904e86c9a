import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../src/base/errors.ts';
import type { WorkspaceId } from '../../../../src/call/workspace.ts';
import { type Admission, createRateLimiter, type RateLimiterDeps } from '../../../../src/stores/rates/limiter.ts';
import { memoryRates } from '../../../../src/stores/rates/memory.ts';
import type { LimitedAccount, Rates } from '../../../../src/stores/rates/rates.ts';
import { NotSentError } from '../../../../src/stores/storage/circuit.ts';
import { countedIds } from '../../../support/gateway.ts';
import { manualClock } from '../../../support/manual-clock.ts';

const workspaceId = 'w' as WorkspaceId;
const none: LimitedAccount = {
  account: 'workspace',
  requestsPerMinute: null,
  tokensPerMinute: null,
  requestsInFlight: null,
};
const one: LimitedAccount = { ...none, requestsInFlight: 1 };
const tokens: LimitedAccount = { ...none, tokensPerMinute: 1_000 };

/** A limiter on a store outside of the process: what wraps the counts in memory is no longer local. */
function open(change: (rates: Rates) => Partial<Rates> = () => ({}), deps: Partial<RateLimiterDeps> = {}) {
  const clock = manualClock();
  const rates = memoryRates();
  const logged: unknown[] = [];
  const log = (fields: object, message: string) => void logged.push([message, fields]);
  const limiter = createRateLimiter({
    rates: { ...rates, ...change(rates) },
    clock,
    ids: countedIds(),
    logger: { info: log, warn: log },
    leaseMs: 60_000,
    onStoreFailure: 'refuse',
    byClockOfStore: false,
    ...deps,
  });
  const admit = async (account: LimitedAccount, held = 0) =>
    (await limiter.admit(workspaceId, [account], held)) as Admission;
  const state = async (account: LimitedAccount) => (await rates.read(workspaceId, [account], clock.now()))[0];
  return { clock, limiter, admit, state, logged };
}

const lost = () => new GatewayError('unavailable', 'The store does not respond', { cause: new Error('time-out') });

describe('a call in flight', () => {
  it('is renewed for as long as it takes, and then no longer', async () => {
    let ends = 0;
    const { admit, clock, state, limiter } = open((rates) => ({
      end: (ending) => {
        ends++;
        return rates.end(ending);
      },
    }));
    const call = await admit(one);
    for (let minute = 0; minute < 10; minute++) {
      await clock.advance(60_000);
      expect((await state(one))?.inFlight).toBe(1);
    }
    call.end(0);
    call.end(0);
    await limiter.close();
    expect([(await state(one))?.inFlight, clock.pending, ends]).toEqual([0, 0, 1]);
  });
  it('is lost with its process, a lease later', async () => {
    const { admit, clock, state } = open((rates) => ({ renew: async () => void rates }));
    await admit(one);
    await clock.advance(59_999);
    expect((await state(one))?.inFlight).toBe(1);
    await clock.advance(1);
    expect((await state(one))?.inFlight).toBe(0);
  });
  it("that has ended here stands in nobody's way, although the store does not know it yet", async () => {
    let arrive: () => void = () => undefined;
    const { admit } = open((rates) => ({
      end: async (ending) => {
        await new Promise<void>((resolve) => {
          arrive = resolve;
        });
        await rates.end(ending);
      },
    }));
    (await admit(one)).end(0);
    const next = admit(one);
    await Promise.resolve();
    arrive();
    expect(await next).toBeTruthy();
    // While one is really in flight, nobody waits for anything.
    await expect(admit(one)).rejects.toMatchObject({ status: 429 });
  });
});

describe('a store that fails', () => {
  it('is told that a call is over which it may have admitted all the same', async () => {
    let fails = true;
    const { admit, state, limiter } = open((rates) => ({
      admit: async (request) => {
        const outcome = await rates.admit(request);
        if (fails) throw lost();
        return outcome;
      },
    }));
    const both = { ...one, tokensPerMinute: 1_000 };
    await expect(admit(both, 700)).rejects.toMatchObject({ status: 503 });
    await limiter.close();
    expect(await state(both)).toMatchObject({ inFlight: 0, tokens: 0 });
    fails = false;
    expect(await admit(both, 1_000)).toBeTruthy();
  });
  it('is told nothing where it was never asked', async () => {
    const ended: unknown[] = [];
    const { admit } = open(() => ({
      admit: async () => {
        throw new GatewayError('unavailable', 'No', { cause: new NotSentError() });
      },
      end: async (ending) => void ended.push(ending),
    }));
    await expect(admit(one)).rejects.toMatchObject({ status: 503 });
    expect(ended).toEqual([]);
  });
  it.each(['refuse', 'allow'] as const)('lets calls through where the option says so: %s', async (onStoreFailure) => {
    const fails = async () => {
      throw lost();
    };
    const { admit } = open(() => ({ admit: fails, end: fails }), { onStoreFailure });
    if (onStoreFailure === 'allow') expect(await admit(one)).toBeNull();
    else await expect(admit(one)).rejects.toMatchObject({ status: 503 });
  });
  it('does not hide a mistake of ours', async () => {
    const { admit } = open(
      () => ({
        admit: async () => {
          throw new TypeError('a mistake');
        },
      }),
      { onStoreFailure: 'allow' },
    );
    await expect(admit(one)).rejects.toThrow('a mistake');
  });
  it('that does not learn of an end has the call until its lease ends, and that is logged', async () => {
    const { admit, state, clock, limiter, logged } = open(() => ({
      end: async () => {
        throw lost();
      },
    }));
    (await admit(one)).end(0);
    await limiter.close();
    expect((await state(one))?.inFlight).toBe(1);
    expect(logged).toEqual([['the end of a call was not counted', { workspaceId, error: 'Error' }]]);
    await clock.advance(60_000);
    expect((await state(one))?.inFlight).toBe(0);
  });
});

describe('tokens', () => {
  it('that were taken one after the other are corrected together, once', async () => {
    const { admit, state, limiter } = open();
    const call = await admit(tokens, 100);
    await call.extend(200);
    await expect(call.extend(701)).rejects.toMatchObject({ status: 429 });
    await expect(call.extend(1_001)).rejects.toMatchObject({ status: 413 });
    expect(call.headers).toMatchObject({ 'x-ratelimit-remaining-tokens': '700' });
    call.end(250);
    call.end(0);
    await limiter.close();
    expect((await state(tokens))?.tokens).toBe(250 * 60_000);
  });
  it('are asked for in this process without a promise', () => {
    const limiter = createRateLimiter({
      rates: memoryRates(),
      clock: manualClock(),
      ids: countedIds(),
      logger: null,
      leaseMs: 60_000,
      onStoreFailure: 'refuse',
      byClockOfStore: true,
    });
    expect(limiter.admit(workspaceId, [tokens], 10)).not.toBeInstanceOf(Promise);
    expect(() => limiter.admit(workspaceId, [tokens], 1_000)).toThrow('try again in 0.6s');
  });
});
