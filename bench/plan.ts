import process from 'node:process';
import { planRoute } from '../src/routing/plan.ts';
import { answerParent, measuring } from './control.ts';
import { crowdPlan, crowdSize, type Wish, wishes } from './routing/crowd.ts';
import { median } from './statistics.ts';

/** The plan alone, from the sources: it is no part of what the package shows. */

/** CPU of a plan of `crowdSize` endpoints in microseconds, by what the request wishes; the median of the rounds. */
export type PlanCosts = Record<Wish, number>;

const rounds = 15;
const plansPerRound = 400;

/** @throws Error when a plan leaves out an endpoint: less work than is measured */
function measure(): PlanCosts {
  const names = Object.keys(wishes) as Wish[];
  const inputs = names.map((name) => crowdPlan(name));
  const costs = names.map((): number[] => []);
  // The first rounds are compiled as they run. In turns, so that no wish has the code to itself.
  for (let round = -rounds; round < rounds; round++) {
    for (const [at, inputOf] of inputs.entries()) {
      const start = process.cpuUsage();
      for (let plan = 0; plan < plansPerRound; plan++) {
        const { tries } = planRoute(inputOf());
        if (tries.length !== crowdSize) throw new Error(`A plan has ${tries.length} tries`);
      }
      const { user, system } = process.cpuUsage(start);
      if (round >= 0) costs[at]?.push((user + system) / plansPerRound);
    }
  }
  return Object.fromEntries(names.map((name, at) => [name, median(costs[at] ?? [])])) as PlanCosts;
}

answerParent({ ...measuring, port: () => 0, measure });
