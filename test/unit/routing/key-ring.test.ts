import { describe, expect, it } from 'vitest';
import type { KeyStrategy } from '../../../src/providers/keys/options.ts';
import { createKeyRing, type KeyRef, keyRefOf } from '../../../src/routing/key-ring.ts';

const refs = ['a', 'b', 'c'].map((key): KeyRef => ({ kind: 'operator', provider: 'p', key }));
const [a, b] = refs as [KeyRef, KeyRef, KeyRef];
const ring = (strategy: KeyStrategy) => createKeyRing(refs, strategy);
const order = (ring: ReturnType<typeof createKeyRing>, name: string | null = null) =>
  ring
    .inOrder(name === null ? null : ['w', name])
    .map(({ key }) => key)
    .join('');

describe('several keys', () => {
  it('in order are always used as they are listed', () => {
    const keys = ring('order');
    keys.planned(a);
    expect([order(keys), order(keys, 'session')]).toEqual(['abc', 'abc']);
  });
  it('in round-robin begin with the key after that of the last request, and an explanation changes nothing', () => {
    const keys = ring('round-robin');
    const seen: string[] = [];
    for (let n = 0; n < 4; n++) {
      const first = keys.inOrder(null)[0] as KeyRef;
      expect(keys.inOrder(null)[0]).toBe(first);
      keys.planned(first);
      seen.push(first.key);
    }
    expect([seen.join(''), order(keys)]).toEqual(['abca', 'bca']);
  });
  it('by load begin with the key of the fewest requests in flight, of equals in turn', () => {
    const keys = ring('least-loaded');
    const ends = [keys.began(a), keys.began(a), keys.began(b)];
    expect(order(keys)).toBe('cba');
    keys.began(refs[2] as KeyRef);
    expect(order(keys)).toBe('bca');
    keys.planned(b);
    expect(order(keys)).toBe('cba');
    for (const end of ends) {
      end();
      end();
    }
    expect(order(keys)[2]).toBe('c');
  });
  it('100 requests planned at once are spread evenly', () => {
    for (const strategy of ['round-robin', 'least-loaded'] as const) {
      const keys = ring(strategy);
      const counts = new Map<string, number>();
      for (let n = 0; n < 99; n++) {
        const first = keys.inOrder(null)[0] as KeyRef;
        keys.planned(first);
        counts.set(first.key, (counts.get(first.key) ?? 0) + 1);
      }
      expect([...counts.values()]).toEqual([33, 33, 33]);
    }
  });
  it('of one conversation have one order, whatever else happens, and conversations are spread', () => {
    const keys = ring('least-loaded');
    const before = order(keys, 'session-7');
    keys.began(a);
    keys.planned(a);
    expect(order(keys, 'session-7')).toBe(before);
    expect(order(ring('round-robin'), 'session-7')).toBe(before);
    const firsts = Array.from({ length: 300 }, (_, n) => order(keys, `session-${n}`).charAt(0));
    for (const key of 'abc') {
      const share = firsts.filter((first) => first === key).length;
      expect([share > 60, share < 140]).toEqual([true, true]);
    }
  });
  it('keep the conversations of the others when one is taken away', () => {
    const fewer = createKeyRing([a, b], 'round-robin');
    for (let n = 0; n < 50; n++) {
      const [before, after] = [order(ring('round-robin'), `s${n}`), order(fewer, `s${n}`)];
      expect(before.replace('c', '')).toBe(after);
    }
  });
});

it('a credential that is the only one of its provider is none of several keys', () => {
  expect(keyRefOf({ kind: 'operator', provider: 'p' })).toBe(null);
  expect(keyRefOf(a)).toBe(a);
});
