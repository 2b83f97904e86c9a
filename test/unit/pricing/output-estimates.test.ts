import { describe, expect, it } from 'vitest';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import { createOutputEstimates, leastSamples } from '../../../src/pricing/output-estimates.ts';
import { randomFrom } from '../../support/race/random.ts';

const [mine, theirs] = ['mine', 'theirs'] as WorkspaceId[] as [WorkspaceId, WorkspaceId];

describe('the output that is enough for 99 of 100 requests', () => {
  it('is not known from too few', () => {
    const estimates = createOutputEstimates();
    for (let count = 1; count < leastSamples; count++) estimates.learn(mine, 'a', 10);
    expect(estimates.enough(mine, 'a')).toBeNull();
    estimates.learn(mine, 'a', 10);
    expect(estimates.enough(mine, 'a')).not.toBeNull();
  });
  it('is at least the 99th percentile, and at most 19 % above it', () => {
    const random = randomFrom(3);
    for (const scale of [1, 30, 5_000, 1_000_000]) {
      const estimates = createOutputEstimates();
      const seen = Array.from({ length: 1_000 }, () => Math.ceil(scale * random() ** 3));
      for (const tokens of seen) estimates.learn(mine, 'a', tokens);
      const exact = seen.toSorted((a, b) => a - b)[989] as number;
      const enough = estimates.enough(mine, 'a') as number;
      expect(enough).toBeGreaterThanOrEqual(exact);
      expect(enough).toBeLessThanOrEqual(Math.ceil(exact * 2 ** (1 / 4)));
    }
  });
  it('does not change with one large output in a hundred, and does with two', () => {
    const estimates = createOutputEstimates();
    for (let count = 0; count < 199; count++) estimates.learn(mine, 'a', 8);
    estimates.learn(mine, 'a', 4_096);
    estimates.learn(mine, 'a', 4_096);
    expect(estimates.enough(mine, 'a')).toBe(8);
    estimates.learn(mine, 'a', 4_096);
    expect(estimates.enough(mine, 'a')).toBe(4_096);
  });
  it('follows what is sent now', () => {
    const estimates = createOutputEstimates();
    for (let count = 0; count < 10_000; count++) estimates.learn(mine, 'a', 4_096);
    for (let count = 0; count < 10_000; count++) estimates.learn(mine, 'a', 2);
    expect(estimates.enough(mine, 'a')).toBe(2);
  });
  it('is that of the own workspace and the own kind, whatever others send', () => {
    const estimates = createOutputEstimates();
    for (let count = 0; count < leastSamples; count++) {
      estimates.learn(mine, 'a', 1_024);
      estimates.learn(theirs, 'a', 1);
      estimates.learn(mine, 'b', 1);
    }
    for (let kind = 0; kind < 1_000; kind++) estimates.learn(theirs, `kind ${kind}`, 1);
    expect(estimates.enough(mine, 'a')).toBe(1_024);
    // It has dropped its own.
    expect(estimates.enough(theirs, 'a')).toBeNull();
  });
  it('is never below what was seen for an output of any size', () => {
    const estimates = createOutputEstimates();
    for (let tokens = 1; tokens < 5_000; tokens += 7) {
      for (let count = 0; count < leastSamples; count++) estimates.learn(mine, `${tokens}`, tokens);
      expect(estimates.enough(mine, `${tokens}`)).toBeGreaterThanOrEqual(tokens);
    }
  });
});
