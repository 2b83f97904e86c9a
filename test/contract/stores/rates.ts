import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RateLimits } from '../../../src/schema/tenants/rate-limits.ts';
import { partsPerUnit } from '../../../src/stores/rates/bucket.ts';
import { type LimitedAccount, placeOf, type RateState, type Rates } from '../../../src/stores/rates/rates.ts';
import { rateLimited } from '../../../src/stores/rates/refuse.ts';
import { randomFrom } from '../../support/race/random.ts';
import { newWorkspace, noonMs } from './ledger.ts';
import { modelRates } from './rates-model.ts';

/** Rates under test, on a store that may be shared: every test uses workspaces of its own. */
export type OpenRates = () => Promise<{ rates: Rates; close(): Promise<unknown> }>;

const minuteMs = 60_000;
const leaseMs = 60_000;

export function limitedTo(account: string, limits: Partial<RateLimits>): LimitedAccount {
  return { account, requestsPerMinute: null, tokensPerMinute: null, requestsInFlight: null, ...limits };
}

/** The promises of `Rates`; each implementation's test calls this. */
export function testRates(name: string, open: OpenRates): void {
  describe(name, () => {
    let opened: Awaited<ReturnType<OpenRates>>;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(async () => {
      await opened?.close();
    });
    const bench = () => createBench(opened.rates);

    describe('requests per minute', () => requests(bench));
    describe('tokens per minute', () => tokens(bench));
    describe('calls in flight', () => calls(bench));
    describe('several accounts and workspaces', () => several(bench));
    describe('time', () => time(bench));
    describe('a random sequence', () => sequences(bench));
  });
}

interface Asked {
  id?: string;
  tokens?: number;
  isFurther?: boolean;
  nowMs?: number | null;
}

/** One workspace, with what most tests leave alone filled in. */
function createBench(rates: Rates, workspaceId = newWorkspace()) {
  return {
    rates,
    workspaceId,
    admit(accounts: readonly LimitedAccount[], { id = randomUUID(), ...asked }: Asked = {}) {
      return rates.admit({ workspaceId, accounts, id, tokens: 0, isFurther: false, nowMs: noonMs, leaseMs, ...asked });
    },
    end(accounts: readonly LimitedAccount[], id: string, moreTokens = 0, nowMs: number | null = noonMs) {
      return rates.end({ workspaceId, accounts, id, moreTokens, nowMs });
    },
    async state(account: LimitedAccount, nowMs: number | null = noonMs): Promise<RateState> {
      const [state] = await rates.read(workspaceId, [account], nowMs);
      return shown(state as RateState);
    },
    renew: (accounts: readonly LimitedAccount[], id: string, nowMs: number) =>
      rates.renew(
        workspaceId,
        accounts.map((account) => placeOf(account, id)),
        nowMs,
        leaseMs,
      ),
  };
}
type Bench = ReturnType<typeof createBench>;

/** A state may carry more than it promises. */
function shown({ requests, tokens, inFlight }: RateState): RateState {
  return { requests, tokens, inFlight };
}

const units = (requests: number, tokens: number, inFlight: number): RateState => ({
  requests: requests * partsPerUnit,
  tokens: tokens * partsPerUnit,
  inFlight,
});

