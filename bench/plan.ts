import { planRoute } from '../src/routing/plan.ts';
import { measuring, serveParent } from './control.ts';
import { type Cost, costsOf } from './cpu-cost.ts';
import { crowdPlan, crowdSize, type PreferenceSet, preferences } from './routing/crowd.ts';

/** Measures the plan alone, from the sources: the built package does not export it. */

/** CPU of a plan of `crowdSize` endpoints, by the request's preferences. */
export type PlanCosts = Record<PreferenceSet, Cost>;

/** @throws Error when a plan lacks an endpoint, because it then did less work than intended */
function measure(): PlanCosts {
  const tasks = Object.fromEntries(
    (Object.keys(preferences) as PreferenceSet[]).map((name) => {
      const inputOf = crowdPlan(name);
      return [name, () => plan(inputOf())];
    }),
  ) as Record<PreferenceSet, () => void>;
  return costsOf(tasks, { rounds: 15, perRound: 400 });
}

function plan(input: Parameters<typeof planRoute>[0]): void {
  const { targets } = planRoute(input);
  if (targets.length !== crowdSize) throw new Error(`A plan has ${targets.length} targets`);
}

serveParent({ ...measuring, port: () => 0, measure });
