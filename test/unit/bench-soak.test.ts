import { describe, expect, it } from 'vitest';
import { judgeSoak, type Soaked, slopeOf } from '../../bench/soak/judge.ts';
import { bodyOf, kindOf } from '../../bench/soak/mix.ts';
import { plotSoak } from '../../bench/soak/plot.ts';

const flat = { heap: 40 * 2 ** 20, rss: 150 * 2 ** 20, handles: 60, p50Ms: 50, p99Ms: 200 };
const good: Soaked = {
  samples: Array.from({ length: 30 }, (_, at) => ({ ...flat, requests: (at + 1) * 10_000 })),
  endings: { whole: 200_000, left: 90_000, broken: 10_000, wrong: 0 },
  wrong: [],
  tally: { arrived: 299_000, recorded: 298_990, refused: 10, twice: 0, costNanoUsd: 5, overrunNanoUsd: 0 },
  money: { spentNanoUsd: 5, heldNanoUsd: 0 },
};
const failed = (found: Soaked) => judgeSoak(found).flatMap(({ what, passed }) => (passed ? [] : what));

describe('the soak', () => {
  it('mixes its requests as it says', () => {
    const kinds = Array.from({ length: 50_000 }, (_, number) => kindOf(number));
    const share = (is: (kind: (typeof kinds)[number]) => boolean) => kinds.filter(is).length / kinds.length;
    expect(share(({ leaves }) => leaves !== null)).toBeCloseTo(0.3, 2);
    expect(share(({ failure }) => failure !== null)).toBeCloseTo(0.1, 2);
    expect(share(({ stream }) => stream)).toBeCloseTo(0.5, 2);
    expect(share(({ path }) => path === '/responses')).toBeCloseTo(0.2, 2);
    expect(share(({ plugin }) => plugin)).toBeCloseTo(0.2, 2);
    for (const [number, kind] of kinds.entries()) expect(JSON.parse(bodyOf(number, kind)).stream).toBe(kind.stream);
  });

  it('passes what is flat, and forgives growth while caches fill', () => {
    expect(failed(good)).toEqual([]);
    const filling = good.samples.map((one) => ({ ...one, heap: Math.min(one.requests * 500, 50 * 2 ** 20) }));
    expect(failed({ ...good, samples: filling })).toEqual([]);
  });

  it.each<[string, Partial<Soaked>]>([
    ['growth of the heap', { samples: good.samples.map((one) => ({ ...one, heap: one.requests * 12 })) }],
    ['growth of the handles', { samples: good.samples.map((one) => ({ ...one, handles: one.requests / 1000 })) }],
    ['responses that ended', { endings: { ...good.endings, wrong: 1 } }],
    ['requests that arrived', { tally: { ...good.tally, recorded: 298_989 } }],
    ['requests that arrived', { tally: { ...good.tally, twice: 1 } }],
    ['held at the end', { money: { ...good.money, heldNanoUsd: 1 } }],
    ['spent in the ledger', { money: { ...good.money, spentNanoUsd: 6 } }],
    ['spent beyond', { tally: { ...good.tally, overrunNanoUsd: 1 } }],
  ])('fails by %s', (what, change) => {
    expect(failed({ ...good, ...change })).toEqual([expect.stringContaining(what)]);
  });

  it('fits a line', () => {
    expect(
      slopeOf([
        [0, 1],
        [1, 3],
        [2, 5],
      ]),
    ).toBe(2);
    expect(slopeOf([[1, 1]])).toBe(0);
  });

  it('draws all samples', () => {
    expect(
      plotSoak(good.samples)
        .match(/<polyline points="([^"]+)"/)?.[1]
        ?.split(' '),
    ).toHaveLength(30);
  });
});
