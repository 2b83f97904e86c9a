import type { Loose } from '../../base/values.ts';
import type { ChatRequest, ReasoningEffort } from '../../schema/chat/chat.ts';
import { asBudget, asEffort, reasoningAmount } from '../shared/reasoning-request.ts';
import type { Encoding } from './encoding.ts';
import type { Effort } from './models.ts';

/** The smallest budget that Anthropic takes. It must be less than the largest output. */
const leastBudget = 1_024;
/** The part of a largest output of our own that thoughts may take. */
const mostOfOurs = 0.8;

export interface ThinkingPlan {
  /** The field `thinking`. Absent: the model decides by itself. */
  thinking?: Loose;
  effort?: Effort;
}

/** The other facts of the request that thinking depends on. */
export interface ThinkingNeeds {
  /** The largest output, in tokens. */
  maxTokens: number;
  /** false: the caller named no largest output. */
  isMaxGiven: boolean;
  /**
   * true: a tool must be called, or a turn goes on that began without thoughts. A model with a budget does not think
   * then.
   */
  isBound: boolean;
}

/**
 * @see https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking
 * @see https://platform.claude.com/docs/en/build-with-claude/extended-thinking
 */
export function planThinking(request: ChatRequest, needs: ThinkingNeeds, encoding: Encoding): ThinkingPlan {
  const { traits, dropped } = encoding;
  const amount = reasoningAmount(request);
  if (request.reasoning?.summary) dropped.add('reasoning.summary');
  if (amount === null) return verbosityPlan(request, encoding);
  const leftOut = (plan: ThinkingPlan = {}): ThinkingPlan => {
    // A caller may send the same in both.
    if (reasoningAmount({ reasoning: request.reasoning })) dropped.add('reasoning');
    if (request.reasoning_effort) dropped.add('reasoning_effort');
    return { ...verbosityPlan(request, encoding), ...plan };
  };
  if ('effort' in amount && amount.effort === 'none') {
    const rest = verbosityPlan(request, encoding);
    if (traits.thinking === 'none') return rest;
    if (traits.canStopThinking) return { ...rest, thinking: { type: 'disabled' } };
    if (traits.thinksBetweenTools) return { ...rest, thinking: { type: 'between_tools' } };
    return leftOut({ effort: 'low' });
  }
  if (traits.thinking === 'none') return leftOut();
  const takesBudget = traits.thinking === 'budget' || (traits.thinking === 'either' && 'maxTokens' in amount);
  if (takesBudget && needs.maxTokens > leastBudget && !needs.isBound) {
    const most = needs.isMaxGiven ? needs.maxTokens - 1 : Math.floor(needs.maxTokens * mostOfOurs);
    const budget = asBudget(amount, needs.maxTokens, { least: leastBudget, most: Math.max(most, leastBudget) });
    return { ...verbosityPlan(request, encoding), thinking: { type: 'enabled', budget_tokens: budget } };
  }
  if (traits.thinking === 'budget') return leftOut();
  noteVerbosity(request, encoding);
  return {
    thinking: { type: 'adaptive', ...(traits.hidesThoughts ? { display: 'summarized' } : {}) },
    effort: nearestEffort(asEffort(amount, needs.maxTokens), traits.efforts),
  };
}

/**
 * Makes the plan of `verbosity`. Without an effort of reasoning, it is the effort: it steers everything that the model
 * writes.
 */
function verbosityPlan(request: ChatRequest, encoding: Encoding): ThinkingPlan {
  const { verbosity } = request;
  if (typeof verbosity !== 'string' || !Object.hasOwn(levels, verbosity) || encoding.traits.efforts.length === 0) {
    noteVerbosity(request, encoding);
    return {};
  }
  return { effort: nearestEffort(verbosity as ReasoningEffort, encoding.traits.efforts) };
}

function noteVerbosity({ verbosity }: ChatRequest, { dropped }: Encoding): void {
  if (verbosity !== undefined && verbosity !== null) dropped.add('verbosity');
}

const levels: Readonly<Record<Exclude<ReasoningEffort, 'none'>, number>> = {
  minimal: 0,
  low: 0,
  medium: 1,
  high: 2,
  xhigh: 3,
  max: 4,
};
const effortLevels: Readonly<Record<Effort, number>> = { low: 0, medium: 1, high: 2, xhigh: 3, max: 4 };

/** Returns the least effort of the model that is no less than the one that was asked for, else its greatest. */
function nearestEffort(asked: ReasoningEffort, efforts: readonly Effort[]): Effort {
  const level = asked === 'none' ? 0 : levels[asked];
  return efforts.find((effort) => effortLevels[effort] >= level) ?? efforts.at(-1) ?? 'high';
}
