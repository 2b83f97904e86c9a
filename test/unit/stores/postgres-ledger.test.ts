import { describe, expect, it } from 'vitest';
import { defaultWorkspaceId, type WorkspaceId } from '../../../src/call/workspace.ts';
import { postgresLedger } from '../../../src/stores/ledger/postgres.ts';
import { postgresNames } from '../../../src/stores/storage/postgres-sql.ts';
import { settle } from '../../support/manual-clock.ts';

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
    ledger.release(workspaceId as WorkspaceId, id, 0).then(
      (outcome) => {
        outcomes[id] = outcome;
      },
      (error: Error) => {
        outcomes[id] = error.message;
      },
    );
  };
  /** Lets one go ahead and the others wait behind it. */
  const releaseAll = async (...ids: string[]) => {
    for (const id of ids) release(id);
    await settle();
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
    await releaseAll(...Array.from({ length: 300 }, (_, index) => `${index}`));
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
    await settle();
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

const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

/** A ledger whose server answers this, text or failure, one after the other. */
function ledgerThat(...answers: (string | Error)[]) {
  const calls: unknown[] = [];
  const ledger = postgresLedger(
    {
      namespace: '',
      async call(_, values) {
        calls.push(values);
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
        return [answer as string];
      },
      close: async () => {},
    },
    postgresNames('public', 'keyv'),
    { onLostHold: 'charge' },
  );
  return { ledger, calls };
}
const settleOn = ({ ledger }: ReturnType<typeof ledgerThat>) => ledger.settle(defaultWorkspaceId, 'id', 5, 0);

describe('the ledger on PostgreSQL, when the connection is lost before it has answered', () => {
  it('asks once more', async () => {
    const lost = ledgerThat(reset, '"ended"');
    expect(await settleOn(lost)).toBe('ended');
    expect(lost.calls[1]).toEqual(lost.calls[0]);
    const held = ledgerThat(reset, '{"isHeld":true}');
    const request = { id: 'id', workspaceId: defaultWorkspaceId, amountNanoUsd: 1, windows: [] };
    expect(await held.ledger.hold({ ...request, nowMs: 0, leaseUntilMs: 1 })).toEqual({ isHeld: true });
  });
  it('does not say of a settlement that there is no such hold: the first may have ended it', async () => {
    await expect(settleOn(ledgerThat(reset, '"unknown"'))).rejects.toBe(reset);
    expect(await settleOn(ledgerThat('"unknown"'))).toBe('unknown');
  });
  it('fails when it is lost again, and with any other failure', async () => {
    await expect(settleOn(ledgerThat(reset, reset))).rejects.toBe(reset);
    const full = Object.assign(new Error('disk full'), { code: '53100', severity: 'ERROR' });
    const refused = ledgerThat(full);
    await expect(settleOn(refused)).rejects.toBe(full);
    expect(refused.calls).toHaveLength(1);
  });
});
