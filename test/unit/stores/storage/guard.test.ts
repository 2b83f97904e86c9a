import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError, isGatewayError } from '../../../../src/base/errors.ts';
import { defaultWorkspaceId } from '../../../../src/call/workspace.ts';
import type { Ledger, SpendingWindow } from '../../../../src/stores/ledger/ledger.ts';
import { type GuardOptions, guardStorage } from '../../../../src/stores/storage/guard.ts';
import type { Storage } from '../../../../src/stores/storage/storage.ts';
import { type ManualClock, manualClock, settle } from '../../../support/manual-clock.ts';

const at = { partition: 'p', kind: 'thing', id: 'a' };
const timeoutMs = 250;
const day: SpendingWindow = { account: 'workspace', interval: 'daily', startMs: 0, endMs: 1 };
const limited = { ...day, limitNanoUsd: 1 };

type Behaviour = () => unknown;
const never: Behaviour = () => new Promise(() => undefined);
const refused: Behaviour = () =>
  Promise.reject(Object.assign(new Error('connect to redis://user:hunter2@10.0.0.1'), { code: 'ECONNREFUSED' }));

/** A storage and a ledger of which every method does what the test says, and counts. */
function scripted(options: Partial<GuardOptions> = {}) {
  const clock: ManualClock = manualClock();
  const script = { does: (() => null) as Behaviour, calls: [] as string[] };
  const lines: { level: string; fields: object; message: string }[] = [];
  const method = (name: string) => (): never => {
    script.calls.push(name);
    return script.does() as never;
  };
  const ledger: Ledger = {
    hold: method('hold'),
    settle: method('settle'),
    release: method('release'),
    renew: method('renew'),
    expire: method('expire'),
    add: method('add'),
    read: method('read'),
    forget: method('forget'),
  };
  const storage: Storage = {
    kind: 'redis',
    isShared: true,
    ledger,
    rates: {
      hasClock: true,
      admit: method('admit'),
      end: method('end'),
      renew: method('renewCalls'),
      read: method('readRates'),
      forget: method('forgetRates'),
    },
    get: method('get'),
    getMany: method('getMany'),
    commit: method('commit'),
    list: method('list'),
    close: method('close'),
  };
  const logger = {
    info: (fields: object, message: string) => void lines.push({ level: 'info', fields, message }),
    warn: (fields: object, message: string) => void lines.push({ level: 'warn', fields, message }),
  };
  const guarded = guardStorage(storage, { clock, timeoutMs, logger, ...options });
  return { clock, script, lines, guarded };
}

const id = defaultWorkspaceId;
const calls: [string, (storage: Storage) => Promise<unknown>][] = [
  ['get', (storage) => storage.get(at)],
  ['getMany', (storage) => storage.getMany([at])],
  ['commit', (storage) => storage.commit([{ at, value: 'x' }])],
  ['list', (storage) => storage.list('p', 'thing', { offset: 0, limit: 1 })],
  [
    'hold',
    ({ ledger }) => ledger.hold({ id: 'x', workspaceId: id, amountNanoUsd: 1, windows: [limited], leaseMs: 60_000 }),
  ],
  ['settle', ({ ledger }) => ledger.settle(id, 'x', 1)],
  ['release', ({ ledger }) => ledger.release(id, 'x')],
  ['renew', ({ ledger }) => ledger.renew(id, ['x'], 0)],
  ['expire', ({ ledger }) => ledger.expire(id)],
  ['add', ({ ledger }) => ledger.add(id, 'x', [])],
  ['read', ({ ledger }) => ledger.read(id, [day])],
  ['forget', ({ ledger }) => ledger.forget(id)],
];

/** What went wrong, and when. */
async function failure(clock: ManualClock, promise: Promise<unknown>) {
  const fromMs = clock.now();
  const error: unknown = await clock.until(
    promise.then(
      () => null,
      (reason: unknown) => reason,
    ),
  );
  return { error, afterMs: clock.now() - fromMs };
}

