import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InFlight, type Place } from '../../../../src/base/async/in-flight.ts';

describe('what is in flight', () => {
  it('is what was added and has not left, the last first', () => {
    const open = new InFlight<string>();
    open.add('a');
    const b = open.add('b');
    open.add('c');
    expect(open.all()).toEqual(['c', 'b', 'a']);
    open.delete(b);
    expect(open.all()).toEqual(['c', 'a']);
  });
  it('may leave twice', () => {
    const open = new InFlight<string>();
    const a = open.add('a');
    open.delete(a);
    open.add('b');
    open.delete(a);
    expect(open.all()).toEqual(['b']);
  });
  it('points to nothing any more when it has left', () => {
    const open = new InFlight<string>();
    open.add('a');
    const b = open.add('b');
    open.add('c');
    open.delete(b);
    expect(b).toEqual({ value: null, previous: null, next: null });
  });
  it('is the same as a Set would say, whoever leaves when', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat(30))), (steps) => {
        const open = new InFlight<number>();
        const places: Place<number>[] = [];
        const expected = new Set<number>();
        for (const leaving of steps) {
          if (leaving === null) {
            expected.add(places.length);
            places.push(open.add(places.length));
          } else if (leaving < places.length) {
            expected.delete(leaving);
            open.delete(places[leaving] as Place<number>);
          }
        }
        expect(open.all().toReversed()).toEqual([...expected]);
      }),
    );
  });
});
