import { describe, expect, it } from 'vitest';
import { chooseModel } from '../../bench/auto-router/choose.ts';
import { curve } from '../../bench/auto-router/curve.ts';
import { plotCurves } from '../../bench/auto-router/plot.ts';
import { readDoc } from '../docs/markdown.ts';

const aware = curve(chooseModel, true);
const blind = curve(chooseModel, false);

describe('docs/img/auto-router.svg', () => {
  it('is what bench/auto-router.ts draws', () => {
    expect(readDoc('docs/img/auto-router.svg')).toBe(plotCurves(aware, blind));
  });
  it('shows prices that fall with the trade-off, and more good responses by difficulty at the default', () => {
    const prices = aware.map(({ price }) => price);
    expect(prices).toEqual(prices.toSorted((a, b) => b - a));
    expect(aware[7]?.good).toBeGreaterThan(blind[7]?.good ?? 1);
  });
});
