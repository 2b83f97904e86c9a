import { describe, expect, it } from 'vitest';
import { asBudget, asEffort, reasoningAmount } from '../../../../src/dialects/shared/reasoning-request.ts';

describe('the amount of reasoning that a request asks for', () => {
  it.each([
    [{}, null],
    [{ reasoning: {} }, null],
    [{ reasoning: { exclude: true } }, null],
    [{ reasoning_effort: 'low' as const }, { effort: 'low' }],
    [{ reasoning: { effort: 'high' as const } }, { effort: 'high' }],
    [{ reasoning: { max_tokens: 2000 } }, { maxTokens: 2000 }],
    [{ reasoning: { enabled: true } }, { effort: 'medium' }],
    [{ reasoning: { enabled: true, max_tokens: 9 } }, { maxTokens: 9 }],
    [{ reasoning: { enabled: false, effort: 'high' as const } }, { effort: 'none' }],
  ])('%j', (request, expected) => {
    expect(reasoningAmount(request)).toEqual(expected);
  });
});

describe('as a budget', () => {
  const bounds = { least: 1024, most: 128_000 };
  it.each([
    [{ effort: 'high' as const }, 10_000, 8000],
    [{ effort: 'minimal' as const }, 10_000, 1024],
    [{ effort: 'max' as const }, 200_000, 128_000],
    [{ maxTokens: 5000 }, 10_000, 5000],
    [{ maxTokens: 1 }, 10_000, 1024],
  ])('%j of %d', (amount, maxOutput, expected) => {
    expect(asBudget(amount, maxOutput, bounds)).toBe(expected);
  });
});

describe('as an effort', () => {
  it.each([
    [{ effort: 'max' as const }, 1000, 'max'],
    [{ maxTokens: 0 }, 1000, 'none'],
    [{ maxTokens: 100 }, 1000, 'minimal'],
    [{ maxTokens: 101 }, 1000, 'low'],
    [{ maxTokens: 500 }, 1000, 'medium'],
    [{ maxTokens: 5000 }, 1000, 'xhigh'],
  ])('%j of %d', (amount, maxOutput, expected) => {
    expect(asEffort(amount, maxOutput)).toBe(expected);
  });
});
