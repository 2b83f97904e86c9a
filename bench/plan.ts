import process from 'node:process';
import { planRoute } from '../src/routing/plan.ts';
import { answerParent, measuring } from './control.ts';
import { crowdPlan, crowdSize, defaults, type Wish } from './routing/crowd.ts';
import { median } from './statistics.ts';

/** The plan alone, from the sources: it is no part of what the package shows. */

/** CPU of a plan of `crowdSize` endpoints, by what the request wishes. */
export type PlanCosts = Record<Wish, PlanCost>;

/** Microseconds. What else runs on the machine makes a round dearer, never cheaper. */
export interface PlanCost {
  /** Of the rounds. */
  medianUs: number;
  bestUs: number;
}

const rounds = 15;
const plansPerRound = 400;

/** @throws Error when a plan leaves out an endpoint: less work than is measured */
function measure(): PlanCosts {
  const names = Object.keys(defaults) as Wish[];
  const inputs = names.map((name) => crowdPlan(name));
  const costs = names.map((): number[] => []);
  // The first rounds are compiled as they run. In turns, so that no wish has the code to itself.
  for (let round = -rounds; round < rounds; round++) {
    for (const [at, inputOf] of inputs.entries()) {
      const start = process.cpuUsage();
      for (let plan = 0; plan < plansPerRound; plan++) {
        const { targets } = planRoute(inputOf());
        if (targets.length !== crowdSize) throw new Error(`A plan has ${targets.length} tries`);
      }
      const { user, system } = process.cpuUsage(start);
      if (round >= 0) costs[at]?.push((user + system) / plansPerRound);
    }
  }
  const costOf = (us: readonly number[]): PlanCost => ({ medianUs: median(us), bestUs: Math.min(...us) });
  return Object.fromEntries(names.map((name, at) => [name, costOf(costs[at] ?? [])])) as PlanCosts;
}

answerParent({ ...measuring, port: () => 0, measure });
