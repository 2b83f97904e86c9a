import { needsOf } from '../../src/routing/needs.ts';
import { difficultyOf, featuresOf } from '../../src/routing/routers/difficulty.ts';
import { prompts } from './prompts.ts';

/** USD per million tokens, and quality from 0 to 1. Made up. */
const models = [
  { price: 0.1, quality: 0.25 },
  { price: 0.5, quality: 0.5 },
  { price: 2, quality: 0.7 },
  { price: 8, quality: 0.85 },
  { price: 30, quality: 0.95 },
];

export interface CurvePoint {
  tradeoff: number;
  /** Mean over all prompts, USD per million tokens. */
  price: number;
  /** Share of the prompts whose model was good enough, 0 to 1. */
  good: number;
}

/** Chooses a model for a difficulty and a trade-off. @returns its place in a list of prices and qualities */
export type Choose = (
  models: readonly { price: number; quality: number }[],
  difficulty: number,
  tradeoff: number,
) => number;

/** What each trade-off costs and brings. @param seesDifficulty  false: every prompt counts as easy */
export function curve(choose: Choose, seesDifficulty: boolean): CurvePoint[] {
  return Array.from({ length: 11 }, (_, tradeoff) => {
    let price = 0;
    let good = 0;
    for (const { text, needs } of prompts) {
      const request = { messages: [{ role: 'user' as const, content: text }] };
      const difficulty = seesDifficulty ? difficultyOf(featuresOf(request, needsOf(request))) : 0;
      const chosen = models[choose(models, difficulty, tradeoff)];
      price += (chosen?.price ?? 0) / prompts.length;
      if (chosen !== undefined && chosen.quality >= needs) good += 1 / prompts.length;
    }
    return { tradeoff, price, good };
  });
}
