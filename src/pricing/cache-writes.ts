import type { PricedKind, Pricing, TokenPricing } from '../call/model.ts';

/** A published rule for the price of cache writes, for a price list that leaves it out. */
interface WriteRule {
  models: RegExp;
  /** Price of a write for minutes, in hundredths of the price of input. */
  ofMinutes: number;
  source: string;
}

const rules: readonly WriteRule[] = [
  { models: /claude/i, ofMinutes: 125, source: 'platform.claude.com, "Prompt caching", pricing' },
  {
    models: /gpt-(?:5\.[6-9]|[6-9])/i,
    ofMinutes: 125,
    source: 'developers.openai.com, "Prompt caching", from GPT-5.6 on',
  },
];

/**
 * The price of a write for an hour: twice the price of input, at Anthropic and all who sell its models, so 1.6 times a
 * write for minutes. No other maker publishes a price for an hour.
 * @see https://platform.claude.com/docs/en/build-with-claude/prompt-caching "Pricing"
 */
const hour = { ofInput: 2, tenthsOfWrite: 16 };

/** Adds the prices of cache writes that the maker of the model publishes, where they were not given. */
export function withCacheWrites<P extends Pricing>(pricing: P, upstreamModel: string): P {
  const rule = rules.find(({ models }) => models.test(upstreamModel));
  if (rule === undefined || pricing.cacheWritePicoUsd !== undefined) return pricing;
  const writePicoUsd = (promptPicoUsd: number) => Math.ceil((promptPicoUsd * rule.ofMinutes) / 100);
  return {
    ...pricing,
    cacheWritePicoUsd: writePicoUsd(pricing.promptPicoUsd),
    ...(pricing.longPrompts === undefined
      ? {}
      : {
          longPrompts: pricing.longPrompts.map((long) =>
            long.promptPicoUsd === undefined || long.cacheWritePicoUsd !== undefined
              ? long
              : { ...long, cacheWritePicoUsd: writePicoUsd(long.promptPicoUsd) },
          ),
        }),
  };
}

/** The price per token written for minutes: half an hour at the most. */
export function writePrice({ cacheWritePicoUsd, promptPicoUsd }: TokenPricing): number {
  return cacheWritePicoUsd ?? promptPicoUsd;
}

/** The price per token written for an hour. */
export function hourWritePrice(prices: TokenPricing): number {
  return prices.cacheWriteHourPicoUsd ?? derivedHour(prices);
}

/** The price of an hour that follows from other prices. Where writes are free of charge, those for an hour are too. */
function derivedHour({ promptPicoUsd, cacheWritePicoUsd }: TokenPricing): number {
  if (cacheWritePicoUsd === undefined) return promptPicoUsd;
  return Math.max(promptPicoUsd * hour.ofInput, Math.ceil((cacheWritePicoUsd * hour.tenthsOfWrite) / 10));
}

/** The price per token written for twelve hours or longer; if it is unknown, the price of the dearest other write. */
export function halfDayWritePrice(prices: TokenPricing): number {
  return prices.cacheWrite12hPicoUsd ?? Math.max(hourWritePrice(prices), derivedHour(prices));
}

/**
 * The price of an hour for long prompts: if it was not given, at least the one that follows from the other prices
 * there.
 */
export function longHour(base: TokenPricing, long: Partial<TokenPricing>): Partial<TokenPricing> {
  if (base.cacheWriteHourPicoUsd === undefined || long.cacheWriteHourPicoUsd !== undefined) return {};
  if (long.promptPicoUsd === undefined && long.cacheWritePicoUsd === undefined) return {};
  return { cacheWriteHourPicoUsd: Math.max(base.cacheWriteHourPicoUsd, derivedHour({ ...base, ...long })) };
}

/** The price of the dearest write: a provider may report a write that the request did not ask for. */
export function dearestWrite(prices: TokenPricing): number {
  return Math.max(writePrice(prices), hourWritePrice(prices), halfDayWritePrice(prices));
}

/** The lifetimes that have a price. */
const known: ReadonlySet<unknown> = new Set([undefined, null, '5m', '30m', '1h']);

/** Notes a write whose price may be unknown. @param mark  `cache_control`, `prompt_cache_options` or its ttl */
export function noteWrites(kinds: Set<PricedKind>, mark: unknown): void {
  if (typeof mark === 'object' && mark !== null) noteWrites(kinds, (mark as { ttl?: unknown }).ttl);
  else if (!known.has(mark)) kinds.add('cacheWrite12h');
}

/** The names of fields with the lifetime of a cached prompt, at any place in a field that passes on. */
const lives: ReadonlySet<string> = new Set(['cache_control', 'prompt_cache_options', 'cachePoint', 'cache_point']);

/** Notes the writes of all marks in a value, such as a tool or an item of a Responses request. */
export function noteWritesIn(kinds: Set<PricedKind>, value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > 4) return;
  // A loop over the names of a list would make a text of each index: three times the time.
  if (Array.isArray(value)) {
    for (const inner of value) noteWritesIn(kinds, inner, depth + 1);
    return;
  }
  for (const name in value) {
    const inner = (value as Record<string, unknown>)[name];
    if (lives.has(name)) noteWrites(kinds, inner);
    else if (typeof inner === 'object') noteWritesIn(kinds, inner, depth + 1);
  }
}
