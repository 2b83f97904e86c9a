import * as z from 'zod';
import { isoTime } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { lazily } from '../../base/lazily.ts';
import { nanoToUsd } from '../../base/money.ts';
import { cleanName } from '../../base/text/clean-text.ts';
import type { Call } from '../../call/call.ts';
import { healthKey } from '../../call/facts.ts';
import type { OperationReply } from '../../call/reply.ts';
import { admitWithoutTokens } from '../../pipeline/call/admission.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import { type Explained, type ExplainedGeneration, type ExplainedTarget, explain } from '../../pipeline/explain.ts';
import { strategyOf } from '../../routing/expand.ts';
import { keyRefOf } from '../../routing/key-ring.ts';
import { defaultedFields } from '../../routing/model-defaults.ts';
import { namedSlugs } from '../../routing/slugs.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import { type Explanation, explanationSchema } from '../../schema/chat/explanation.ts';
import { checkWithPlugins } from '../../schema/chat/plugin-check.ts';
import { checkWithBounds, type RequestBounds } from '../../schema/chat/request-bounds.ts';
import { contradictions } from '../../schema/chat/validate.ts';
import { chatRequestCheck } from '../../schema/compiled.ts';
import { scopeOf } from '../../stores/spending/windows.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { chatCalls, chatIssues } from './call-of.ts';

export interface ExplainChatCompletionDeps {
  pipeline: PipelineDeps;
  ids: Ids;
  brand: string;
  bounds: RequestBounds;
}

/** Explains how a chat completion would be routed and paid now. The operation calls no provider and holds no money. */
export function explainChatCompletion({
  pipeline,
  ids,
  brand,
  bounds,
}: ExplainChatCompletionDeps): ApiOperation<'explain', unknown, { data: Explanation }, ChatRequest> {
  const callOf = chatCalls(ids, brand);
  const check = lazily(() => checkWithBounds(checkWithPlugins(chatRequestCheck, pipeline.plugins), bounds));
  return {
    name: 'explainChatCompletion',
    api: 'explain',
    method: 'POST',
    path: '/chat/completions/explain',
    permissions: ['inference', 'management'],
    body: () => check()(),
    result: () => z.object({ data: explanationSchema() }),
    issues: chatIssues,
    contradictions,
    async run(input) {
      return explainCall(pipeline, callOf(input));
    },
  };
}

/**
 * Explains how a call would be routed and paid for at this moment, whatever wire format it came in. It is as much work
 * as the call, so it counts as a request for the rate limits. It takes none of their tokens.
 * @param explaining  explains the call; default: as a chat request
 * @throws GatewayError rate_limited (429); else as `explain`
 */
export async function explainCall(
  deps: PipelineDeps,
  call: Call,
  explaining: (deps: PipelineDeps, call: Call) => Promise<Explained> = explain,
): Promise<OperationReply> {
  const admission = await admitWithoutTokens(deps.rates, call);
  try {
    const reply = await explained(deps, call, explaining);
    return admission === null ? reply : { ...reply, headers: { ...reply.headers, ...admission.headers } };
  } finally {
    admission?.end(0);
  }
}

async function explained(
  deps: PipelineDeps,
  call: Call,
  explaining: (deps: PipelineDeps, call: Call) => Promise<Explained>,
): Promise<OperationReply> {
  const found = await explaining(deps, call);
  const data = show(deps, found);
  const { strategy } = found;
  return jsonReply({
    data: strategy === null ? data : { ...data, requested: call.ask.request.model ?? data.requested, strategy },
  });
}

