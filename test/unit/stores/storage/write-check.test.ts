import { describe, expect, it } from 'vitest';
import { guardStorage } from '../../../../src/stores/storage/guard.ts';
import type { Storage } from '../../../../src/stores/storage/storage.ts';
import { writeCheck } from '../../../../src/stores/storage/write-check.ts';
import { manualClock } from '../../../support/manual-clock.ts';

const coded = (message: string, code?: string) => Object.assign(new Error(message), code === undefined ? {} : { code });

function scripted(kind: Storage['kind'] = 'sqlite') {
  const clock = manualClock();
  const script: { fails: Error | null; mostBytes: number } = { fails: null, mostBytes: Number.POSITIVE_INFINITY };
  const lines: { fields: Record<string, unknown>; message: string }[] = [];
  let writes = 0;
  const storage = {
    kind,
    isShared: true,
    ledger: {},
    rates: {},
    async commit([change]: readonly { value: string | null }[]) {
      writes++;
      if ((change?.value?.length ?? 0) > script.mostBytes) throw coded('database or disk is full', 'SQLITE_FULL');
      if (script.fails !== null) throw script.fails;
      return true;
    },
  } as unknown as Storage;
  const note = (fields: object, message: string) => void lines.push({ fields: { ...fields }, message });
  const writing = writeCheck(clock);
  const logger = { info: note, warn: note };
  const guarded = guardStorage(storage, { clock, timeoutMs: 1_000, logger, onRefusedWrite: writing.refused });
  const check = { check: () => writing.check(guarded) };
  return { clock, script, lines, guarded, check, writes: () => writes };
}

describe('the check whether a store takes writes', () => {
  it('writes at most every five seconds while that works, and at once where it did not', async () => {
    const { clock, script, check, writes } = scripted();
    await check.check();
    await check.check();
    expect(writes()).toBe(1);
    await clock.advance(5_000);
    script.fails = coded('database or disk is full', 'SQLITE_FULL');
    await expect(check.check()).rejects.toMatchObject({ status: 503 });
    script.fails = null;
    await check.check();
    // A large one and the usual one: only that much room makes up for a refusal.
    expect(writes()).toBe(4);
  });
  it('counts what the store has refused to somebody else, until much more than that fits', async () => {
    const { script, check, guarded } = scripted();
    await check.check();
    script.mostBytes = 10_000;
    await expect(
      guarded.commit([{ at: { partition: 'p', kind: 'k', id: 'i' }, value: 'y'.repeat(20_000) }]),
    ).rejects.toThrow();
    await expect(check.check()).rejects.toMatchObject({ errorType: 'store_full' });
    await expect(check.check()).rejects.toMatchObject({ errorType: 'store_full' });
    script.mostBytes = Number.POSITIVE_INFINITY;
    await check.check();
  });
  it('leaves a store in memory alone', async () => {
    const { check, writes } = scripted('memory');
    await check.check();
    expect(writes()).toBe(0);
  });
});

describe('a store that takes no writes', () => {
  it.each([
    ['store_full', coded('database or disk is full', 'SQLITE_FULL'), /^make room/],
    ['store_full', coded('could not extend file: No space left on device', '53100'), /^make room/],
    ['store_full', coded("OOM command not allowed when used memory > 'maxmemory'."), /^make room/],
    ['store_full', coded('MISCONF Redis is configured to save RDB snapshots'), /^make room/],
    ['store_full', new Error('x', { cause: coded('ENOSPC: no space left on device', 'ENOSPC') }), /^make room/],
    ['store_read_only', coded('attempt to write a readonly database', 'SQLITE_READONLY'), /the right to write/],
    ['store_read_only', coded('cannot execute INSERT in a read-only transaction', '25006'), /the right to write/],
    ['store_read_only', coded('permission denied for table records', '42501'), /the right to write/],
    ['store_read_only', coded("READONLY You can't write against a read only replica."), /the right to write/],
    ['store_unavailable', coded('connect ECONNREFUSED 127.0.0.1:6379', 'ECONNREFUSED'), null],
    ['store_unavailable', coded('duplicate key', '23505'), null],
  ])('is told apart in the error and in the log: %s, %s', async (errorType, error, todo) => {
    const { script, lines, check } = scripted();
    script.fails = error;
    await expect(check.check()).rejects.toMatchObject({ status: 503, errorType });
    const said = lines.find(({ message }) => message === 'store refused a call')?.fields.todo;
    if (todo === null) expect(said).toBeUndefined();
    else expect(said).toMatch(todo);
  });
  it('is said once, and once more when it takes them again', async () => {
    const { script, lines, check, clock } = scripted();
    script.fails = coded('database or disk is full', 'SQLITE_FULL');
    for (let n = 0; n < 5; n++) await check.check().catch(() => undefined);
    script.fails = null;
    await check.check();
    await clock.advance(5_000);
    await check.check();
    expect(lines.map(({ message }) => message)).toEqual(['store refused a call', 'store accepts writes again']);
  });
});
