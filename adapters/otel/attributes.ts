import type {
  AttemptParameters,
  BegunAttempt,
  BegunCall,
  FollowedWork,
  GenerationRecord,
  RequestRecord,
} from '../../src/index.ts';
import type { OtelAttributes } from './api.ts';
import { type ConventionVersion, names, operationNameOf, providerNameOf } from './names.ts';

export type AttemptTrace = RequestRecord['attempts'][number];

/**
 * The attributes of a request at its start. None begins with `gen_ai.`: readers count a span with such attributes as a
 * call of a model.
 */
export function startAttributes({ id, operation, workspaceId }: BegunCall): OtelAttributes {
  return { 'gateway.generation.id': id, 'gateway.operation': operation, 'gateway.workspace.id': workspaceId };
}

/** The attributes of a request at its end. */
export function requestAttributes(record: RequestRecord): OtelAttributes {
  const found: OtelAttributes = {
    'gateway.requested': record.requested,
    'gateway.outcome': record.outcome,
    'gateway.attempts': record.attempts.length,
    'gateway.generations': record.generations.length,
    'gateway.stages': record.pipeline.length,
    'gateway.held_nano_usd': record.heldNanoUsd,
    'http.response.status_code': record.status,
  };
  if (record.userId !== null) found['gateway.user_id'] = record.userId;
  if (record.user !== null) found['user.id'] = record.user;
  if (record.tags.length > 0) found['gateway.tags'] = [...record.tags];
  if (record.router !== null) found['gateway.router'] = record.router;
  if (record.costNanoUsd !== null) found['gateway.cost_nano_usd'] = record.costNanoUsd;
  if (record.error !== null) found['error.type'] = record.error.type;
  for (const name of traceNames) {
    const value = record.trace?.[name];
    if (value !== undefined) found[`gateway.${name}`] = value;
  }
  return found;
}

/**
 * The keys of a request's `trace` that become attributes. Further keys are only in the record: attributes have known
 * names.
 */
const traceNames = ['trace_id', 'trace_name', 'span_name', 'generation_name', 'parent_span_id'] as const;

/** The attributes that samplers read: all that are known before an attempt is sent. */
export function attemptAttributes(
  { operation, sessionId }: Pick<BegunCall, 'operation' | 'sessionId'>,
  { providerSlug, endpoint, model, streamed, url, parameters, key }: BegunAttempt,
  version: ConventionVersion,
): OtelAttributes {
  const found: OtelAttributes = {
    'gen_ai.operation.name': operationNameOf(operation),
    'gen_ai.provider.name': providerNameOf(providerSlug),
    'gen_ai.request.model': model,
    'gen_ai.request.stream': streamed,
    'gateway.endpoint': endpoint,
    ...serverAttributes(url),
  };
  if (key !== null) found['gateway.key'] = key;
  if (sessionId !== null) found['gen_ai.conversation.id'] = sessionId;
  if (operation === 'createResponse') found['openai.api.type'] = 'responses';
  setParameters(found, parameters, version);
  if (parameters.dimensions !== undefined) found['gen_ai.embeddings.dimension.count'] = parameters.dimensions;
  if (parameters.encodingFormats !== undefined)
    found['gen_ai.request.encoding_formats'] = [...parameters.encodingFormats];
  if (parameters.serviceTier !== undefined && hasTiersOfOpenAi(providerSlug))
    found['openai.request.service_tier'] = parameters.serviceTier;
  return found;
}

/** The names of request parameters that all versions share. */
const parameterNames = [
  ['maxTokens', 'gen_ai.request.max_tokens'],
  ['temperature', 'gen_ai.request.temperature'],
  ['topP', 'gen_ai.request.top_p'],
  ['topK', 'gen_ai.request.top_k'],
  ['frequencyPenalty', 'gen_ai.request.frequency_penalty'],
  ['presencePenalty', 'gen_ai.request.presence_penalty'],
  ['seed', 'gen_ai.request.seed'],
  ['output', 'gen_ai.output.type'],
] as const satisfies readonly (readonly [keyof AttemptParameters, string])[];

function setParameters(found: OtelAttributes, parameters: AttemptParameters, version: ConventionVersion): void {
  for (const [parameter, name] of parameterNames) {
    const value = parameters[parameter];
    if (value !== undefined) found[name] = value;
  }
  const { choices, reasoningEffort } = parameters;
  // The conventions want it where it is not 1.
  if (choices !== undefined && choices !== 1) found['gen_ai.request.choice.count'] = choices;
  const { reasoningLevel } = names[version];
  if (reasoningLevel !== null && reasoningEffort !== undefined) found[reasoningLevel] = reasoningEffort;
}

