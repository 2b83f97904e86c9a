import type { Loose } from '../../base/values.ts';
import type { ChatRequest, ReasoningEffort } from '../../schema/chat/chat.ts';
import { asBudget, asEffort, reasoningAmount } from '../shared/reasoning-request.ts';
import type { ModelTraits } from './model.ts';

/** The plan for reasoning. */
export interface ReasoningPlan {
  /** The fields for `additionalModelRequestFields`. */
  fields: Loose;
  /** true: Claude thinks, and then takes fewer parameters. */
  thinks: boolean;
  /** The largest output to ask for where the caller gave none: Claude wants one that is larger than its budget. */
  maxTokens: number | null;
  /** true: the request has neither a largest output nor sampling parameters. Nova takes none at its highest effort. */
  isUnbounded: boolean;
  /** true: the wish for reasoning does not reach the model, or not as it was meant. */
  isDropped: boolean;
}

const nothing: ReasoningPlan = { fields: {}, thinks: false, maxTokens: null, isUnbounded: false, isDropped: false };
const dropped: ReasoningPlan = { ...nothing, isDropped: true };

/** The smallest budget that Claude takes, in tokens. */
const leastBudget = 1024;
/** A largest output that each model that takes a budget can write. */
const usualMaxTokens = 32_000;

/**
 * Plans the reasoning of a model.
 * @param maxTokens  the largest output that the caller wants; null: the caller names none
 * @param mayThink   false: another part of the request excludes that Claude thinks
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html
 * @see https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html
 */
export function planReasoning(
  request: ChatRequest,
  traits: ModelTraits,
  maxTokens: number | null,
  mayThink: boolean,
): ReasoningPlan {
  const amount = reasoningAmount(request);
  if (amount === null) return nothing;
  const { reasoning: kind } = traits;
  const effort = asEffort(amount, maxTokens ?? usualMaxTokens);
  if (effort === 'none') return withoutReasoning(traits);
  if (kind === null) return dropped;
  if (kind === 'budget' || kind === 'adaptive') {
    if (!mayThink) return dropped;
    return kind === 'adaptive'
      ? { ...nothing, fields: adaptiveFields(effort, traits), thinks: true }
      : withBudget(
          asBudget(amount, maxTokens ?? usualMaxTokens, { least: leastBudget, most: Number.POSITIVE_INFINITY }),
          maxTokens,
        );
  }
  if (kind === 'nova') return novaPlan(effort, maxTokens);
  if (kind === 'reasoning') return { ...nothing, fields: { reasoning: { effort: gptEffort(effort) } } };
  return { ...nothing, fields: { [kind]: threeEfforts(effort) } };
}

function withoutReasoning({ reasoning, alwaysReasons }: ModelTraits): ReasoningPlan {
  if (alwaysReasons) return dropped;
  if (reasoning === 'adaptive') return { ...nothing, fields: { thinking: { type: 'disabled' } } };
  if (reasoning === 'reasoning') return { ...nothing, fields: { reasoning: { effort: 'none' } } };
  // The others that can reason do so only when they are asked; whether a model can, is not always known.
  return reasoning === null ? dropped : nothing;
}

function adaptiveFields(effort: ReasoningEffort, { hasXhigh }: ModelTraits): Loose {
  const word = effort === 'minimal' ? 'low' : effort === 'xhigh' && !hasXhigh ? 'max' : effort;
  return { thinking: { type: 'adaptive' }, output_config: { effort: word } };
}

/** Plans with a budget, which is part of the largest output and must leave room for a response. */
function withBudget(wanted: number, maxTokens: number | null): ReasoningPlan {
  if (maxTokens !== null && maxTokens <= leastBudget) return dropped;
  const budget = maxTokens === null ? wanted : Math.min(wanted, maxTokens - 1);
  return {
    ...nothing,
    fields: { thinking: { type: 'enabled', budget_tokens: budget } },
    thinks: true,
    maxTokens: maxTokens === null ? Math.max(usualMaxTokens, budget + 4096) : null,
  };
}

/**
 * Plans the reasoning of Nova. It takes no largest output at its highest effort. Where the caller sets one, the next
 * lower effort keeps to it.
 */
function novaPlan(effort: ReasoningEffort, maxTokens: number | null): ReasoningPlan {
  const word = threeEfforts(effort);
  const isUnbounded = word === 'high' && maxTokens === null;
  return {
    ...nothing,
    fields: {
      reasoningConfig: { type: 'enabled', maxReasoningEffort: word === 'high' && !isUnbounded ? 'medium' : word },
    },
    isUnbounded,
    isDropped: word === 'high' && !isUnbounded,
  };
}

function threeEfforts(effort: ReasoningEffort): 'low' | 'medium' | 'high' {
  if (effort === 'minimal' || effort === 'low') return 'low';
  return effort === 'medium' ? 'medium' : 'high';
}

function gptEffort(effort: ReasoningEffort): ReasoningEffort {
  if (effort === 'minimal') return 'low';
  return effort === 'max' ? 'xhigh' : effort;
}
