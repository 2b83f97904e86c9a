import { describe, expect, it } from 'vitest';
import { generationId, holdId, isUuid, randomIds } from '../../../src/base/ids.ts';

it('makes completion ids that are ordered by time and differ within a second', () => {
  const at = (ms: number) => generationId(randomIds, ms);
  expect(at(1_767_225_600_999)).toMatch(/^gen-1767225600-[0-9a-f]{20}$/);
  expect(new Set(Array.from({ length: 1000 }, () => at(0))).size).toBe(1000);
  expect(at(1_767_225_601_000) > at(1_767_225_600_000)).toBe(true);
});

it('takes the digits of a UUID that say nothing of its kind, and a shorter id as it is', () => {
  const from = (uuid: string) => generationId({ uuid: () => uuid }, 1_767_225_600_000);
  expect(from('01234567-89ab-4cde-8fed-cba987654321')).toBe('gen-1767225600-0123456789ab87654321');
  expect(from('fixed')).toBe('gen-1767225600-fixed');
});

it('makes UUIDs of version 4, all different', () => {
  const made = Array.from({ length: 1000 }, () => randomIds.uuid());
  for (const uuid of made)
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(made).size).toBe(1000);
  // Each digit but those of version and variant comes as any of the sixteen.
  for (let place = 0; place < 36; place++) {
    const kinds = new Set(made.map((uuid) => uuid[place])).size;
    expect(kinds).toBe([8, 13, 18, 23, 14].includes(place) ? 1 : place === 19 ? 4 : 16);
  }
});

it('makes ids of holds in the order of their making, also within a second, that differ between processes', () => {
  const ids = { uuid: () => randomIds.uuid() };
  const made = Array.from({ length: 1000 }, (_, at) => holdId(ids, 4_102_444_800_000 + Math.floor(at / 2)));
  expect(made).toEqual(made.toSorted());
  expect(made[999]).toMatch(/^hold-4102444800-003e7[0-9a-f]{15}$/);
  expect(holdId(ids, 4_102_444_801_000)).toMatch(/^hold-4102444801-00000[0-9a-f]{15}$/);
  expect(new Set(made.map((id) => id.slice(-15))).size).toBe(1000);
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
