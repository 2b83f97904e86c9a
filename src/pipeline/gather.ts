import type { Call } from '../call/call.ts';
import type { Facts } from '../call/facts.ts';
import type { CatalogView } from '../catalog/catalog.ts';
import { requestedSlugs, slugsToKnow } from '../routing/expand.ts';
import type { ChatRequest } from '../schema/chat.ts';
import type { BudgetLimit } from '../stores/spending/spending.ts';
import { Conversation } from './conversation.ts';
import type { MoneyDeps, RoutingDeps } from './deps.ts';

/** What is read before a generation is planned. */
export interface Gathered {
  facts: Facts;
  view: CatalogView;
  /** The budgets of the workspace. */
  budgets: readonly BudgetLimit[];
  /** For a request that names no model; null: there is none. */
  defaultModel: string | null;
  conversation: Conversation;
}

/**
 * Reads what the plan needs, in parallel.
 * @throws GatewayError unavailable (503): a budget that cannot be read is not "no budget"; invalid_request (400) where
 *         no model is named
 */
export async function gather(
  deps: RoutingDeps & Pick<MoneyDeps, 'budgetsOf'>,
  call: Call,
  request: ChatRequest,
): Promise<Gathered> {
  const { workspaceId, apiKeyHash } = call.caller;
  // The three are read beside each other. What is in memory is here at once, and costs no promise.
  const reads = [deps.byokCredentials(workspaceId), deps.budgetsOf(workspaceId), deps.defaultsOf(workspaceId)] as const;
  const [byokCredentials, budgets, defaults] = await Promise.all(reads);
  const defaultModel = defaults.textModel ?? deps.defaultModel;
  const view = await deps.catalog.view(slugsToKnow(requestedSlugs(request, defaultModel)));
  const nowMs = deps.clock.now();
  const conversation = new Conversation(deps, call, request);
  const facts: Facts = {
    health: deps.health.view(nowMs),
    random: conversation.random,
    pinned: conversation.pinned,
    defaultSort: defaults.sort,
    usableProviders: deps.usableProviders,
    byokCredentials,
    workspaceId,
    apiKeyHash,
    nowMs,
  };
  return { facts, view, budgets, defaultModel, conversation };
}
