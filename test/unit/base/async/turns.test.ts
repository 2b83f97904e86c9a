import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { turn } from '../../../../src/base/async/turns.ts';
import { runs } from '../../../support/runs.ts';

/** Works so many turns for a group. @returns the groups in the order in which they had their turns */
async function turnsOf(asked: readonly (readonly [group: string, turns: number])[]): Promise<string[]> {
  const had: string[] = [];
  await Promise.all(
    asked.map(async ([group, count]) => {
      for (let done = 0; done < count; done++) {
        await turn(group);
        had.push(group);
      }
    }),
  );
  return had;
}

describe('turns on the event loop', () => {
  it('are fair by group: one who waits has a turn after at most one of each other group', async () => {
    const groups = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer({ min: 1, max: 6 })), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(groups, async (asked) => {
        const left = new Map<string, number>();
        for (const [group, count] of asked) left.set(group, (left.get(group) ?? 0) + count);
        const had = await turnsOf(asked);
        expect(had.length).toBe(asked.reduce((sum, [, count]) => sum + count, 0));
        const lastOf = new Map<string, number>();
        for (const [at, group] of had.entries()) {
          // Since its last turn, no other group has had two.
          const since = had.slice((lastOf.get(group) ?? -1) + 1, at);
          expect(new Set(since).size).toBe(since.length);
          lastOf.set(group, at);
          left.set(group, (left.get(group) ?? 0) - 1);
        }
        expect([...left.values()].every((count) => count === 0)).toBe(true);
      }),
      { seed: 20261126, numRuns: runs(30, 500) },
    );
  });
  it('of a group with many delay another by one', async () => {
    const had = await turnsOf([...Array.from({ length: 50 }, () => ['many', 3] as const), ['one', 3]]);
    expect(had.flatMap((group, at) => (group === 'one' ? at : []))).toEqual([1, 3, 5]);
  });
  it('let what else the event loop has to do come between', async () => {
    let isOver = false;
    let between = 0;
    const count = () => {
      between++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await turnsOf([['a', 10]]);
    isOver = true;
    expect(between).toBeGreaterThanOrEqual(9);
  });
  it('end when nobody waits, and begin anew', async () => {
    expect(await turnsOf([['a', 1]])).toEqual(['a']);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(await turnsOf([['b', 1]])).toEqual(['b']);
  });
});
