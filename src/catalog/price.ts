import { multiply, nanoToUsd, picoToNano } from '../base/money.ts';
import type { Pricing } from '../call/model.ts';
import type { Usage } from '../schema/chat.ts';

export interface Cost {
  /** All of it, integer nano-USD. */
  totalNanoUsd: number;
  promptNanoUsd: number;
  completionNanoUsd: number;
}

/** What usage costs: every token once, at the price of its kind, rounded up to a nano-USD at the end. */
export function priceUsage(usage: Usage, pricing: Pricing): Cost {
  const prompt = promptPico(usage, pricing);
  const completion = completionPico(usage, pricing);
  const request = BigInt(pricing.requestPicoUsd ?? 0);
  return {
    totalNanoUsd: picoToNano(prompt + completion + request),
    promptNanoUsd: picoToNano(prompt),
    completionNanoUsd: picoToNano(completion),
  };
}

function promptPico(usage: Usage, pricing: Pricing): bigint {
  const details = usage.prompt_tokens_details;
  let plain = usage.prompt_tokens;
  // Kinds may overlap in what a provider reports; each takes only what is left.
  const take = (tokens: number | null | undefined): number => {
    const taken = Math.min(tokens ?? 0, plain);
    plain -= taken;
    return taken;
  };
  const cached = take(details?.cached_tokens);
  const written = take(details?.cache_write_tokens);
  const audio = take(details?.audio_tokens);
  return (
    multiply(cached, pricing.cacheReadPicoUsd ?? pricing.promptPicoUsd) +
    multiply(written, pricing.cacheWritePicoUsd ?? pricing.promptPicoUsd) +
    multiply(audio, pricing.audioPicoUsd ?? pricing.promptPicoUsd) +
    multiply(plain, pricing.promptPicoUsd)
  );
}

function completionPico(usage: Usage, pricing: Pricing): bigint {
  const details = usage.completion_tokens_details;
  let plain = usage.completion_tokens;
  const take = (tokens: number | null | undefined): number => {
    const taken = Math.min(tokens ?? 0, plain);
    plain -= taken;
    return taken;
  };
  const reasoning = take(details?.reasoning_tokens);
  const audio = take(details?.audio_tokens);
  return (
    multiply(reasoning, pricing.reasoningPicoUsd ?? pricing.completionPicoUsd) +
    multiply(audio, pricing.audioOutputPicoUsd ?? pricing.completionPicoUsd) +
    multiply(plain, pricing.completionPicoUsd)
  );
}

/** Usage as it goes to the client: with the cost, which is left out where the price is not known. */
export function usageWithCost(usage: Usage, cost: Cost | null, isByok: boolean): Usage {
  if (!cost) return { ...usage, is_byok: isByok };
  return {
    ...usage,
    cost: nanoToUsd(cost.totalNanoUsd),
    is_byok: isByok,
    cost_details: {
      upstream_inference_cost: isByok ? nanoToUsd(cost.totalNanoUsd) : null,
      upstream_inference_prompt_cost: nanoToUsd(cost.promptNanoUsd),
      upstream_inference_completions_cost: nanoToUsd(cost.completionNanoUsd),
    },
  };
}