let unhandled: unknown[];
const note = (reason: unknown) => void unhandled.push(reason);
beforeEach(() => {
  unhandled = [];
  process.on('unhandledRejection', note);
});
afterEach(async () => {
  await settle();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

describe('a guarded storage', () => {
  it.each(calls)('gives what %s gives, and leaves no timer behind', async (name, call) => {
    const { clock, script, guarded } = scripted();
    const result = { of: name };
    script.does = async () => result;
    expect(await call(guarded)).toBe(result);
    expect([script.calls, clock.pending]).toEqual([[name], 0]);
  });
  it.each(calls)('ends a %s that is never answered at the limit', async (_, call) => {
    const { clock, script, guarded } = scripted();
    script.does = never;
    const { error, afterMs } = await failure(clock, call(guarded));
    expect(error).toMatchObject({ kind: 'unavailable', status: 503, retryAfterMs: 1000 });
    expect(afterMs).toBe(timeoutMs);
  });
  it.each(
    calls.flatMap(([name, call]): [string, string, typeof call, Behaviour][] => [
      [name, 'is refused', call, refused],
      [name, 'is refused without a reason', call, () => Promise.reject(undefined)],
      [
        name,
        'throws at once',
        call,
        () => {
          throw new Error('hunter2');
        },
      ],
    ]),
  )(
    'turns a %s that %s into a 503 without the server’s words, and keeps them as the cause',
    async (_n, _w, call, does) => {
      const { clock, script, guarded } = scripted();
      script.does = does;
      const { error, afterMs } = await failure(clock, call(guarded));
      expect(isGatewayError(error)).toBe(true);
      const { message, metadata, status, cause } = error as GatewayError;
      expect([status, message, metadata]).toEqual([
        503,
        'The store of this gateway does not respond; try again later',
        undefined,
      ]);
      expect([afterMs, clock.pending]).toEqual([0, 0]);
      if (cause) expect(String(cause)).toContain('hunter2');
    },
  );
  it.each(calls)('lets the GatewayError of a %s pass', async (_, call) => {
    const { script, guarded } = scripted();
    const damaged = new GatewayError('internal', 'A stored record is damaged');
    script.does = () => Promise.reject(damaged);
    await expect(call(guarded)).rejects.toBe(damaged);
  });
  it('keeps to itself what fails or arrives after the limit', async () => {
    const { clock, script, guarded } = scripted();
    const late = Promise.withResolvers<string>();
    script.does = () => late.promise;
    const lost = guarded.get(at);
    await failure(clock, lost);
    late.reject(new Error('late'));
    await settle();
    await expect(lost).rejects.toMatchObject({ kind: 'unavailable' });
  });
  it('gives the answer that comes just in time', async () => {
    const { clock, script, guarded } = scripted();
    const answer = Promise.withResolvers<string>();
    script.does = () => answer.promise;
    const asked = guarded.get(at);
    await clock.advance(timeoutMs - 1);
    answer.resolve('here');
    expect(await asked).toBe('here');
    expect(clock.pending).toBe(0);
  });
  it('passes on what is asked, and says what it is over', async () => {
    const { guarded } = scripted();
    expect([guarded.kind, guarded.isShared]).toEqual(['redis', true]);
  });
  it.each([
    { ...at, partition: '' },
    { ...at, partition: 'a:b' },
    { ...at, partition: '{a}' },
    { ...at, partition: 'p'.repeat(101) },
    { ...at, kind: 'Thing' },
    { ...at, kind: '' },
    { ...at, id: '' },
    { ...at, id: 'a/b' },
    { ...at, id: 'a\nb' },
    { ...at, id: 'ä' },
    { ...at, id: 'a'.repeat(101) },
    { ...at, id: undefined as unknown as string },
  ])('asks no server for what cannot be a record: %o', async (wrong) => {
    const { script, guarded } = scripted();
    const refusals = [
      () => guarded.get(wrong),
      () => guarded.getMany([at, wrong]),
      () =>
        guarded.commit([
          { at, value: 'x' },
          { at: wrong, value: 'x' },
        ]),
    ];
    for (const refusal of refusals) await expect(refusal()).rejects.toMatchObject({ kind: 'internal' });
    expect(script.calls).toEqual([]);
  });
  it('writes and reads together only what lies together', async () => {
    const { script, guarded } = scripted();
    const elsewhere = { ...at, partition: 'q' };
    await expect(guarded.getMany([at, elsewhere])).rejects.toMatchObject({ kind: 'internal' });
    await expect(
      guarded.commit([
        { at, value: 'x' },
        { at: elsewhere, value: 'x' },
      ]),
    ).rejects.toMatchObject({ kind: 'internal' });
    expect(script.calls).toEqual([]);
  });
  it.each<[string, Behaviour]>([
    ['never ends', never],
    ['fails', refused],
    [
      'throws at once',
      () => {
        throw new Error('no');
      },
    ],
  ])('closes in time though closing %s, and says so', async (_, does) => {
    const { clock, script, lines, guarded } = scripted();
    script.does = does;
    const { error, afterMs } = await failure(clock, guarded.close());
    expect(error).toBeNull();
    expect(afterMs).toBeLessThanOrEqual(timeoutMs);
    expect(lines).toMatchObject([{ level: 'warn', message: 'store was not closed' }]);
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  });
});

describe('the circuit of a guarded storage', () => {
  /** Five calls that get no answer. */
  async function opened(options: Partial<GuardOptions> = {}) {
    const all = scripted(options);
    all.script.does = never;
    await failure(
      all.clock,
      Promise.allSettled(Array.from({ length: options.circuitFailures ?? 5 }, () => all.guarded.get(at))),
    );
    await settle();
    all.script.calls.length = 0;
    return all;
  }

  it.each<[string, Behaviour]>([
    ['time-outs', never],
    ['lost connections', refused],
  ])('opens after five %s in a row: calls fail at once and reach no server', async (_, does) => {
    const { clock, script, guarded } = scripted();
    script.does = does;
    for (let n = 0; n < 5; n++) await failure(clock, guarded.get(at));
    expect(script.calls).toHaveLength(5);
    for (const [name, call] of calls.slice(0, 4)) {
      const { error, afterMs } = await failure(clock, call(guarded));
      expect([name, (error as GatewayError).status, (error as GatewayError).retryAfterMs, afterMs]).toEqual([
        name,
        503,
        1000,
        0,
      ]);
    }
    expect(script.calls).toHaveLength(5);
  });
  it('stays closed when an answer comes in between', async () => {
    const { clock, script, guarded } = scripted();
    for (let round = 0; round < 5; round++) {
      script.does = refused;
      for (let n = 0; n < 4; n++) await failure(clock, guarded.get(at));
      script.does = () => null;
      await guarded.get(at);
    }
    expect(script.calls).toHaveLength(25);
  });
  it.each<[string, Behaviour]>([
    ['read-only', () => Promise.reject(new Error('READONLY You can’t write against a read only replica.'))],
    ['full', () => Promise.reject(Object.assign(new Error('disk full'), { code: '53100' }))],
    ['of another opinion', () => Promise.reject(new GatewayError('internal', 'A stored record is damaged'))],
  ])('stays closed for a server that is %s: it answers', async (_, does) => {
    const { clock, script, guarded } = scripted();
    script.does = does;
    for (let n = 0; n < 20; n++) await failure(clock, guarded.commit([{ at, value: 'x' }]));
    expect(script.calls).toHaveLength(20);
  });
  it('lets one call through every 100 ms, and closes when one is answered', async () => {
    const { clock, script, guarded } = await opened();
    script.does = never;
    const reached: number[] = [];
    const fromMs = clock.now();
    for (let ms = 0; ms < 400; ms += 10) {
      const before = script.calls.length;
      for (let n = 0; n < 20; n++) guarded.get(at).catch(() => undefined);
      if (script.calls.length > before) reached.push(clock.now() - fromMs);
      await clock.advance(10);
    }
    expect(script.calls).toHaveLength(3);
    expect(reached).toEqual([100, 200, 300]);
    script.does = () => 'back';
    expect(await guarded.get(at)).toBe('back');
    script.calls.length = 0;
    expect(await Promise.all(Array.from({ length: 50 }, () => guarded.get(at)))).toEqual(Array(50).fill('back'));
    expect(script.calls).toHaveLength(50);
  });
  it('is not opened again by calls that were in flight when it closed', async () => {
    const { clock, script, guarded } = await opened();
    await clock.advance(100);
    // Sent while the server was away: it takes its time.
    const probe = failure(clock, guarded.get(at));
    await clock.advance(100);
    script.does = () => 'back';
    expect(await guarded.get(at)).toBe('back');
    await probe;
    for (let n = 0; n < 10; n++) expect(await guarded.get(at)).toBe('back');
  });
  it('is not closed by an answer that was on its way since before', async () => {
    const { clock, script, guarded } = scripted();
    const slow = Promise.withResolvers<string>();
    script.does = () => slow.promise;
    const early = guarded.get(at);
    script.does = refused;
    for (let n = 0; n < 5; n++) await failureNow(guarded.get(at));
    slow.resolve('from before');
    expect(await early).toBe('from before');
    script.calls.length = 0;
    await failureNow(guarded.get(at));
    expect([script.calls, clock.now()]).toEqual([[], manualClock().now()]);
  });
  it('keeps what reaches a server that is paused under load to a handful', async () => {
    const { clock, script, guarded } = scripted();
    script.does = never;
    // A thousand requests a second for three seconds.
    for (let ms = 0; ms < 3000; ms += 10) {
      for (let n = 0; n < 10; n++) guarded.get(at).catch(() => undefined);
      await clock.advance(10);
    }
    // Those of the first 250 ms, which could not know, and ten a second.
    expect(script.calls.length).toBeLessThanOrEqual(250 + 30);
    expect(script.calls.length).toBeGreaterThan(250 + 20);
  });
  it('is one for the records and another for the ledger', async () => {
    const { clock, script, guarded } = await opened();
    script.does = () => 'held';
    expect(await guarded.ledger.read(id, [day])).toBe('held');
    await expect(guarded.get(at)).rejects.toMatchObject({ status: 503 });
    expect(script.calls).toEqual(['read']);
    expect(clock.pending).toBe(0);
  });
  it('says in the log when it opens and when it closes, once each, without the server’s words', async () => {
    const { clock, script, lines, guarded } = scripted();
    script.does = refused;
    for (let n = 0; n < 50; n++) await failureNow(guarded.get(at));
    await clock.advance(100);
    script.does = () => 'back';
    for (let n = 0; n < 50; n++) await guarded.get(at);
    expect(lines).toEqual([
      {
        level: 'warn',
        fields: {
          store: 'redis',
          part: 'records',
          error: 'Error ECONNREFUSED',
          todo: 'start the store, or correct its address; see docs/storage.md',
        },
        message: 'store does not respond',
      },
      { level: 'info', fields: { store: 'redis', part: 'records' }, message: 'store responds again' },
    ]);
  });
  it('says of a call that took too long which it was and which option limits it, until the circuit is open', async () => {
    const { clock, script, lines, guarded } = scripted();
    script.does = never;
    for (const call of [() => guarded.get(at), () => guarded.ledger.read(id, [day])]) {
      const failed = expect(call()).rejects.toMatchObject({ status: 503 });
      await clock.advance(timeoutMs);
      await failed;
    }
    const fields = { store: 'redis', timeoutMs, option: 'storeTimeoutMs' };
    expect(lines).toEqual([
      { level: 'warn', fields: { ...fields, part: 'records', operation: 'get' }, message: 'store call timed out' },
      { level: 'warn', fields: { ...fields, part: 'ledger', operation: 'read' }, message: 'store call timed out' },
    ]);
    for (let n = 0; n < 50; n++) {
      const failed = expect(guarded.get(at)).rejects.toMatchObject({ status: 503 });
      await clock.advance(timeoutMs);
      await failed;
    }
    // Four more until the circuit opened, and its own line.
    expect(lines).toHaveLength(2 + 4 + 1);
  });
  it('does not mind a logger that throws', async () => {
    const broken = () => {
      throw new Error('disk full');
    };
    const { script, guarded } = scripted({ logger: { info: broken, warn: broken } });
    script.does = refused;
    for (let n = 0; n < 6; n++) {
      expect((await failureNow(guarded.get(at))) as GatewayError).toMatchObject({ kind: 'unavailable' });
    }
  });
  it('takes other numbers', async () => {
    const { clock, script, guarded } = await opened({ circuitFailures: 1, circuitProbeMs: 1000 });
    await clock.advance(999);
    await failureNow(guarded.get(at));
    expect(script.calls).toEqual([]);
    await clock.advance(1);
    script.does = () => 'back';
    expect(await guarded.get(at)).toBe('back');
  });
  it('probes after a clock was set back', async () => {
    const clock = manualClock();
    let backMs = 0;
    const { script, guarded } = scripted({ clock: { ...clock, now: () => clock.now() - backMs } });
    script.does = refused;
    for (let n = 0; n < 5; n++) await failureNow(guarded.get(at));
    backMs = 3_600_000;
    script.does = () => 'back';
    // The interval of probes is that of the monotonic clock.
    await clock.advance(1_000);
    expect(await guarded.get(at)).toBe('back');
  });
});

async function failureNow(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (reason: unknown) => reason,
  );
}
