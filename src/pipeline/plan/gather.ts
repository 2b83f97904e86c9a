import { unlessStopped } from '../../base/async/within.ts';
import type { Call } from '../../call/call.ts';
import { type ByokCredential, type Facts, operatorsProviders } from '../../call/facts.ts';
import type { CatalogView } from '../../catalog/catalog.ts';
import { type Imposed, nothingImposed } from '../../guardrails/stored.ts';
import { slugsToKnow } from '../../routing/expand.ts';
import { asksAuto } from '../../routing/routers/choose.ts';
import { requestedSlugs } from '../../routing/slugs.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { TaskName } from '../../schema/tasks.ts';
import type { BudgetLimit } from '../../stores/spending/spending.ts';
import type { MoneyDeps, RoutingDeps, WorkspaceDefaults } from '../deps.ts';
import { Conversation } from './conversation.ts';
import { defaultModelOf } from './named-models.ts';
import { shorteningOf } from './shortening.ts';

/** The values that are read of a workspace. */
type Read = readonly [readonly ByokCredential[], readonly BudgetLimit[], WorkspaceDefaults, Imposed];

/** The facts that are read before a generation is planned. */
export interface Gathered {
  facts: Facts;
  view: CatalogView;
  /** The budgets of the workspace, and those that guardrails give to the key. */
  budgets: readonly BudgetLimit[];
  /** The model of a request that names no model; null: there is none. */
  defaultModel: string | null;
  conversation: Conversation;
}

/**
 * Reads the facts that the plan needs, in parallel.
 * @param request  of another task: its view, see `pipeline/task`
 * @throws GatewayError unavailable (503): a budget that cannot be read is not "no budget"; invalid_request (400) where
 * no model is named
 */
export async function gather(
  deps: RoutingDeps & Pick<MoneyDeps, 'budgetsOf'>,
  call: Call,
  request: ChatRequest,
  task: TaskName = 'chat',
): Promise<Gathered> {
  const { workspaceId, apiKeyHash, models } = call.caller;
  const reads = [
    deps.byokCredentials(workspaceId),
    deps.budgetsOf(call.caller),
    deps.defaultsOf(workspaceId),
    deps.imposedOn?.(call.caller) ?? nothingImposed,
  ] as const;
  // Values in memory are here at once, and cost no promise: docs/performance.md, "Values instead of promises".
  const isHere = !reads.some((read) => read instanceof Promise);
  const [byokCredentials, budgets, defaults, imposed] = isHere ? (reads as unknown as Read) : await Promise.all(reads);
  // The models for requests without one are models for chat.
  const isChat = task === 'chat';
  const defaultModel = isChat ? (defaultModelOf(defaults, request) ?? deps.defaultModel) : null;
  const viewed = deps.catalog.view(slugsToKnow(requestedSlugs(request, defaultModel), deps.pluginVariants));
  const view = viewed instanceof Promise ? await viewed : viewed;
  const nowMs = deps.clock.now();
  const conversation = new Conversation(deps, call, request);
  const isByokOnly = defaults.isByokOnly || call.caller.isByokOnly === true;
  const { usableProviders, withheldProviders } = operatorsProviders(deps.usableProviders, isByokOnly);
  const facts: Facts = {
    health: deps.health.view(nowMs, workspaceId),
    random: conversation.random,
    pinned: conversation.pinned,
    defaultSort: defaults.sort,
    usableProviders,
    withheldProviders,
    byokCredentials,
    workspaceId,
    apiKeyHash,
    mayUseModel: both(models?.allows ?? null, imposed.routing?.mayUseModel ?? null),
    imposed: imposed.routing,
    nowMs,
  };
  const { keyRings, isDown } = deps;
  if (isDown !== undefined) facts.isDown = isDown;
  if (keyRings !== undefined) {
    const named = conversation.keyNames();
    facts.keysOf = (provider) => keyRings.get(provider)?.inOrder(named) ?? null;
  }
  if (isChat && deps.shortener !== null) {
    const shortening = shorteningOf(deps, deps.shortener, call.ask);
    if (shortening !== null) facts.shortening = shortening;
  }
  // A scorer may ask a model, at the operator's expense.
  const difficulty = isByokOnly || !isChat ? undefined : deps.difficulty;
  if (difficulty !== undefined && asksAuto(requestedSlugs(request, defaultModel), { ...deps, view }))
    facts.difficulty = scored(await unlessStopped(call.signal, () => difficulty(request)));
  return { facts, view, budgets, defaultModel, conversation };
}

type MayUse = ((modelSlug: string) => boolean) | null;

function both(one: MayUse, other: MayUse): MayUse {
  return one === null || other === null ? (one ?? other) : (slug) => one(slug) && other(slug);
}

function scored(difficulty: number): number {
  if (typeof difficulty === 'number' && difficulty >= 0 && difficulty <= 1) return difficulty;
  throw new TypeError('difficulty: expected a number from 0 to 1');
}
