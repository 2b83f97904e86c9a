import process from 'node:process';
import { planRoute } from '../src/routing/plan.ts';
import { measuring, serveParent } from './control.ts';
import { crowdPlan, crowdSize, type PreferenceSet, preferences } from './routing/crowd.ts';
import { median } from './statistics.ts';

/** Measures the plan alone, from the sources: the built package does not export it. */

/** CPU of a plan of `crowdSize` endpoints, by the request's preferences. */
export type PlanCosts = Record<PreferenceSet, PlanCost>;

/** Microseconds. Other processes on the machine can only make a round slower. */
export interface PlanCost {
  /** Median of the rounds. */
  medianUs: number;
  bestUs: number;
}

const rounds = 15;
const plansPerRound = 400;

/** @throws Error when a plan lacks an endpoint, because it then did less work than intended */
function measure(): PlanCosts {
  const names = Object.keys(preferences) as PreferenceSet[];
  const inputs = names.map((name) => crowdPlan(name));
  const costs = names.map((): number[] => []);
  // The rounds below 0 are a warm-up. The sets take turns, so that V8 does not optimise the code for one set only.
  for (let round = -rounds; round < rounds; round++) {
    for (const [at, inputOf] of inputs.entries()) {
      const start = process.cpuUsage();
      for (let plan = 0; plan < plansPerRound; plan++) {
        const { targets } = planRoute(inputOf());
        if (targets.length !== crowdSize) throw new Error(`A plan has ${targets.length} targets`);
      }
      const { user, system } = process.cpuUsage(start);
      if (round >= 0) costs[at]?.push((user + system) / plansPerRound);
    }
  }
  const costOf = (us: readonly number[]): PlanCost => ({ medianUs: median(us), bestUs: Math.min(...us) });
  return Object.fromEntries(names.map((name, at) => [name, costOf(costs[at] ?? [])])) as PlanCosts;
}

serveParent({ ...measuring, port: () => 0, measure });
