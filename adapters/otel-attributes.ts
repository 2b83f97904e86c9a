import type { BegunAttempt, BegunCall, FollowedWork, GenerationRecord, RequestRecord } from '../src/index.ts';
import type { OtelAttributes } from './otel-api.ts';
import { type ConventionVersion, names, providerNameOf } from './otel-names.ts';

export type AttemptTrace = RequestRecord['attempts'][number];

/** Nothing of a request starts with `gen_ai.`: readers count a span with such attributes as a call of a model. */
export function startAttributes({ id, operation, workspaceId }: BegunCall): OtelAttributes {
  return { 'gateway.generation.id': id, 'gateway.operation': operation, 'gateway.workspace.id': workspaceId };
}

/** What is known of a request at its end. */
export function requestAttributes(record: RequestRecord): OtelAttributes {
  return {
    'gateway.requested': record.requested,
    ...(record.router !== null && { 'gateway.router': record.router }),
    ...Object.fromEntries(Object.entries(record.trace ?? {}).map(([name, value]) => [`gateway.${name}`, value])),
    'gateway.outcome': record.outcome,
    'gateway.attempts': record.attempts.length,
    'gateway.generations': record.generations.length,
    'gateway.stages': record.pipeline.length,
    'gateway.held_nano_usd': record.heldNanoUsd,
    'http.response.status_code': record.status,
    ...(record.costNanoUsd !== null && { 'gateway.cost_nano_usd': record.costNanoUsd }),
    ...(record.error !== null && { 'error.type': record.error.type }),
  };
}

/** What samplers read: all that is known before an attempt is sent. */
export function attemptAttributes(
  { operation, sessionId }: Pick<BegunCall, 'operation' | 'sessionId'>,
  { providerSlug, model, streamed, url }: BegunAttempt,
): OtelAttributes {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerNameOf(providerSlug),
    'gen_ai.request.model': model,
    'gen_ai.request.stream': streamed,
    ...serverAttributes(url),
    ...(sessionId !== null && { 'gen_ai.conversation.id': sessionId }),
    ...(operation === 'createResponse' && { 'openai.api.type': 'responses' }),
  };
}

const defaultPorts: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };
/** Of the latest URL of each origin that was seen: parsing one takes longer than the rest of a span's start. */
const servers = new Map<string, OtelAttributes>();
const mostServers = 1_000;

/** Host and port alone: the rest of a URL may hold what is nobody's business. */
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

/** Usage and cost: of the attempt that was billed, and of no other span. */
export function resultAttributes(
  generation: GenerationRecord,
  attempt: AttemptTrace,
  version: ConventionVersion,
): OtelAttributes {
  const { usage, costParts, finishReason, outcome, times } = generation;
  const cached = usage?.prompt_tokens_details?.cached_tokens;
  const written = usage?.prompt_tokens_details?.cache_write_tokens;
  const reasoning = usage?.completion_tokens_details?.reasoning_tokens;
  const reasons = [...(finishReason === null ? [] : [finishReason]), ...(outcome === 'cut' ? ['error'] : [])];
  const result: OtelAttributes = {
    'gen_ai.response.model': attempt.model,
    'gen_ai.usage.input_tokens': usage?.prompt_tokens ?? 0,
    'gen_ai.usage.output_tokens': usage?.completion_tokens ?? 0,
    'gen_ai.response.finish_reasons': [...new Set(reasons)],
  };
  if (times.firstTokenAtMs !== null) {
    result['gen_ai.response.time_to_first_chunk'] = (times.firstTokenAtMs - attempt.startedAtMs) / 1000;
  }
  if (cached) result['gen_ai.usage.cache_read.input_tokens'] = cached;
  if (written) for (const name of names[version].cacheWrite) result[name] = written;
  if (reasoning) result['gen_ai.usage.reasoning.output_tokens'] = reasoning;
  if (costParts !== null) {
    const { promptNanoUsd, completionNanoUsd, otherNanoUsd } = costParts;
    result['gen_ai.usage.cost'] = (promptNanoUsd + completionNanoUsd + otherNanoUsd) / 1e9;
  }
  return result;
}

/** The error of an attempt; null: it ended well. */
export function errorOf({ errorType }: AttemptTrace, billed: GenerationRecord | null): string | null {
  // Who was slower than another attempt was cancelled.
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
