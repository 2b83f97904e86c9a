import type { Loose } from '../../../base/values.ts';
import type { ChatRequest, ReasoningEffort } from '../../../schema/chat/chat.ts';
import { asBudget, reasoningAmount } from '../../shared/reasoning-request.ts';
import { isGemini3, type ModelFamily } from '../model-family.ts';

/** The largest output of models that think, where the caller sets no limit. */
const usualMaxOutput = 65_536;

/**
 * Makes the setting that tells the model how much to think, and to show its thoughts: a level from Gemini 3 on, a
 * budget of tokens in Gemini 2.5. `maxOutputTokens` limits thoughts and response together.
 * @param drop  receives the fields that the model has no setting for
 * @see https://ai.google.dev/gemini-api/docs/thinking
 */
export function thinkingConfig(
  request: ChatRequest,
  family: ModelFamily,
  maxOutput: number | null,
  drop: (path: string) => void,
): Loose | null {
  const { reasoning, reasoning_effort: short } = request;
  const amount = reasoningAmount(request);
  const summary = reasoning?.summary ?? null;
  if (summary === 'concise' || summary === 'detailed') drop('reasoning.summary');
  if (amount === null && summary === null) return null;
  const dropAmount = () => drop((short ?? null) === null ? 'reasoning' : 'reasoning_effort');
  const isOff = amount !== null && 'effort' in amount && amount.effort === 'none';
  if (family.isGemma || family.generation < 2.5 || (family.isImage && family.generation < 3)) {
    // A model that does not think has nothing to switch off.
    if (!isOff) dropAmount();
    return null;
  }
  const config: Loose = isOff ? {} : { includeThoughts: true };
  if (amount === null) return config;
  if (family.isImage) dropAmount();
  else if (isGemini3(family) && 'effort' in amount) {
    config.thinkingLevel = levelOf(amount.effort, family);
    // No model of these can be kept from thinking.
    if (isOff) dropAmount();
  } else if (isGemini3(family)) config.thinkingBudget = 'maxTokens' in amount ? amount.maxTokens : 0;
  else {
    const { least, most } = budgets(family);
    config.thinkingBudget = isOff && !family.isPro ? 0 : asBudget(amount, maxOutput ?? usualMaxOutput, { least, most });
    if (isOff && family.isPro) dropAmount();
  }
  return config;
}

/** Returns the limits of budgets of Gemini 2.5. */
function budgets({ isPro, isLite }: ModelFamily): { least: number; most: number } {
  if (isPro) return { least: 128, most: 32_768 };
  return { least: isLite ? 512 : 1, most: 24_576 };
}

/** Returns the level of an effort. Only small models take `MINIMAL`, and the first large one took no `MEDIUM`. */
function levelOf(effort: ReasoningEffort, { isPro, isLite, generation }: ModelFamily): string {
  const takesMinimal = isLite || (!isPro && generation < 3.7);
  if (effort === 'none' || effort === 'minimal') return takesMinimal ? 'MINIMAL' : 'LOW';
  if (effort === 'low') return 'LOW';
  return effort === 'medium' && !(isPro && generation === 3) ? 'MEDIUM' : 'HIGH';
}
