import { describe, expect, it, vi } from 'vitest';
import { createCohort } from '../../../../src/base/async/cohort.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const never = () => expect.unreachable('nothing fails');

describe('a cohort', () => {
  it('takes the steps of one turn of the event loop in their order, in the next turn', async () => {
    const inStep = createCohort();
    const taken: string[] = [];
    inStep(() => taken.push('a'), never, false);
    inStep(() => taken.push('b'), never, false);
    await Promise.resolve();
    expect(taken).toEqual([]);
    await turn();
    expect(taken).toEqual(['a', 'b']);
  });
  it('takes all steps before what each of them lets go on', async () => {
    const inStep = createCohort();
    const taken: string[] = [];
    const stages = async (name: string) => {
      await new Promise<void>((resolve) => inStep(resolve, never, false));
      taken.push(`${name} first`);
      await null;
      taken.push(`${name} second`);
    };
    await Promise.all([stages('a'), stages('b')]);
    expect(taken).toEqual(['a first', 'b first', 'a second', 'b second']);
  });
  it('takes a step that another one asks for in the turn after', async () => {
    const inStep = createCohort();
    const taken: string[] = [];
    const again = (left: number) => {
      taken.push(`${left}`);
      if (left > 0) inStep(() => again(left - 1), never, false);
    };
    inStep(() => again(2), never, false);
    inStep(() => taken.push('beside'), never, false);
    await turn();
    expect(taken).toEqual(['2', 'beside']);
    await turn();
    await turn();
    expect(taken).toEqual(['2', 'beside', '1', '0']);
  });
  it('tells a step of its own failure, and takes the others', async () => {
    const inStep = createCohort();
    const failure = new Error('of one');
    const failed = vi.fn();
    const other = vi.fn();
    inStep(
      () => {
        throw failure;
      },
      failed,
      false,
    );
    inStep(other, never, false);
    await turn();
    expect(failed).toHaveBeenCalledExactlyOnceWith(failure);
    expect(other).toHaveBeenCalledOnce();
  });
  it('takes a step at once where no other request is there, unless steps wait already', async () => {
    const inStep = createCohort();
    const taken: string[] = [];
    inStep(() => taken.push('alone'), never, true);
    expect(taken).toEqual(['alone']);
    inStep(() => taken.push('one of two'), never, false);
    inStep(() => taken.push('the other'), never, true);
    expect(taken).toEqual(['alone']);
    await turn();
    expect(taken).toEqual(['alone', 'one of two', 'the other']);
  });
  it('takes a step at once where the runtime has no setImmediate', () => {
    vi.stubGlobal('setImmediate', undefined);
    try {
      const step = vi.fn();
      createCohort()(step, never, false);
      expect(step).toHaveBeenCalledOnce();
    } finally {
      vi.unstubAllGlobals();
    }
  });
});
