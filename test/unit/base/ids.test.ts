import { describe, expect, it } from 'vitest';
import { generationId, isUuid, randomIds } from '../../../src/base/ids.ts';

it('makes completion ids that are ordered by time and differ within a second', () => {
  const at = (ms: number) => generationId(randomIds, ms);
  expect(at(1_767_225_600_999)).toMatch(/^gen-1767225600-[0-9a-f]{20}$/);
  expect(new Set(Array.from({ length: 1000 }, () => at(0))).size).toBe(1000);
  expect(at(1_767_225_601_000) > at(1_767_225_600_000)).toBe(true);
});

describe('a text is a UUID', () => {
  it.each<[string, boolean]>([
    ['00000000-0000-4000-8000-000000000001', true],
    ['ABCDEF01-2345-6789-abcd-ef0123456789', true],
    [randomIds.uuid(), true],
    ['00000000-0000-4000-8000-00000000000', false],
    ['00000000-0000-4000-8000-0000000000011', false],
    ['00000000000040008000000000000001', false],
    ['g0000000-0000-4000-8000-000000000001', false],
    ['{00000000-0000-4000-8000-000000000001}', false],
    ['00000000-0000-4000-8000-000000000001\n', false],
    ['', false],
  ])('%j: %s', (text, expected) => {
    expect(isUuid(text)).toBe(expected);
  });
});
