import { isoTime } from '../../base/clock.ts';
import { nanoToUsd } from '../../base/money.ts';
import type { CostKinds } from '../../call/generation.ts';
import type { CostPartName, Generation } from '../../schema/records/generation.ts';
import type { GenerationRecord, RequestRecord } from '../record.ts';

type GenerationDetail = NonNullable<Generation['generation_details']>[number];

/** The most rows of a list in a record. Longer lists are cut, so that each record is of bounded size. */
const maxRows = 100;

/** The stored part of a record, in the form in which it is shown. */
export function generationOf(record: RequestRecord): Generation {
  const { usage, firstMs, totalMs, costNanoUsd, attempts, generations } = record;
  const prompt = usage?.prompt_tokens ?? null;
  const completion = usage?.completion_tokens ?? null;
  const ofPrompt = usage?.prompt_tokens_details;
  const ofCompletion = usage?.completion_tokens_details;
  const costUsd = costNanoUsd === null ? null : nanoToUsd(costNanoUsd);
  return {
    id: record.id,
    upstream_id: generations.at(-1)?.upstreamRequestId ?? null,
    total_cost: costUsd,
    cache_discount: null,
    upstream_inference_cost: usage?.cost_details?.upstream_inference_cost ?? null,
    created_at: isoTime(record.receivedAtMs),
    model: record.model ?? record.requested,
    app_id: null,
    streamed: record.streamed,
    data_discount_logging: record.dataDiscountLogging,
    cancelled: record.outcome === 'cancelled',
    provider_name: record.provider,
    latency: firstMs,
    moderation_latency: null,
    generation_time: firstMs === null ? null : Math.max(0, totalMs - firstMs),
    finish_reason: record.finishReason,
    service_tier: generations.at(-1)?.serviceTier ?? null,
    tokens_prompt: prompt,
    tokens_completion: completion,
    native_tokens_prompt: prompt,
    native_tokens_completion: completion,
    native_tokens_completion_images: ofCompletion?.image_tokens ?? null,
    native_tokens_reasoning: ofCompletion?.reasoning_tokens ?? null,
    native_tokens_cached: ofPrompt?.cached_tokens ?? null,
    num_media_prompt: record.promptMedia.files,
    num_input_audio_prompt: record.promptMedia.audio,
    num_media_completion: null,
    num_search_results: usage?.server_tool_use_details?.web_search_requests ?? null,
    num_fetches: fetchesOf(record.pipeline),
    web_search_engine: searchEngineOf(record.pipeline),
    origin: originOf(record.referer),
    usage: costUsd,
    is_byok: usage?.is_byok === true,
    native_finish_reason: record.nativeFinishReason,
    external_user: record.userId ?? record.user,
    user_id: record.userId,
    user: record.user,
    api_type: apiTypeOf(record.operation),
    preset_id: null,
    router: record.router,
    // The wire has a closed list of provider names, so names of the host app's providers are left out.
    provider_responses: attempts.slice(0, maxRows).map((attempt) => ({
      status: attempt.status,
      latency: attempt.decidedAtMs - attempt.startedAtMs,
      is_byok: attempt.isByok,
      model_permaslug: attempt.model,
    })),
    user_agent: record.userAgent,
    http_referer: record.referer,
    data_region: 'global',
    session_id: record.sessionId,
    workspace_id: record.workspaceId,
    api_key_hash: record.apiKeyHash,
    tags: [...record.tags],
    operation: record.operation,
    requested: record.requested,
    outcome: record.outcome,
    status: record.status,
    error: record.error,
    total_ms: totalMs,
    cost_nano_usd: costNanoUsd,
    held_nano_usd: record.heldNanoUsd,
    is_estimated: record.isEstimated,
    generations: generations.length,
    attempts: attempts.slice(0, maxRows).map((attempt) => ({
      provider: attempt.provider,
      endpoint: attempt.endpoint,
      model: attempt.model,
      status: attempt.status,
      error: attempt.errorType,
      started_at: isoTime(attempt.startedAtMs),
      ms: attempt.decidedAtMs - attempt.startedAtMs,
      is_byok: attempt.isByok,
      cost_nano_usd: attempt.costNanoUsd,
      upstream_id: attempt.upstreamRequestId,
    })),
    excluded: generations.flatMap(({ excluded }) => excluded).slice(0, maxRows),
    pipeline: record.pipeline.slice(0, maxRows).map(({ name }) => name),
    trace: record.trace,
    cost_parts_nano_usd: costNanoUsd === null ? null : costPartsOf(record),
    generation_details: generations.slice(0, maxRows).map((one) => detailOf(one, record.receivedAtMs)),
    stages: record.stages.slice(0, maxRows).map(({ kind, name, hook, startedAtMs, endedAtMs, outcome }) => ({
      kind,
      name,
      hook,
      started_ms: startedAtMs - record.receivedAtMs,
      ms: endedAtMs - startedAtMs,
      outcome,
    })),
  };
}

