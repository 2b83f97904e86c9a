import type { Call } from '../call/call.ts';
import type { Facts, OwnCredential } from '../call/facts.ts';
import type { BudgetLimit } from '../stores/spending/spending.ts';
import type { PipelineDeps } from './deps.ts';

/** What is read before a call is planned. */
export interface Gathered {
  facts: Facts;
  /** The budgets of the workspace. */
  budgets: readonly BudgetLimit[];
}

/**
 * Reads what the plan needs, in parallel, and without a promise where all of it is in memory.
 * @throws GatewayError unavailable (503): a budget that cannot be read is not "no budget"
 */
export function gather(deps: PipelineDeps, { caller }: Call): Gathered | Promise<Gathered> {
  const { workspaceId, apiKeyHash } = caller;
  const credentials = deps.ownCredentials(workspaceId);
  const budgets = deps.budgetsOf(workspaceId);
  const gathered = (ownCredentials: readonly OwnCredential[], limits: readonly BudgetLimit[]): Gathered => {
    const nowMs = deps.clock.now();
    const { health, usableProviders } = deps;
    const facts = { resting: health.resting(nowMs), usableProviders, ownCredentials, workspaceId, apiKeyHash, nowMs };
    return { facts, budgets: limits };
  };
  if (credentials instanceof Promise || budgets instanceof Promise)
    return Promise.all([credentials, budgets]).then(([own, limits]) => gathered(own, limits));
  return gathered(credentials, budgets);
}
