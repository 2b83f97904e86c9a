import { GatewayError } from '../../src/base/errors.ts';
import { windowOf } from '../../src/base/windows.ts';
import type { WorkspaceId } from '../../src/call/workspace.ts';
import type { Ledger, SpendingWindow } from '../../src/stores/ledger/ledger.ts';
import { memoryLedger } from '../../src/stores/ledger/memory.ts';
import { createSpending } from '../../src/stores/spending/create-spending.ts';
import { type HoldScope, isRefusal, type Reservation, type Spending } from '../../src/stores/spending/spending.ts';
import { memoryStorage } from '../../src/stores/storage/memory.ts';
import type { Storage } from '../../src/stores/storage/storage.ts';
import { randomFrom } from './race/random.ts';

/** What may go wrong in a run, beside requests that come and end. */
export interface Trouble {
  kills?: boolean;
  pauses?: boolean;
  /** Clocks that are wrong by hours, run too fast or too slow, and are set. */
  skew?: boolean;
  /** Calls to the store that are late, that fail, and whose replies are lost. */
  cuts?: boolean;
  limits?: boolean;
}

export interface Played {
  seed: number;
  wrong: string[];
  /** Requests that were held, and steps of the ledger that they took. */
  held: number;
  /** Those that were held in a slice, without a step. */
  inSlices: number;
  steps: number;
  /** Of these, reports of slices. */
  draws: number;
  refused: number;
  kills: number;
  expired: number;
}

const workspaceId = 'acme' as WorkspaceId;
const leaseMs = 6_000;
/** In most runs, the day turns. */
const startMs = Date.UTC(2026, 5, 17, 23, 59, 52);

interface Live {
  reservation: Reservation;
  heldNanoUsd: number;
  windows: readonly SpendingWindow[];
}

interface Instance {
  spending: Spending;
  live: Live[];
  isDead: boolean;
  isPaused: boolean;
  isCut: boolean;
  resumed: (() => void)[];
  wallOffsetMs: number;
  rate: number;
}

/**
 * Plays a random run: some processes hold and settle the money of one workspace on one ledger, and trouble comes. After
 * every step, the ledger must cover what was spent and what may still be spent, and stay within the limits.
 */