/** The parts of the cost of all generations, and what was spent beside them. Parts that are 0 are left out. */
function costPartsOf({ generations, attempts, expensesNanoUsd }: RequestRecord): Generation['cost_parts_nano_usd'] {
  const parts: Partial<Record<CostPartName, number>> = {};
  const charge = (name: CostPartName, nanoUsd: number) => {
    if (nanoUsd !== 0) parts[name] = (parts[name] ?? 0) + nanoUsd;
  };
  for (const { costParts } of generations)
    if (costParts !== null) for (const name of kindNames) charge(name, costParts.kinds[fieldOf[name]]);
  for (const { costNanoUsd } of attempts) charge('failed_attempts', costNanoUsd);
  charge('plugins', expensesNanoUsd.plugins);
  charge('guardrails', expensesNanoUsd.guardrails);
  charge('tools', expensesNanoUsd.tools);
  return parts;
}

/** The parts that a generation has. */
const fieldOf = {
  input: 'inputNanoUsd',
  cached: 'cachedNanoUsd',
  cache_writes: 'cacheWritesNanoUsd',
  input_media: 'inputMediaNanoUsd',
  output: 'outputNanoUsd',
  reasoning: 'reasoningNanoUsd',
  output_media: 'outputMediaNanoUsd',
  request: 'requestNanoUsd',
  searches: 'searchesNanoUsd',
} as const satisfies Partial<Record<CostPartName, keyof CostKinds>>;
const kindNames = Object.keys(fieldOf) as (keyof typeof fieldOf)[];

/** A generation with its times, as milliseconds since the request arrived. */
function detailOf(generation: GenerationRecord, receivedAtMs: number): GenerationDetail {
  const { times, attempts } = generation;
  const since = (atMs: number | null) => (atMs === null ? null : atMs - receivedAtMs);
  return {
    requested: generation.requested,
    model: generation.model,
    provider: generation.provider,
    endpoint: generation.endpoint,
    outcome: generation.outcome,
    status: generation.status,
    attempts: attempts.length,
    started_ms: times.startedAtMs - receivedAtMs,
    planned_ms: since(times.plannedAtMs),
    held_ms: since(times.heldAtMs),
    sent_ms: since(times.sentAtMs),
    first_token_ms: since(times.firstTokenAtMs),
    ended_ms: since(times.endedAtMs),
    held_nano_usd: generation.heldNanoUsd,
    cost_nano_usd: generation.costNanoUsd,
  };
}

/** The number of pages that the model had fetched; null: it was offered no tools of the gateway, or used none. */
function fetchesOf(stages: RequestRecord['pipeline']): number | null {
  const stage = stages.find(({ type }) => type === 'server_tools');
  const { calls } = (stage?.data ?? {}) as { calls?: Record<string, number> };
  return calls?.web_fetch ?? null;
}

/** The engine of the plugin `web`; null: it did not search. */
function searchEngineOf(stages: RequestRecord['pipeline']): string | null {
  const { engine } = stages.find(({ name }) => name === 'web-search')?.data ?? {};
  return typeof engine === 'string' ? engine : null;
}

/** The origin of the page or app that sent the request; empty: the request does not tell it. */
function originOf(referer: string | null): string {
  const url = referer === null ? null : URL.parse(referer);
  return url === null || url.origin === 'null' ? '' : url.origin;
}

/** The kind of an operation, in the words of the interface; null: it has no word for it. */
const apiTypes: Readonly<Record<string, string | null>> = {
  createEmbeddings: 'embeddings',
  createRerank: 'rerank',
  createModerations: null,
  createDecisions: null,
  createSpeech: null,
  createTranscription: null,
  createTranslation: null,
  createImages: 'image',
  editImages: 'image',
  createImage: 'image',
};

function apiTypeOf(operation: string): string | null {
  return Object.hasOwn(apiTypes, operation) ? (apiTypes[operation] as string | null) : 'completions';
}
