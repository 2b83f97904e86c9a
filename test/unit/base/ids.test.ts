import { expect, it } from 'vitest';
import { generationId, randomIds } from '../../../src/base/ids.ts';

it('makes completion ids that are ordered by time and differ within a second', () => {
  const at = (ms: number) => generationId(randomIds, ms);
  expect(at(1_767_225_600_999)).toMatch(/^gen-1767225600-[0-9a-f]{20}$/);
  expect(new Set(Array.from({ length: 1000 }, () => at(0))).size).toBe(1000);
  expect(at(1_767_225_601_000) > at(1_767_225_600_000)).toBe(true);
});