export async function playEscrow(seed: number, trouble: Trouble, length: number): Promise<Played> {
  const random = randomFrom(seed);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const isOneOf = (part: number) => random() < part;
  const played: Played = {
    seed,
    wrong: [],
    held: 0,
    inSlices: 0,
    steps: 0,
    draws: 0,
    refused: 0,
    kills: 0,
    expired: 0,
  };

  let nowMs = startMs;
  let isPeeking = false;
  const timers: { atMs: number; run: () => void }[] = [];
  const at = (atMs: number, run: () => void) => {
    const later = timers.findIndex((timer) => timer.atMs > atMs);
    timers.splice(later < 0 ? timers.length : later, 0, { atMs, run });
  };
  const flush = () => new Promise<void>((resolve) => setImmediate(resolve));
  async function advance(ms: number): Promise<void> {
    const endMs = nowMs + ms;
    while (timers[0] && timers[0].atMs <= endMs) {
      const timer = timers.shift();
      nowMs = Math.max(nowMs, timer?.atMs ?? 0);
      timer?.run();
      await flush();
    }
    nowMs = endMs;
    await flush();
  }

  // The clock of the store. Looking at the books ends no lease.
  const ledger = memoryLedger({ onLostHold: 'charge', now: () => (isPeeking ? 0 : nowMs) });
  const records = memoryStorage(ledger);
  let isCalm = false;

  /** A call to the store, by a line that may be bad. */
  function net<T>(instance: Instance, run: () => Promise<T>): Promise<T> {
    const never = new Promise<T>(() => undefined);
    const fails = () => new GatewayError('unavailable', 'The store does not respond');
    const reply = (value: T): T | Promise<T> => {
      if (instance.isDead) return never;
      if (!instance.isPaused) return value;
      return new Promise((resolve) => instance.resumed.push(() => resolve(value)));
    };
    if (instance.isDead) return never;
    if (instance.isCut) return Promise.reject(fails());
    const luck = isCalm || !trouble.cuts ? 1 : random();
    const delayMs = upTo(400);
    const later = () => new Promise<T>((resolve) => at(nowMs + delayMs, () => void run().then(resolve)));
    if (luck < 0.02) return Promise.reject(fails());
    if (luck < 0.05) return run().then(() => Promise.reject(fails()));
    if (luck < 0.08) {
      // It arrives when nobody waits for it any more.
      void later();
      return Promise.reject(fails());
    }
    if (luck < 0.3 || (trouble.kills && isOneOf(0.2))) return later().then(reply);
    return run().then(reply);
  }

  function start(): Instance {
    const instance: Instance = {
      ...{ live: [], isDead: false, isPaused: false, isCut: false, resumed: [], spending: null as never },
      wallOffsetMs: trouble.skew ? upTo(7_200_000) - 3_600_000 : 0,
      rate: trouble.skew ? 0.9 + random() * 0.2 : 1,
    };
    const clock = {
      now: () => nowMs + instance.wallOffsetMs,
      monotonic: () => Math.floor((nowMs - startMs) * instance.rate) + 1_000,
      after(ms: number, callback: () => void) {
        let isOff = false;
        const run = () => {
          if (isOff || instance.isDead) return;
          if (instance.isPaused) instance.resumed.push(run);
          else callback();
        };
        at(nowMs + Math.max(0, ms) / instance.rate, run);
        return () => {
          isOff = true;
        };
      },
    };
    const far = Object.fromEntries(
      Object.entries(ledger).map(([name, method]) => [
        name,
        (...args: never[]) => {
          played.steps++;
          if (name === 'draw') played.draws++;
          return net(instance, () => (method as (...args: never[]) => Promise<unknown>)(...args));
        },
      ]),
    ) as unknown as Ledger;
    const storage: Storage = {
      ...records,
      ledger: far,
      commit: (changes) => net(instance, () => records.commit(changes)),
      list: (...asked) => net(instance, () => records.list(...asked)),
    };
    const name = `i${instances.length}-${seed}`;
    let count = 0;
    instance.spending = createSpending({
      ledger: far,
      notes: { storage, instance: () => name },
      clock,
      ids: { uuid: () => `${name}-${++count}` },
      random,
      leaseMs,
      escrow: true,
    });
    instances.push(instance);
    return instance;
  }

  /** The day of a request is that of the store's clock here: a wrong clock is not allowed more, only another day. */
  const day = () => nowMs;
  const size = isOneOf(0.4) ? 1 : 60;
  const limits = { daily: size * upTo(6_000), lifetime: size * upTo(8_000), key: size * upTo(4_000) };
  const highest = { ...limits };
  let budgets: HoldScope['budgets'] = [];
  let keyLimit: HoldScope['keyLimit'] = null;
  function reload(): void {
    budgets = [
      { interval: 'daily', limitNanoUsd: limits.daily },
      { interval: 'lifetime', limitNanoUsd: limits.lifetime },
    ];
    keyLimit = { interval: 'weekly', limitNanoUsd: limits.key, includesByok: false };
  }

  const instances: Instance[] = [];
  /** Spent for certain, and what dead processes may have spent. */
  const truth = new Map<string, { window: SpendingWindow; spent: number; doubt: number }>();
  const truthOf = (window: SpendingWindow) => {
    const name = `${window.account} ${window.interval} ${window.startMs}`;
    const known = truth.get(name) ?? { window, spent: 0, doubt: 0 };
    truth.set(name, known);
    return known;
  };
  let calls = 0;

  function request(instance: Instance, isKeyed: boolean, amountNanoUsd: number): void {
    const atMs = day();
    const scope: HoldScope = {
      workspaceId,
      apiKeyHash: isKeyed ? 'abc' : null,
      keyLimit: isKeyed ? keyLimit : null,
      budgets,
      atMs,
      callId: `call-${++calls}`,
    };
    const windows: SpendingWindow[] = budgets.map(({ interval }) => ({
      account: 'workspace',
      interval,
      ...windowOf(interval, atMs),
    }));
    if (isKeyed) windows.push({ account: 'key:abc', interval: 'weekly', ...windowOf('weekly', atMs) });
    for (const window of windows) truthOf(window);
    const held = (outcome: Awaited<ReturnType<Spending['hold']>>) => {
      if (isRefusal(outcome)) {
        played.refused++;
        return;
      }
      played.held++;
      // The provider is called now.
      instance.live.push({ reservation: outcome, heldNanoUsd: amountNanoUsd, windows });
    };
    try {
      const outcome = instance.spending.hold(scope, amountNanoUsd);
      if (outcome instanceof Promise) outcome.then(held, () => undefined);
      else {
        played.inSlices++;
        held(outcome);
      }
    } catch {
      // It is closing.
    }
  }

  function end({ reservation, heldNanoUsd, windows }: Live, isFull = false): void {
    const nanoUsd = isFull ? heldNanoUsd : isOneOf(0.1) ? 0 : upTo(heldNanoUsd);
    for (const window of windows) truthOf(window).spent += nanoUsd;
    reservation.settle({ nanoUsd, byokNanoUsd: 0 });
  }

  async function check(step: string): Promise<void> {
    await flush();
    const all = [...truth.values()];
    isPeeking = true;
    const reading = ledger.read(
      workspaceId,
      all.map(({ window }) => window),
    );
    isPeeking = false;
    const states = await reading;
    for (const [index, { window, spent, doubt }] of all.entries()) {
      const { spentNanoUsd = 0, heldNanoUsd = 0 } = states[index] ?? {};
      const limit = window.account === 'workspace' ? highest[window.interval as 'daily' | 'lifetime'] : highest.key;
      const note = (what: string) => played.wrong.push(`${step}: ${window.account} ${window.interval}: ${what}`);
      if (spentNanoUsd + heldNanoUsd > limit) note(`${spentNanoUsd} + ${heldNanoUsd} > ${limit}`);
      let exposed = spent + doubt;
      for (const { isDead, live } of instances)
        for (const { windows, heldNanoUsd: more } of isDead ? [] : live)
          if (windows.some((other) => truthOf(other).window === window)) exposed += more;
      if (exposed > spentNanoUsd + heldNanoUsd)
        note(`${exposed} may be spent, ${spentNanoUsd} + ${heldNanoUsd} covered`);
    }
  }

  reload();
  start();
  start();
  for (let n = 0; n < length && played.wrong.length === 0; n++) {
    const living = instances.filter(({ isDead, isPaused }) => !isDead && !isPaused);
    const one = living[upTo(living.length - 1)];
    const luck = random();
    let step = 'time';
    if (one && luck < 0.34) {
      step = 'requests';
      const isKeyed = isOneOf(0.5);
      const usual = 1 + upTo(isOneOf(0.2) ? 400 : 60);
      for (let count = 1 + upTo(9); count > 0; count--) request(one, isKeyed, 1 + upTo(usual));
    } else if (one && luck < 0.6) {
      step = 'ends';
      for (let count = 1 + upTo(9); count > 0 && one.live.length > 0; count--)
        for (const ended of one.live.splice(upTo(one.live.length - 1), 1)) end(ended);
    } else if (luck < 0.62) {
      step = 'limits';
      if (trouble.limits) {
        for (const name of ['daily', 'lifetime', 'key'] as const) {
          limits[name] = Math.floor(limits[name] * (0.5 + random()));
          highest[name] = Math.max(highest[name], limits[name]);
        }
      }
      reload();
    } else if (luck < 0.64 && trouble.kills && one && one !== instances[0]) {
      step = 'kill';
      one.isDead = true;
      played.kills++;
      for (const { heldNanoUsd, windows } of one.live)
        for (const window of windows) truthOf(window).doubt += heldNanoUsd;
      start();
    } else if (luck < 0.67 && trouble.pauses) {
      step = 'pause';
      const paused = instances.find(({ isPaused }) => isPaused);
      if (paused) resume(paused);
      else if (one) one.isPaused = true;
    } else if (luck < 0.7 && trouble.cuts && one) {
      step = 'cut';
      one.isCut = !one.isCut;
    } else if (luck < 0.72 && trouble.skew && one) {
      step = 'clock';
      one.wallOffsetMs += upTo(20_000) - 10_000;
    } else if (luck < 0.74 && instances.filter(({ isDead }) => !isDead).length < 4) {
      step = 'start';
      start();
    } else if (luck < 0.77 && instances[0]) {
      // It books what others have lost or left in notes, also of those that are only paused or cut off. This process is
      // never killed: of one that dies while it books for another, sums without a limit may have too much.
      step = 'look';
      void (one && !trouble.kills ? one : instances[0]).spending.bookLost(workspaceId);
    } else {
      await advance(isOneOf(0.04) ? upTo(2 * leaseMs) : isOneOf(0.1) ? upTo(1_500) : upTo(60));
    }
    await check(`${n} ${step}`);
  }

  function resume(instance: Instance): void {
    instance.isPaused = false;
    for (const run of instance.resumed.splice(0)) run();
  }

  // All is well again, and all that lives ends in order.
  isCalm = true;
  for (const instance of instances) {
    instance.isCut = false;
    if (instance.isPaused) resume(instance);
  }
  await advance(20_000);
  for (const instance of instances.filter(({ isDead }) => !isDead)) {
    for (const one of instance.live.splice(0)) end(one);
    await check('last ends');
    void instance.spending.close();
    await advance(5_000);
  }
  await advance(2 * leaseMs);
  const auditor = start();
  for (let look = 0; look < 3; look++) {
    auditor.wallOffsetMs = look * 10_000_000;
    const expiring = ledger.expire(workspaceId).then((count) => {
      played.expired += count;
    });
    void auditor.spending.bookLost(workspaceId);
    await advance(10_000);
    await expiring;
  }
  await check('the end');
  const all = [...truth.values()];
  const states = await ledger.read(
    workspaceId,
    all.map(({ window }) => window),
  );
  for (const [index, { window, spent }] of all.entries()) {
    const { spentNanoUsd = 0, heldNanoUsd = 0 } = states[index] ?? {};
    const name = `${window.account} ${window.interval}`;
    if (heldNanoUsd !== 0) played.wrong.push(`the end: ${name}: ${heldNanoUsd} held`);
    // Without a process that has died, nothing is charged that was not spent.
    if (played.kills === 0 && spentNanoUsd !== spent)
      played.wrong.push(`the end: ${name}: ${spentNanoUsd} for ${spent}`);
  }
  // Of a process that dies just after a late report, the charge that the report has replaced may stay in the sums.
  if (!trouble.kills || !(trouble.cuts || trouble.pauses)) await checkUnlimited();
  return played;

  /** What is spent where nothing is limited is what is spent where something is. */
  async function checkUnlimited(): Promise<void> {
    const lifetime = { account: 'workspace', interval: 'lifetime', ...windowOf('lifetime', startMs) } as const;
    const week = { account: 'workspace', interval: 'weekly', ...windowOf('weekly', startMs) } as const;
    const ofKey = (['lifetime', 'weekly'] as const).map((interval) => ({
      account: 'key:abc',
      interval,
      ...windowOf(interval, startMs),
    }));
    const sums = await ledger.read(workspaceId, [lifetime, week, ...ofKey]);
    const [a, b, c, d] = sums.map(({ spentNanoUsd }) => spentNanoUsd) as [number, number, number, number];
    // Sums of a process that was killed may be missing where an earlier sum was still on its way: never the other way.
    const isWrong = played.kills > 0 ? b > a || c > d : a !== b || c !== d;
    if (isWrong) played.wrong.push(`the end: sums differ: workspace ${a} and ${b}, key ${c} and ${d}`);
  }
}
