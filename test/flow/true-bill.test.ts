import { expect, it } from 'vitest';
import { playWorld } from '../support/bill/story.ts';
import { runs } from '../support/runs.ts';

const firstSeed = Number(process.env.BILL_SEED ?? 1);
const seeds = runs(40, 3_000);

it('whatever clients, providers and the network do: the true bill ≤ booked ≤ limit, or the request was refused', async () => {
  const met: Record<string, number> = {};
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const outcome = await playWorld(seed);
    for (const [what, times] of Object.entries(outcome.met)) met[what] = (met[what] ?? 0) + times;
    expect({ seed, wrong: outcome.wrong }).toEqual({ seed, wrong: [] });
  }
  // What the seeds are there for has happened.
  for (const what of [
    'byok',
    'several attempts billed',
    'billed after the client left',
    'cut',
    'estimated',
    'booked to the nano-dollar',
    'refused for money',
    'timed out',
    '/chat/completions',
    '/responses',
    '/responses/compact',
    'billed in Responses',
  ])
    expect([what, met[what] ?? 0]).toEqual([what, expect.toSatisfy((times: number) => times > 0)]);
}, 1_200_000);