function show(deps: PipelineDeps, explained: Explained): Explanation {
  const { request, plan, refusal, holdNanoUsd, expensesNanoUsd, defaultModel, generations, stages } = explained;
  const slugs = namedSlugs(request, defaultModel);
  return {
    requested: plan?.requested ?? cleanName(slugs[0] ?? ''),
    strategy: plan?.strategy ?? strategyOf(slugs, deps.brand),
    ...(plan?.params ? { params: { ...plan.params } } : {}),
    region: deps.region,
    candidates: explained.targets.map((one) => showTarget(deps, request, one)),
    excluded: [...explained.excluded],
    error: refusal && showRefusal(refusal),
    ...(generations === null ? {} : showGenerations(generations)),
    ...(stages.length === 0 ? {} : { pipeline: [...stages] }),
    hold_usd: holdNanoUsd === null ? null : nanoToUsd(holdNanoUsd),
    ...(expensesNanoUsd === 0 ? {} : { expenses_usd: nanoToUsd(expensesNanoUsd) }),
    budgets: explained.windows.map((window) => ({
      scope: scopeOf(window),
      interval: window.interval,
      limit_usd: nanoToUsd(window.limitNanoUsd),
      spent_usd: nanoToUsd(window.spentNanoUsd),
      held_usd: nanoToUsd(window.heldNanoUsd),
      hold_usd: nanoToUsd(window.holdNanoUsd),
      remaining_usd: nanoToUsd(
        Math.max(window.limitNanoUsd - window.spentNanoUsd - window.heldNanoUsd - window.holdNanoUsd, 0),
      ),
      resets_at: window.endMs === null ? null : isoTime(window.endMs),
    })),
  };
}

function showRefusal({ status, message, retryAfterMs, metadata }: NonNullable<Explained['refusal']>) {
  return {
    code: status,
    message,
    ...(retryAfterMs === undefined ? {} : { retry_after: Math.ceil(retryAfterMs / 1000) }),
    ...(metadata ? { metadata } : {}),
  };
}

function showGenerations(generations: readonly ExplainedGeneration[]): Partial<Explanation> {
  const dearest = generations.map(({ explained: { targets } }) =>
    targets.reduce<ExplainedTarget | null>((most, one) => (isDearer(one, most) ? one : most), null),
  );
  const costs = dearest.map((one) => one?.ceiling?.nanoUsd ?? null);
  return {
    ceiling_usd: costs.includes(null) ? null : nanoToUsd(costs.reduce<number>((sum, one) => sum + (one ?? 0), 0)),
    generations: generations.map(({ purpose, explained: { request, targets, refusal, holdNanoUsd } }, at) => ({
      purpose,
      requested: cleanName(request.model ?? ''),
      model: targets[0]?.target.endpoint.modelSlug ?? null,
      provider: targets[0]?.target.endpoint.tag ?? null,
      ceiling_usd: costs[at] == null ? null : nanoToUsd(costs[at]),
      max_prompt_tokens: dearest[at]?.ceiling?.promptTokens ?? null,
      max_completion_tokens: dearest[at]?.ceiling?.completionTokens ?? null,
      hold_usd: holdNanoUsd === null ? null : nanoToUsd(holdNanoUsd),
      error: refusal && showRefusal(refusal),
    })),
  };
}

/** A price that is not known may be any. */
function isDearer({ ceiling }: ExplainedTarget, most: ExplainedTarget | null): boolean {
  if (most === null) return true;
  if (most.ceiling === null) return false;
  return ceiling === null || ceiling.nanoUsd > most.ceiling.nanoUsd;
}

function showTarget(
  { health, clock }: PipelineDeps,
  request: ChatRequest,
  { target, standing, ceiling }: ExplainedTarget,
): Explanation['candidates'][number] {
  const key = healthKey(target.endpoint, target.credential);
  const label = keyRefOf(target.credential)?.key;
  const seen = health.view(clock.now());
  const defaulted = defaultedFields(request, target.endpoint);
  return {
    model: target.endpoint.modelSlug,
    provider: target.endpoint.tag,
    provider_name: target.providerName,
    is_byok: target.isByok,
    ...(label === undefined ? {} : { key: label }),
    ...(defaulted.length > 0 ? { defaulted: [...defaulted] } : {}),
    ceiling_usd: ceiling === null ? null : nanoToUsd(ceiling.nanoUsd),
    max_prompt_tokens: ceiling?.promptTokens ?? null,
    max_completion_tokens: ceiling?.completionTokens ?? null,
    is_pinned: standing.isPinned,
    lacks: standing.lacks,
    has_outage: standing.hasOutage,
    is_slow: standing.isSlow,
    price_usd_per_million: standing.pricePicoUsd === null ? null : standing.pricePicoUsd / 1e6,
    latency_ms: seen.latency(key)?.p50 ?? null,
    throughput: seen.throughput(key)?.p50 ?? null,
  };
}
