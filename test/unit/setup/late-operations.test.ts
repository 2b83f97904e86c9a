import { describe, expect, it } from 'vitest';
import { operations } from '../../../src/operations/index.ts';
import { type OperationFacts, wholeOf } from '../../../src/operations/operation.ts';
import { lateOperations } from '../../../src/setup/operations/late.ts';

const deps = {
  brand: 'service',
  bounds: {},
  ids: { uuid: () => 'x' },
  pipeline: { plugins: [] },
  byokProviders: new Map(),
} as never;

const factsOf = ({ name, method, path, permissions, api, wire, ...more }: OperationFacts) => ({
  ...{ name, method, path, permissions, api, wire },
  id: more.generationId?.(5_000),
  recordsItself: more.recordsItself,
  overSocket: more.overSocket,
  isPublic: more.isPublic,
});

describe('an operation that is loaded at its first use', () => {
  it('is known before as it is afterwards', () => {
    expect(lateOperations(deps).operations.map(factsOf)).toEqual(operations(deps).map(factsOf));
  });

  it('is itself after the first use, without a promise', async () => {
    const listed = lateOperations(deps).operations.find(({ name }) => name === 'createMessage') as OperationFacts;
    const whole = wholeOf(listed as never);
    expect(whole).toBeInstanceOf(Promise);
    expect((await whole).run).toBeTypeOf('function');
    expect(wholeOf(listed as never)).toBe(await whole);
  });

  it('is there at once when all were loaded before', async () => {
    const late = lateOperations(deps);
    await late.load();
    for (const listed of late.operations) expect(wholeOf(listed)).not.toBeInstanceOf(Promise);
  });
});
