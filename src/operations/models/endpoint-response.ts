import { endpointKey } from '../../call/facts.ts';
import type { Endpoint, Model } from '../../call/model.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { ShownEndpoint } from '../../schema/models/endpoint.ts';
import { showPricing } from './pricing.ts';
import type { ListingDeps } from './reach.ts';

type EndpointDeps = Pick<ListingDeps, 'provider' | 'health' | 'presentation' | 'isDown'>;

/** Shows an endpoint with its known facts, and its present health for the workspace. */
export function showEndpoint(
  { provider, health, presentation, isDown }: EndpointDeps,
  model: Model,
  endpoint: Endpoint,
  nowMs: number,
  workspaceId: WorkspaceId,
): ShownEndpoint {
  const { providerSlug, isDisabled } = endpoint;
  const providerName = provider(providerSlug)?.name ?? providerSlug;
  const seen = health.statistics(endpointKey(endpoint), nowMs, workspaceId);
  const status = isDown?.(endpoint) === true ? 'down' : seen.status;
  return {
    model_id: model.slug,
    model_name: model.name,
    name: `${providerName} | ${model.slug}`,
    provider_name: providerName,
    tag: endpoint.tag,
    context_length: endpoint.contextLength ?? model.contextLength ?? 0,
    max_completion_tokens: endpoint.maxCompletionTokens,
    max_prompt_tokens: endpoint.maxPromptTokens ?? null,
    quantization: endpoint.quantization ?? 'unknown',
    status: presentation.endpointStatus(isDisabled ? 'disabled' : status),
    supported_parameters: [...(endpoint.supportedParameters ?? [])],
    supports_implicit_caching: endpoint.implicitCaching ?? false,
    pricing: showPricing(endpoint.pricing),
    latency_last_30m: seen.latency30m,
    throughput_last_30m: seen.throughput30m,
    uptime_last_5m: seen.uptime5m,
    uptime_last_30m: seen.uptime30m,
    uptime_last_1d: seen.uptime1d,
  };
}