/** The names of the attributes of service tiers are of OpenAI alone. */
function hasTiersOfOpenAi(providerSlug: string): boolean {
  return providerSlug === 'openai' || providerSlug === 'azure';
}

const defaultPorts: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };
/** By URL, the latest of each origin: parsing one takes longer than the rest of a span's start. */
const servers = new Map<string, OtelAttributes>();
const mostServers = 1_000;

/** Host and port alone: the rest of a URL may contain private data. */
function serverAttributes(url: string): OtelAttributes {
  const origin = /^https?:\/\/[^/?#]*/.exec(url)?.[0] ?? '';
  const known = servers.get(origin);
  if (known !== undefined) return known;
  if (servers.size >= mostServers) servers.clear();
  const parsed = origin === '' ? null : URL.parse(origin);
  const port = parsed && (parsed.port === '' ? defaultPorts[parsed.protocol] : Number(parsed.port));
  const found = parsed ? { 'server.address': parsed.hostname, ...(port && { 'server.port': port }) } : {};
  servers.set(origin, found);
  return found;
}

/** Usage and cost, only for the attempt that was billed. */
export function resultAttributes(
  generation: GenerationRecord,
  attempt: AttemptTrace,
  responseId: string,
  version: ConventionVersion,
): OtelAttributes {
  const { usage, costParts, finishReason, outcome, times, serviceTier } = generation;
  const cached = usage?.prompt_tokens_details?.cached_tokens;
  const written = usage?.prompt_tokens_details?.cache_write_tokens;
  const reasoning = usage?.completion_tokens_details?.reasoning_tokens;
  const { audioInput, audioOutput, imageOutput, cacheWrite } = names[version];
  const reasons = finishReason === null ? [] : [finishReason];
  if (outcome === 'cut' && finishReason !== 'error') reasons.push('error');
  const result: OtelAttributes = {
    'gen_ai.response.id': responseId,
    'gen_ai.response.model': attempt.model,
    'gen_ai.usage.input_tokens': usage?.prompt_tokens ?? 0,
    'gen_ai.usage.output_tokens': usage?.completion_tokens ?? 0,
    'gen_ai.response.finish_reasons': reasons,
  };
  if (times.firstTokenAtMs !== null) {
    result['gen_ai.response.time_to_first_chunk'] = (times.firstTokenAtMs - attempt.startedAtMs) / 1000;
  }
  if (cached) result['gen_ai.usage.cache_read.input_tokens'] = cached;
  if (written) for (const name of cacheWrite) result[name] = written;
  setCount(result, audioInput, usage?.prompt_tokens_details?.audio_tokens);
  setCount(result, audioOutput, usage?.completion_tokens_details?.audio_tokens);
  setCount(result, imageOutput, usage?.completion_tokens_details?.image_tokens);
  if (reasoning) result['gen_ai.usage.reasoning.output_tokens'] = reasoning;
  if (costParts !== null) {
    const { promptNanoUsd, completionNanoUsd, otherNanoUsd } = costParts;
    result['gen_ai.usage.cost'] = (promptNanoUsd + completionNanoUsd + otherNanoUsd) / 1e9;
  }
  if (serviceTier !== null && hasTiersOfOpenAi(attempt.providerSlug))
    result['openai.response.service_tier'] = serviceTier;
  return result;
}

function setCount(result: OtelAttributes, name: string | null, count: number | null | undefined): void {
  if (name !== null && count) result[name] = count;
}

/** The generation, where this attempt was billed for it; null: it was not. */
export function billedOf(generation: GenerationRecord, { errorType }: AttemptTrace): GenerationRecord | null {
  return errorType === null && generation.usage !== null ? generation : null;
}

/** The error of an attempt; null: it ended well. */
export function errorOf({ errorType }: AttemptTrace, billed: GenerationRecord | null): string | null {
  // An attempt that was slower than another one was cancelled.
  if (errorType !== null) return errorType === 'hedged' ? 'cancelled' : errorType;
  if (billed?.outcome === 'cancelled') return 'cancelled';
  return billed?.outcome === 'cut' || billed?.outcome === 'failed' ? String(billed.status) : null;
}

/** The name and the attributes of a span of a plugin, guardrail or tool. */
export function workAttributes({ kind, name, hook, callId }: FollowedWork): [name: string, OtelAttributes] {
  if (kind !== 'server_tool')
    return [`gateway.${kind} ${name}`, { [`gateway.${kind}`]: name, 'gateway.hook': `${hook}` }];
  return [
    `execute_tool ${name}`,
    {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.type': 'function',
      ...(callId !== null && { 'gen_ai.tool.call.id': callId }),
    },
  ];
}
