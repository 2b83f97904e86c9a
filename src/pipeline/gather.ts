import { andThen } from '../base/and-then.ts';
import type { Call } from '../call/call.ts';
import type { ByokCredential, Facts } from '../call/facts.ts';
import type { CatalogView } from '../catalog/catalog.ts';
import { requestedSlugs, slugsToKnow } from '../routing/expand.ts';
import type { BudgetLimit } from '../stores/spending/spending.ts';
import { remember } from './conversation.ts';
import type { PipelineDeps, WorkspaceDefaults } from './deps.ts';

/** What is read before a call is planned. */
export interface Gathered {
  facts: Facts;
  view: CatalogView;
  /** The budgets of the workspace. */
  budgets: readonly BudgetLimit[];
  /** For a request that names no model; null: there is none. */
  defaultModel: string | null;
}

/**
 * Reads what the plan needs, in parallel, and without a promise where all of it is in memory.
 * @throws GatewayError unavailable (503): a budget that cannot be read is not "no budget"; invalid_request (400) where
 *         no model is named
 */
export function gather(deps: PipelineDeps, call: Call): Gathered | Promise<Gathered> {
  const { workspaceId } = call.caller;
  const credentials = deps.byokCredentials(workspaceId);
  const budgets = deps.budgetsOf(workspaceId);
  const defaults = deps.defaultsOf(workspaceId);
  if (credentials instanceof Promise || budgets instanceof Promise || defaults instanceof Promise)
    return Promise.all([credentials, budgets, defaults]).then(([own, limits, defaults]) =>
      withView(deps, call, own, limits, defaults),
    );
  return withView(deps, call, credentials, budgets, defaults);
}

function withView(
  deps: PipelineDeps,
  call: Call,
  byokCredentials: readonly ByokCredential[],
  budgets: readonly BudgetLimit[],
  defaults: WorkspaceDefaults,
): Gathered | Promise<Gathered> {
  const defaultModel = defaults.textModel ?? deps.defaultModel;
  const gathered = (view: CatalogView): Gathered => {
    const nowMs = deps.clock.now();
    const { workspaceId, apiKeyHash } = call.caller;
    const { pinned, random } = remember(deps, call);
    const facts: Facts = {
      health: deps.health.view(nowMs),
      random,
      pinned,
      defaultSort: defaults.sort,
      usableProviders: deps.usableProviders,
      byokCredentials,
      workspaceId,
      apiKeyHash,
      nowMs,
    };
    return { facts, view, budgets, defaultModel };
  };
  const view = deps.catalog.view(slugsToKnow(requestedSlugs(call.request, defaultModel)));
  return andThen(view, gathered);
}
