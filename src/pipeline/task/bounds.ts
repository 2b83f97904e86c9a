import { GatewayError } from '../../base/errors.ts';
import type { Plan, Target } from '../../call/plan.ts';
import { taskCeiling, unknownTaskPart } from '../../pricing/task-cost.ts';
import type { Provider } from '../../providers/provider.ts';
import type { MoneyDeps } from '../deps.ts';
import { type BudgetScope, type CostBounds, costIn } from '../money/afford.ts';
import type { TaskBatch, TaskProgress } from './task.ts';

/** The cost of a task, as holding its money asks for it. */
export class TaskBounds implements CostBounds {
  readonly #deps: Pick<MoneyDeps, 'provider' | 'budgets'>;
  readonly #progress: TaskProgress;

  constructor(deps: Pick<MoneyDeps, 'provider' | 'budgets'>, progress: TaskProgress) {
    this.#deps = deps;
    this.#progress = progress;
  }

  priced(plan: Plan, budgetScopes: readonly BudgetScope[]): readonly Target[] {
    const targets: Target[] = [];
    const unpriced = new Set<string>();
    for (const target of plan.targets) {
      if (target.isByok && !budgetScopes.some(({ countsByok }) => countsByok)) {
        targets.push({ ...target, ceilingNanoUsd: 0 });
        continue;
      }
      const batches = batchesAt(this.#deps, this.#progress, target);
      const priced = withCeiling(target, batches);
      if (priced !== null) targets.push(priced);
      else if (this.#deps.budgets.unknownPrice === 'allow') targets.push({ ...target, ceilingNanoUsd: 0 });
      else unpriced.add(nameOf(target, batches));
    }
    if (targets.length > 0) return targets;
    const names = [...unpriced];
    throw new GatewayError(
      'invalid_request',
      `The price of ${names.join(', ')} is not known, so its cost cannot be held against the budget; choose another model, or have a price configured`,
      { metadata: { unpriced: names } },
    );
  }

  fitting(targets: readonly Target[], budgetScope: BudgetScope, availableNanoUsd: number): readonly Target[] {
    return targets.filter((target) => costIn(budgetScope, target) <= availableNanoUsd);
  }

  cheapest(targets: readonly Target[], budgetScope: BudgetScope) {
    return { nanoUsd: Math.min(...targets.map((target) => costIn(budgetScope, target))), maxTokens: 0 };
  }
}

/** Returns the requests for what is missing, as a target takes them. */
export function batchesAt(
  { provider }: Pick<MoneyDeps, 'provider'>,
  progress: TaskProgress,
  { endpoint }: Target,
): readonly TaskBatch[] {
  return progress.missing(provider(endpoint.providerSlug) as Provider, endpoint);
}

/** Returns a target with the most that requests to it cost; null: its price is not known. */
export function withCeiling(target: Target, batches: readonly TaskBatch[]): Target | null {
  let ceilingNanoUsd = 0;
  let promptTokens = 0;
  for (const { bound } of batches) {
    const nanoUsd = taskCeiling(target.endpoint.pricing, bound);
    if (nanoUsd === null) return null;
    ceilingNanoUsd += nanoUsd;
    promptTokens += bound.tokens;
  }
  return { ...target, ceilingNanoUsd, mostTokens: { promptTokens, completionTokens: 0 } };
}

/** Returns the words that complete "the price of … is not known". */
function nameOf({ endpoint }: Target, batches: readonly TaskBatch[]): string {
  const name = `${endpoint.modelSlug} at ${endpoint.tag}`;
  for (const { bound } of batches) {
    const part = unknownTaskPart(endpoint.pricing, bound);
    if (part) return `${name} for ${part}`;
  }
  return name;
}