function requests(bench: () => Bench): void {
  it('as many as the limit are admitted at one moment, however many come at once', async () => {
    const { admit, state } = bench();
    const key = limitedTo('key:a', { requestsPerMinute: 7 });
    const outcomes = await Promise.all(Array.from({ length: 40 }, () => admit([key])));
    expect(outcomes.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(7);
    expect(await state(key)).toEqual(units(7, 0, 0));
  });

  it('come back one by one, as time goes by', async () => {
    const { admit } = bench();
    const key = limitedTo('key:a', { requestsPerMinute: 6 });
    for (let n = 0; n < 6; n++) expect((await admit([key])).isAdmitted).toBe(true);
    const at = async (ms: number) => (await admit([key], { nowMs: noonMs + ms })).isAdmitted;
    expect(await at(9_999)).toBe(false);
    expect(await at(10_000)).toBe(true);
    expect(await at(19_999)).toBe(false);
    expect(await at(20_000)).toBe(true);
    // After a long time, there are no more than the limit.
    const later = await Promise.all(Array.from({ length: 9 }, () => at(60 * minuteMs)));
    expect(later.filter(Boolean)).toHaveLength(6);
  });

  it('follow a limit that changes', async () => {
    const { admit } = bench();
    const of = (requestsPerMinute: number) => [limitedTo('key:a', { requestsPerMinute })];
    for (let n = 0; n < 5; n++) await admit(of(10));
    expect((await admit(of(5))).isAdmitted).toBe(false);
    expect((await admit(of(6))).isAdmitted).toBe(true);
    expect((await admit(of(6))).isAdmitted).toBe(false);
    expect((await admit(of(7))).isAdmitted).toBe(true);
  });
}

function tokens(bench: () => Bench): void {
  const key = limitedTo('key:a', { tokensPerMinute: 1_000 });

  it('are held before, and what was not used is free after the call', async () => {
    const { admit, end, state } = bench();
    const id = randomUUID();
    expect((await admit([key], { id, tokens: 900 })).states.map(shown)).toEqual([units(0, 900, 1)]);
    expect(await admit([key], { tokens: 101 })).toMatchObject({ isAdmitted: false });
    await end([key], id, 250 - 900);
    expect(await state(key)).toEqual(units(0, 250, 0));
    expect((await admit([key], { tokens: 750 })).isAdmitted).toBe(true);
  });

  it('are corrected once, however often the end is told', async () => {
    const { admit, end, state } = bench();
    const [id, other] = [randomUUID(), randomUUID()];
    await admit([key], { id: other, tokens: 300 });
    await admit([key], { id, tokens: 500 });
    await Promise.all(Array.from({ length: 5 }, () => end([key], id, -400)));
    await end([key], id, -400);
    await end([key], randomUUID(), -400);
    expect(await state(key)).toEqual(units(0, 400, 1));
  });

  it('that were used beyond what was held are paid back before anything else is admitted', async () => {
    const { admit, end, state } = bench();
    const id = randomUUID();
    await admit([key], { id, tokens: 100 });
    await end([key], id, 4_900);
    expect(await state(key)).toEqual(units(0, 5_000, 0));
    const at = async (ms: number) => (await admit([key], { tokens: 1, nowMs: noonMs + ms })).isAdmitted;
    expect(await at(4 * minuteMs)).toBe(false);
    expect(await at(4 * minuteMs + 59)).toBe(false);
    expect(await at(4 * minuteMs + 60)).toBe(true);
  });

  it('of a further generation take no request and no place', async () => {
    const { admit, end, state } = bench();
    const both = limitedTo('key:a', { requestsPerMinute: 1, tokensPerMinute: 1_000, requestsInFlight: 1 });
    const id = randomUUID();
    await admit([both], { id, tokens: 400 });
    expect(await admit([both], { id, tokens: 600, isFurther: true })).toMatchObject({ isAdmitted: true });
    expect(await admit([both], { id, tokens: 1, isFurther: true })).toMatchObject({ isAdmitted: false });
    expect(await state(both)).toEqual(units(1, 1_000, 1));
    await end([both], id, 700 - 1_000);
    expect(await state(both)).toEqual(units(1, 700, 0));
  });

  it('are exact where they are many', async () => {
    const { admit, state } = bench();
    const most = limitedTo('key:a', { tokensPerMinute: 1_000_000_000 });
    expect((await admit([most], { tokens: 999_999_999 })).isAdmitted).toBe(true);
    expect((await admit([most], { tokens: 2 })).isAdmitted).toBe(false);
    expect((await admit([most], { tokens: 1 })).isAdmitted).toBe(true);
    expect((await state(most, noonMs + 7)).tokens).toBe(1_000_000_000 * (partsPerUnit - 7));
  });

  it('count as the largest number there is, rather than lose count', async () => {
    const { admit, end, state } = bench();
    const id = randomUUID();
    await admit([key], { id, tokens: 1 });
    await end([key], id, Number.MAX_SAFE_INTEGER);
    expect((await state(key)).tokens).toBe(Number.MAX_SAFE_INTEGER);
  });
}

function calls(bench: () => Bench): void {
  const key = limitedTo('key:a', { requestsInFlight: 2 });

  it('are as many as the limit, and one more when one has ended', async () => {
    const { admit, end } = bench();
    const ids = Array.from({ length: 12 }, () => randomUUID());
    const outcomes = await Promise.all(ids.map((id) => admit([key], { id })));
    const admitted = ids.filter((_, at) => outcomes[at]?.isAdmitted);
    expect(admitted).toHaveLength(2);
    await end([key], admitted[0] as string);
    await end([key], admitted[0] as string);
    expect((await admit([key])).isAdmitted).toBe(true);
    expect((await admit([key])).isAdmitted).toBe(false);
  });

  it('of a process that died count until their lease ends', async () => {
    const { admit, state, end } = bench();
    const id = randomUUID();
    await admit([key], { id });
    await admit([key], { nowMs: noonMs + 10 });
    const at = (ms: number) => admit([key], { nowMs: noonMs + ms });
    expect((await at(leaseMs - 1)).isAdmitted).toBe(false);
    expect((await state(key, noonMs + leaseMs)).inFlight).toBe(1);
    expect((await at(leaseMs)).isAdmitted).toBe(true);
    expect((await at(leaseMs)).isAdmitted).toBe(false);
    // The process lives after all: its call is over here.
    await end([key], id, 0, noonMs + leaseMs + 1);
    expect((await state(key, noonMs + leaseMs + 1)).inFlight).toBe(2);
  });

  it('that are renewed do not end', async () => {
    const { admit, renew, state } = bench();
    const [id, other] = [randomUUID(), randomUUID()];
    await admit([key], { id });
    await admit([key], { id: other });
    await renew([key], id, noonMs + 40_000);
    // What is not there is not made.
    await renew([key], randomUUID(), noonMs + 40_000);
    expect((await state(key, noonMs + 99_999)).inFlight).toBe(1);
    expect((await state(key, noonMs + 100_000)).inFlight).toBe(0);
  });

  it('of many processes that died are ended, some at a time', async () => {
    const { admit, state } = bench();
    const many = limitedTo('key:a', { requestsInFlight: 450 });
    await Promise.all(Array.from({ length: 450 }, () => admit([many])));
    const nowMs = noonMs + leaseMs;
    let admitted = 0;
    for (let n = 0; n < 4; n++) admitted += Number((await admit([many], { nowMs })).isAdmitted);
    expect(admitted).toBe(4);
    expect((await state(many, nowMs)).inFlight).toBe(4);
  });
}

function several(bench: () => Bench): void {
  it('a call that one of two accounts refuses takes nothing from either', async () => {
    const { admit, state } = bench();
    const key = limitedTo('key:a', { requestsPerMinute: 9, tokensPerMinute: 90, requestsInFlight: 9 });
    const workspace = limitedTo('workspace', { requestsPerMinute: 2 });
    for (const one of [key, limitedTo('key:b', { requestsPerMinute: 5 })])
      await admit([one, workspace], { tokens: 10 });
    const before = await state(key);
    const refused = await admit([key, workspace], { tokens: 10 });
    expect([refused.isAdmitted, refused.states.map(shown)]).toEqual([false, [before, units(2, 0, 0)]]);
    expect(await state(key)).toEqual(before);
    // The other way round as well.
    expect(await admit([workspace, key], { nowMs: noonMs + 1, tokens: 10 })).toMatchObject({ isAdmitted: false });
    const less = limitedTo('key:a', { tokensPerMinute: 15 });
    expect(await admit([limitedTo('workspace', { requestsPerMinute: 9 }), less], { tokens: 10 })).toMatchObject({
      isAdmitted: false,
    });
    expect((await state(workspace)).requests).toBe(2 * partsPerUnit);
  });

  it('are kept apart', async () => {
    const one = bench();
    const key = limitedTo('key:a', { requestsPerMinute: 1, requestsInFlight: 1 });
    await one.admit([key]);
    expect((await one.admit([limitedTo('key:b', { requestsPerMinute: 1 })])).isAdmitted).toBe(true);
    expect((await bench().admit([key])).isAdmitted).toBe(true);
    expect((await one.admit([key])).isAdmitted).toBe(false);
  });

  it('forgets a workspace, and no other', async () => {
    const [one, other] = [bench(), bench()];
    const workspace = limitedTo('workspace', { requestsPerMinute: 1, requestsInFlight: 1 });
    await one.admit([workspace]);
    await other.admit([workspace]);
    await one.rates.forget(one.workspaceId);
    expect(await one.state(workspace)).toEqual(units(0, 0, 0));
    expect((await one.admit([workspace])).isAdmitted).toBe(true);
    expect((await other.admit([workspace])).isAdmitted).toBe(false);
  });
}

function time(bench: () => Bench): void {
  const key = limitedTo('key:a', { requestsPerMinute: 2, requestsInFlight: 5 });

  it('of a process that is some seconds behind gives nothing away', async () => {
    const { admit } = bench();
    await admit([key], { nowMs: noonMs + 30_000 });
    await admit([key], { nowMs: noonMs + 30_000 });
    expect((await admit([key], { nowMs: noonMs })).isAdmitted).toBe(false);
    expect((await admit([key], { nowMs: noonMs + 59_999 })).isAdmitted).toBe(false);
    expect((await admit([key], { nowMs: noonMs + 60_000 })).isAdmitted).toBe(true);
  });

  it('that was set back does not stop a bucket from leaking', async () => {
    const { admit } = bench();
    const hourMs = 3_600_000;
    await admit([key], { nowMs: noonMs + hourMs });
    await admit([key], { nowMs: noonMs + hourMs });
    expect((await admit([key], { nowMs: noonMs })).isAdmitted).toBe(false);
    await admit([limitedTo('key:a', { requestsPerMinute: 3 })], { nowMs: noonMs });
    expect((await admit([key], { nowMs: noonMs + minuteMs })).isAdmitted).toBe(true);
  });

  it('may have fractions of a millisecond', async () => {
    const { admit, end, renew, state } = bench();
    const id = randomUUID();
    await admit([key], { id, nowMs: noonMs + 0.25 });
    await renew([key], id, noonMs + 0.75);
    await end([key], id, 0, noonMs + 1.5);
    expect(await state(key, noonMs + 2.5)).toEqual({ requests: partsPerUnit - 4, tokens: 0, inFlight: 0 });
  });

  it('is that of the store, where it has a clock', async () => {
    const { rates, admit, end, state } = bench();
    const slow = limitedTo('key:a', { requestsPerMinute: 1, requestsInFlight: 1 });
    const id = randomUUID();
    const first = admit([slow], { id, nowMs: null });
    if (!rates.hasClock) {
      await expect(first).rejects.toThrow('no clock');
      return;
    }
    expect((await first).isAdmitted).toBe(true);
    expect((await admit([slow], { nowMs: null })).isAdmitted).toBe(false);
    expect((await state(slow, null)).inFlight).toBe(1);
    await end([slow], id, 0, null);
    expect((await state(slow, null)).inFlight).toBe(0);
    // It is the real time: in a minute of the real time, the request is back.
    expect((await admit([slow], { nowMs: Date.now() + 2 * minuteMs })).isAdmitted).toBe(true);
  });
}

function sequences(bench: () => Bench): void {
  it.each([1, 2, 3, 4, 5, 6])('comes to the same as a model of it: %d', async (seed) => {
    const { rates, workspaceId } = bench();
    const model = modelRates();
    const random = randomFrom(seed);
    const int = (below: number) => Math.floor(random() * below);
    const pick = <T>(some: readonly T[]) => some[int(some.length)] as T;
    const limits = () =>
      limitedTo('', {
        requestsPerMinute: pick([null, 1, 7, 60, 999]),
        tokensPerMinute: pick([null, 100, 1_000, 100_003]),
        requestsInFlight: pick([null, 1, 3]),
      });
    const accounts = ['key:a', 'key:b', 'workspace'].map((account) => ({ ...limits(), account }));
    const open: { id: string; accounts: LimitedAccount[] }[] = [];
    let nowMs = noonMs;
    for (let step = 0; step < 120; step++) {
      nowMs += pick([0, 0, 1, 17, 500, 5_000, 61_000]);
      const some = pick([[0], [1], [0, 2], [1, 2], [2]]).map((at) => accounts[at] as LimitedAccount);
      const changed = int(24);
      if (changed < 3) accounts[changed] = { ...limits(), account: (accounts[changed] as LimitedAccount).account };
      const call = open[int(open.length)];
      const kind = pick(['admit', 'admit', 'further', 'end', 'end', 'renew', 'read'] as const);
      if (kind === 'admit' || (kind === 'further' && call)) {
        const isFurther = kind === 'further';
        const id = isFurther ? (call?.id as string) : randomUUID();
        const on = isFurther ? (call?.accounts as LimitedAccount[]) : some;
        const request = {
          id,
          workspaceId,
          accounts: on,
          tokens: pick([0, 1, 30, 99, 2_000]),
          isFurther,
          nowMs,
          leaseMs,
        };
        const outcome = await rates.admit(request);
        expect({ ...outcome, states: outcome.states.map(shown) }).toEqual(model.admit(request));
        if (outcome.isAdmitted && !isFurther) open.push({ id, accounts: on });
        if (!outcome.isAdmitted) await retried(rates, request);
      } else if (kind === 'end' && call) {
        const ending = { ...call, workspaceId, moreTokens: pick([-2_000, -20, 0, 5, 400]), nowMs };
        await rates.end(ending);
        model.end(ending);
      } else if (kind === 'renew' && call) {
        const places = call.accounts.map((one) => placeOf(one, call.id));
        await rates.renew(workspaceId, places, nowMs, leaseMs);
        model.renew(places, nowMs, leaseMs);
      }
      const states = await rates.read(workspaceId, some, nowMs);
      expect(states.map(shown)).toEqual(model.read(some, nowMs));
    }
  });

  /** Whoever comes back when told is admitted, if nobody else came; not a millisecond earlier. */
  async function retried(rates: Rates, request: Parameters<Rates['admit']>[0]): Promise<void> {
    const { accounts, workspaceId } = request;
    const nowMs = request.nowMs as number;
    if (accounts.some(({ tokensPerMinute }) => tokensPerMinute !== null && request.tokens > tokensPerMinute)) return;
    const at = async (ms: number) => {
      const states = await rates.read(workspaceId, accounts, ms);
      return { states, waitMs: waitOf(accounts, states, request, ms) };
    };
    const { waitMs } = await at(nowMs);
    if (waitMs === null) return;
    expect((await at(nowMs + waitMs)).waitMs).toBe(0);
    expect((await at(nowMs + waitMs - 1)).waitMs).toBe(1);
  }
}

/** What a refusal tells the caller; 0: it is none; null: only the end of another call could help. */
function waitOf(
  accounts: readonly LimitedAccount[],
  states: readonly RateState[],
  request: { tokens: number; isFurther: boolean },
  nowMs: number,
): number | null {
  if (!request.isFurther)
    for (const [at, { requestsInFlight }] of accounts.entries())
      if (requestsInFlight !== null && (states[at] as RateState).inFlight >= requestsInFlight) return null;
  const fits = accounts.every(({ requestsPerMinute, tokensPerMinute }, at) => {
    const { requests: used, tokens: usedTokens } = states[at] as RateState;
    const isFree = (parts: number, more: number, limit: number | null) =>
      limit === null || parts + more * partsPerUnit <= limit * partsPerUnit;
    return (
      isFree(usedTokens, request.tokens, tokensPerMinute) && (request.isFurther || isFree(used, 1, requestsPerMinute))
    );
  });
  return fits ? 0 : (rateLimited(accounts, states, request, nowMs).retryAfterMs as number);
}
