import type { Loose } from '../../base/values.ts';
import type { ChatRequest, ReasoningEffort } from '../../schema/chat/chat.ts';
import { asEffort, type ReasoningAmount, reasoningAmount } from '../shared/reasoning-request.ts';
import type { Dropped } from './dropped.ts';
import type { ResponsesQuirks } from './quirks.ts';

/** The largest output that a budget is compared with where the caller sets none. */
const usualOutput = 32_000;

/** Models of OpenAI that answer at once, under their own names or as models that were trained from them. */
const withoutReasoning = /^(?:ft:)?(?:gpt-[34]|chatgpt-|gpt-5[\w.]*-chat)/i;

/** true: a model may reason. It does unless its name says that it does not. */
export function reasons(upstreamModel: string): boolean {
  return !withoutReasoning.test(upstreamModel);
}

/**
 * Returns the effort. A budget becomes only an effort that every model takes: a caller that names one of the others
 * means it.
 */
function effortOf(amount: NonNullable<ReasoningAmount>, request: ChatRequest): ReasoningEffort {
  const effort = asEffort(amount, request.max_completion_tokens ?? request.max_tokens ?? usualOutput);
  if ('effort' in amount || effort === 'none') return effort;
  return effort === 'minimal' ? 'low' : effort === 'xhigh' ? 'high' : effort;
}

const ownFields = ['effort', 'summary', 'max_tokens', 'exclude', 'enabled', 'context', 'mode'];

/**
 * Encodes how much the model has to think, and whether it tells of it; null: the caller does not say. The provider
 * takes no budget in tokens; the nearest effort stands for it.
 * @see https://platform.openai.com/docs/guides/reasoning
 */
export function encodeReasoning(
  request: ChatRequest,
  upstreamModel: string,
  quirks: ResponsesQuirks,
  dropped: Dropped,
): Loose | null {
  const asked = request.reasoning;
  const encoded: Loose = {};
  const amount = reasoningAmount(request);
  const effort = amount === null ? null : effortOf(amount, request);
  // A model that does not reason refuses a setting for it.
  if (effort !== null && (effort !== 'none' || reasons(upstreamModel))) encoded.effort = effort;
  const summary = asked?.exclude === true ? null : (asked?.summary ?? null);
  // A caller that asks in the words of `reasoning` expects to read some. `reasoning_effort` alone comes from clients of
  // OpenAI, which show none.
  const isUsual = asked !== undefined && asked.exclude !== true && amount !== null && effort !== 'none';
  if (summary !== null) encoded.summary = summary;
  else if (isUsual && quirks.reasoningSummaries !== false) encoded.summary = 'auto';
  if (asked !== undefined) {
    for (const name of ['context', 'mode']) if (typeof asked[name] === 'string') encoded[name] = asked[name];
    dropped.noteOthers('reasoning.', asked, ownFields);
  }
  return Object.keys(encoded).length === 0 ? null : encoded;
}
