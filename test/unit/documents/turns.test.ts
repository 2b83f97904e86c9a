import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Turn, turns } from '../../../src/documents/turns.ts';
import { runs } from '../../support/runs.ts';

const never = new AbortController().signal;

/** Work that ends when it is told to, in the order in which it began. */
function scripted(limits = { running: 2, runningOfWorkspace: 1 }) {
  const inTurn = turns(limits);
  const began: string[] = [];
  const open = new Map<string, () => void>();
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    began,
    open,
    settle,
    read(name: string, turn: Turn, signal = never): Promise<string> {
      return inTurn(turn, signal, () => {
        began.push(name);
        return new Promise((resolve) => open.set(name, () => resolve(name)));
      });
    },
    async end(name: string) {
      open.get(name)?.();
      open.delete(name);
      await settle();
    },
  };
}

describe('documents that are read in turn', () => {
  it('of one workspace never keep another from a place', async () => {
    const { read, began, settle, end } = scripted();
    for (let at = 0; at < 50; at++) void read(`slow ${at}`, { workspaceId: 'attacker' });
    await settle();
    void read('quick', { workspaceId: 'victim' });
    await settle();
    expect(began).toEqual(['slow 0', 'quick']);
    await end('quick');
    void read('next', { workspaceId: 'victim' });
    await settle();
    expect(began).toEqual(['slow 0', 'quick', 'next']);
  });
  it('begin for one workspace after the other, in the order in which each sent them', async () => {
    const { read, began, settle, end } = scripted({ running: 1, runningOfWorkspace: 1 });
    for (const name of ['a0', 'a1', 'a2', 'b0', 'b1', 'c0']) void read(name, { workspaceId: name[0] as string });
    await settle();
    for (let at = 0; at < 6; at++) await end(began[at] as string);
    expect(began).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'a2']);
  });
  it('are refused to the workspace that has too many of them, and to no other', async () => {
    const { read, began, settle } = scripted();
    const reads = Array.from({ length: 4 }, (_, at) => read(`a${at}`, { workspaceId: 'a', maxWaiting: 2 }));
    await expect(reads[3]).rejects.toMatchObject({ kind: 'rate_limited', status: 429, retryAfterMs: 5_000 });
    void read('b', { workspaceId: 'b', maxWaiting: 0 });
    await settle();
    expect(began).toEqual(['a0', 'b']);
  });
  it('tell when they wait, and when they begin', async () => {
    const { read, settle, end } = scripted();
    const told: string[] = [];
    const turn = (name: string): Turn => ({
      workspaceId: 'a',
      onWait: () => told.push(`${name} waits`),
      onStart: () => told.push(`${name} begins`),
    });
    void read('first', turn('first'));
    void read('second', turn('second'));
    await settle();
    expect(told.toSorted()).toEqual(['first begins', 'second waits']);
    await end('first');
    expect(told.at(-1)).toBe('second begins');
  });
  it('give up their turn when nobody wants them any more, and the next begins', async () => {
    const { read, began, settle, end } = scripted();
    void read('first', { workspaceId: 'a' });
    const left = new AbortController();
    const second = read('second', { workspaceId: 'a', maxWaiting: 1 }, left.signal);
    left.abort(new Error('left'));
    await expect(second).rejects.toThrow('left');
    void read('third', { workspaceId: 'a', maxWaiting: 1 });
    await settle();
    await end('first');
    expect(began).toEqual(['first', 'third']);
  });
  it('go on where one fails', async () => {
    const inTurn = turns({ running: 1, runningOfWorkspace: 1 });
    const failing = inTurn({ workspaceId: 'a' }, never, () => Promise.reject(new Error('broken')));
    const next = inTurn({ workspaceId: 'a' }, never, async () => 'read');
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('read');
  });
  it('all end, within the limits, however they come and go', async () => {
    const workspace = fc.constantFrom('a', 'b', 'c');
    const action = fc.record({ workspace, leaves: fc.boolean(), ends: fc.nat({ max: 2 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { maxLength: 30 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 3 }),
        async (actions, running, runningOfWorkspace) => {
          const { read, open, settle, end } = scripted({ running, runningOfWorkspace });
          const reads: Promise<string | null>[] = [];
          for (const [at, { workspace: workspaceId, leaves, ends }] of actions.entries()) {
            const left = new AbortController();
            reads.push(read(`${workspaceId}${at}`, { workspaceId }, left.signal).catch(() => null));
            await settle();
            if (leaves) left.abort(new Error('left'));
            expect(open.size).toBeLessThanOrEqual(running);
            for (const one of ['a', 'b', 'c'])
              expect([...open.keys()].filter((name) => name.startsWith(one)).length).toBeLessThanOrEqual(
                runningOfWorkspace,
              );
            for (const name of [...open.keys()].slice(0, ends)) await end(name);
          }
          while (open.size > 0) await end([...open.keys()][0] as string);
          expect(await Promise.all(reads)).toHaveLength(actions.length);
        },
      ),
      { seed: 3, numRuns: runs(40, 1_000) },
    );
  });
});
