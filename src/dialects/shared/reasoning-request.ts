import type { ChatRequest, ReasoningEffort } from '../../schema/chat/chat.ts';

/** The part of the largest output that each effort may spend on reasoning. */
const shares: Readonly<Record<ReasoningEffort, number>> = {
  max: 0.95,
  xhigh: 0.95,
  high: 0.8,
  medium: 0.5,
  low: 0.2,
  minimal: 0.1,
  none: 0,
};

/** The efforts, from the least to the most. */
const efforts: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];

/** The amount of reasoning that the caller asks for: an effort or a number of tokens; null: the caller does not say. */
export type ReasoningAmount = { effort: ReasoningEffort } | { maxTokens: number } | null;

/** Reads the amount from each of the fields that the caller may use. `enabled` alone means medium effort. */
export function reasoningAmount({
  reasoning,
  reasoning_effort: short,
}: Pick<ChatRequest, 'reasoning' | 'reasoning_effort'>): ReasoningAmount {
  if (reasoning?.enabled === false) return { effort: 'none' };
  const effort = short ?? reasoning?.effort ?? null;
  if (effort !== null) return { effort };
  const maxTokens = reasoning?.max_tokens ?? null;
  if (maxTokens !== null) return { maxTokens };
  return reasoning?.enabled === true ? { effort: 'medium' } : null;
}

/**
 * Returns the amount as a budget of tokens, for providers that take one.
 * @param maxOutput  the largest output, in tokens
 * @param least      the smallest budget that the provider takes, in tokens
 * @param most       the largest
 */
export function asBudget(
  amount: NonNullable<ReasoningAmount>,
  maxOutput: number,
  { least, most }: { least: number; most: number },
): number {
  const wanted = 'effort' in amount ? Math.floor(maxOutput * shares[amount.effort]) : amount.maxTokens;
  return Math.min(Math.max(wanted, least), most);
}

/**
 * Returns the amount as an effort, for providers that take one. A number of tokens becomes the least effort whose share
 * covers it.
 */
export function asEffort(amount: NonNullable<ReasoningAmount>, maxOutput: number): ReasoningEffort {
  if ('effort' in amount) return amount.effort;
  return efforts.find((effort) => shares[effort] * maxOutput >= amount.maxTokens) ?? 'xhigh';
}
