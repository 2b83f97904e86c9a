import { describe, expect, it } from 'vitest';
import { defaultWorkspaceId, type WorkspaceId } from '../../../src/call/workspace.ts';
import { postgresLedger } from '../../../src/stores/ledger/postgres.ts';
import { postgresNames } from '../../../src/stores/storage/postgres/sql.ts';
import { settle, turns } from '../../support/manual-clock.ts';

interface Call {
  workspaceId: string;
  ids: string[];
  answer(): void;
  fail(error: Error): void;
}

/** A ledger whose server answers when it is told to. */
function bench() {
  const calls: Call[] = [];
  const connection = {
    namespace: '',
    call: (_: string, [, workspaceId, , steps]: readonly unknown[]) =>
      new Promise<string[]>((resolve, reject) => {
        const ids = (JSON.parse(steps as string) as { id: string }[]).map(({ id }) => id);
        const answer = () => resolve(ids.map((id) => JSON.stringify(`done ${id}`)));
        calls.push({ workspaceId: workspaceId as string, ids, answer, fail: reject });
      }),
    close: async () => {},
  };
  const ledger = postgresLedger(connection, postgresNames('public', 'keyv'), { onLostHold: 'charge' });
  const outcomes: Record<string, unknown> = {};
  const release = (id: string, workspaceId = 'one') => {
    ledger.release(workspaceId as WorkspaceId, id).then(
      (outcome) => {
        outcomes[id] = outcome;
      },
      (error: Error) => {
        outcomes[id] = error.message;
      },
    );
  };
  /** Lets one go ahead and the others wait behind it. */
  const releaseAll = async (first: string, ...others: string[]) => {
    release(first);
    await settle();
    for (const id of others) release(id);
    // Steps wait a few turns for each other.
    await turns(8);
  };
  return { calls, outcomes, release, releaseAll };
}

const sqlError = (code: string) => Object.assign(new Error(`error ${code}`), { code });

describe('steps in the money of a workspace', () => {
  it('wait while others are in flight, then go together in the order they came', async () => {
    const { calls, outcomes, releaseAll } = bench();
    await releaseAll('a', 'b', 'c');
    expect(calls.map(({ ids }) => ids)).toEqual([['a']]);
    calls[0]?.answer();
    await settle();
    expect(outcomes).toEqual({ a: 'done a' });
    await releaseAll('d');
    expect(calls.map(({ ids }) => ids)).toEqual([['a'], ['b', 'c']]);
    calls[1]?.answer();
    await settle();
    calls[2]?.answer();
    await settle();
    expect(calls.map(({ ids }) => ids)).toEqual([['a'], ['b', 'c'], ['d']]);
    expect(outcomes).toEqual({ a: 'done a', b: 'done b', c: 'done c', d: 'done d' });
  });
  it('go at once when nothing is in flight any more', async () => {
    const { calls, releaseAll } = bench();
    await releaseAll('a');
    calls[0]?.answer();
    await settle();
    await releaseAll('b');
    expect(calls.map(({ ids }) => ids)).toEqual([['a'], ['b']]);
  });
  it('do not wait for another workspace', async () => {
    const { calls, release } = bench();
    release('a', 'one');
    release('b', 'two');
    await settle();
    expect(calls.map(({ workspaceId, ids }) => [workspaceId, ids])).toEqual([
      ['one', ['a']],
      ['two', ['b']],
    ]);
  });
  it('are bounded in number', async () => {
    const { calls, releaseAll } = bench();
    await releaseAll('0', ...Array.from({ length: 299 }, (_, index) => `${index + 1}`));
    for (let turn = 0; turn < 4; turn++) {
      calls[turn]?.answer();
      await settle();
    }
    expect(calls.map(({ ids }) => ids.length)).toEqual([1, 128, 128, 43]);
  });
  it('all fail with the server, those that wait as well, and later ones try anew', async () => {
    const { calls, outcomes, releaseAll } = bench();
    await releaseAll('a', 'b', 'c');
    calls[0]?.fail(sqlError('53300'));
    await settle();
    expect(outcomes).toEqual({ a: 'error 53300', b: 'error 53300', c: 'error 53300' });
    expect(calls).toHaveLength(1);
    await releaseAll('d');
    calls[1]?.answer();
    await settle();
    expect(outcomes.d).toBe('done d');
  });
  it('of which the server cannot work with one go again, one by one, before those that came later', async () => {
    const { calls, outcomes, releaseAll } = bench();
    await releaseAll('a', 'b', 'bad', 'c');
    calls[0]?.answer();
    await turns(8);
    await releaseAll('d', 'e');
    calls[1]?.fail(sqlError('22P02'));
    await settle();
    calls[2]?.answer();
    await settle();
    calls[3]?.fail(sqlError('22P02'));
    await settle();
    calls[4]?.answer();
    await settle();
    calls[5]?.answer();
    await settle();
    expect(calls.map(({ ids }) => ids)).toEqual([['a'], ['b', 'bad', 'c'], ['b'], ['bad'], ['c'], ['d', 'e']]);
    expect(outcomes).toEqual({
      a: 'done a',
      b: 'done b',
      bad: 'error 22P02',
      c: 'done c',
      d: 'done d',
      e: 'done e',
    });
  });
  it('fail when the server answers fewer than it was asked', async () => {
    const { calls, outcomes, releaseAll } = bench();
    await releaseAll('a');
    calls[0]!.ids.length = 0;
    calls[0]?.answer();
    await settle();
    expect(outcomes.a).toMatch(/JSON/);
  });
});

it('the ledger on PostgreSQL lets a call be repeated when the connection is lost: no step does anything twice', async () => {
  const repeatable: boolean[] = [];
  const connection = {
    namespace: '',
    async call(_: string, __: readonly unknown[], isRepeatable: boolean) {
      repeatable.push(isRepeatable);
      return ['"repeated"'];
    },
    close: async () => {},
  };
  const ledger = postgresLedger(connection, postgresNames('public', 'keyv'), { onLostHold: 'charge' });
  expect(await ledger.settle(defaultWorkspaceId, 'id', 5)).toBe('repeated');
  expect(repeatable).toEqual([true]);
});
