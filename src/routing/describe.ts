import { emptyPlan, type Plan, type Target } from '../call/plan.ts';
import type { AttemptTrace } from '../call/trace.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';
import type { PipelineStage, ServiceMetadata } from '../schema/chat/envelope.ts';
import { defaultedFields } from './model-defaults.ts';

/** The route of one generation. */
export interface Route {
  /** null: the generation was refused before it was planned. */
  plan: Plan | null;
  /** The target that serves; null: none does. */
  target: Target | null;
  attempts: readonly AttemptTrace[];
  /** The request as the caller, or a plugin, made it. */
  request?: ChatRequest;
}

/**
 * Builds the `service_metadata` of a response from the plans and the attempts. With several generations, the last one
 * is shown, with the attempts of all of them; `generations` then lists each.
 * @param stages  the stages of plugins and guardrails
 */
export function describeRoute(
  routes: readonly Route[],
  stages: readonly PipelineStage[],
  region: string | null,
): ServiceMetadata {
  const { plan: planned, target: selected, request } = routes.at(-1) ?? { plan: null, target: null };
  const plan = planned ?? emptyPlan;
  const shown = eachEndpoint(plan.targets);
  const count = routes.reduce((sum, { attempts }) => sum + attempts.length, 0);
  const described: ServiceMetadata = {
    requested: plan.requested,
    strategy: plan.strategy,
    region,
    // `join` makes one flat string (see `flatText`).
    summary: ['available=', shown.length, ', selected=', selected?.providerName ?? 'none'].join(''),
    attempt: count,
    is_byok: selected?.isByok ?? false,
    endpoints: {
      total: shown.length + plan.excluded.length,
      available: shown.map(({ endpoint, providerName }) => ({
        provider: providerName,
        model: endpoint.modelSlug,
        selected: endpoint === selected?.endpoint,
      })),
    },
  };
  // No spreads in the literal: docs/performance.md, "Literals without conditions".
  const params = paramsOf(plan, selected, request);
  if (params !== undefined) described.params = params;
  if (selected) Object.assign(described, sentBy(routes.at(-1)?.attempts ?? []));
  if (count > 1 || (count === 1 && !selected)) described.attempts = attemptsOf(routes);
  if (routes.length > 1) described.generations = routes.map(describeGeneration);
  if (stages.length > 0) described.pipeline = [...stages];
  return described;
}

/**
 * Returns the facts behind the decision, and the fields that the request got from the defaults of the model that
 * serves.
 */
function paramsOf({ params }: Plan, selected: Target | null, request: ChatRequest | undefined) {
  const defaulted = selected && request ? defaultedFields(request, selected.endpoint) : none;
  return defaulted.length > 0 ? { ...params, defaulted } : (params ?? undefined);
}

const none: readonly never[] = [];
const nothing = Object.freeze({});

/** The fields of the request that the attempt that serves left out; empty: none, or none serves. */
export function droppedBy(attempts: readonly AttemptTrace[]): readonly string[] {
  return attempts.findLast(({ status }) => status === 200)?.dropped ?? none;
}

/**
 * Returns the fields that the attempt that serves left out of the request, and the way it asked for output of a schema.
 */
function sentBy(
  attempts: readonly AttemptTrace[],
): Pick<ServiceMetadata, 'dropped' | 'structured_output' | 'thought_bindings'> {
  const serving = attempts.findLast(({ status }) => status === 200);
  if (!serving) return {};
  const { dropped, structuredOutput, thoughts } = serving;
  if (dropped.length === 0 && structuredOutput === null && thoughts === undefined) return nothing;
  return {
    ...(dropped.length > 0 ? { dropped: [...dropped] } : {}),
    ...(structuredOutput === null ? {} : { structured_output: structuredOutput }),
    ...bindingsOf(serving),
  };
}

/** Returns the thoughts that were dropped; nothing where all thoughts fitted. */
function bindingsOf({ thoughts }: AttemptTrace): Pick<ServiceMetadata, 'thought_bindings'> {
  if (thoughts === undefined) return {};
  const { dropReason, reported } = thoughts;
  if (dropReason === null && reported.count === 0) return {};
  return {
    thought_bindings: {
      ...(dropReason === null ? {} : { drop_reason: dropReason }),
      transformed: reported.count,
      input_transformations: [...reported.shown],
    },
  };
}

function attemptsOf(routes: readonly Route[]) {
  return routes.flatMap(({ attempts }) => attempts.map(({ provider, model, status }) => ({ provider, model, status })));
}

function describeGeneration(route: Route) {
  return {
    requested: route.plan?.requested ?? '',
    model: route.target?.endpoint.modelSlug ?? null,
    provider: route.target?.providerName ?? null,
    attempts: attemptsOf([route]),
  };
}

/** Returns one target per endpoint: an endpoint with several credentials has several targets. */
function eachEndpoint(targets: readonly Target[]): readonly Target[] {
  // An endpoint can only repeat with BYOK, with several keys of the operator, or with `:thinking`.
  if (targets.every(isAlone)) return targets;
  if (targets.length <= fewTargets) return targets.filter((one, at) => isFirst(targets, one.endpoint, at));
  const seen = new Set<Target['endpoint']>();
  return targets.filter(({ endpoint }) => seen.size < seen.add(endpoint).size);
}

function isAlone({ isByok, credential, reasons }: Target): boolean {
  return !isByok && reasons === undefined && (credential as { key?: string }).key === undefined;
}

/** The most targets for which comparing each pair takes less time than building a set. */
const fewTargets = 12;

function isFirst(targets: readonly Target[], endpoint: Target['endpoint'], at: number): boolean {
  for (let before = 0; before < at; before++) if (targets[before]?.endpoint === endpoint) return false;
  return true;
}
