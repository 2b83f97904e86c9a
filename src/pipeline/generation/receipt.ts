import { multiply, picoToNano } from '../../base/money.ts';
import type { Ask } from '../../call/ask.ts';
import type { Receipt } from '../../call/generation.ts';
import type { Pricing } from '../../call/model.ts';
import type { Target } from '../../call/plan.ts';
import { estimateOutput, estimatePrompt } from '../../pricing/estimate.ts';
import { isPlausibleOutput, isPlausiblePrompt } from '../../pricing/plausible.ts';
import { type Cost, tokenPrices, usageWithCost } from '../../pricing/price.ts';
import type { ChatRequest, Usage } from '../../schema/chat/chat.ts';
import type { CompleteResponse } from '../attempt/attempt.ts';
import { costAt, mayReason, mostCost } from '../money/cost.ts';
import type { Spent } from '../money/hold-share.ts';
import { outputBytes } from '../stream/output-bytes.ts';
import type { StreamMeter } from '../stream/reader.ts';

/** The received part of a response. */
export type Received = CompleteResponse | StreamMeter;

/** The most tokens that end a response or begin a tool call, and are no text. */
const unseenTokens = 64;

/** Returns the cost of a generation that no target served. */
export function receiptOfFailures(failures: Spent): Receipt {
  const usage: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  const costNanoUsd = failures.operatorNanoUsd + failures.byokNanoUsd;
  return { usage, isEstimated: false, costNanoUsd, servedNanoUsd: 0, parts: null };
}

/**
 * Returns the cost of a generation that a target served. The provider's report counts where it is final and can be
 * true. Missing values are counted here: at their bound where money is held, at a usual number where costs are only
 * counted.
 * @param ask  the request as it was sent
 */
export function receiptOf(ask: Ask, target: Target, received: Received, failures: Spent): Receipt {
  const { request } = ask;
  const { usage } = received;
  const isPromptKnown = usage !== null && isPlausiblePrompt(usage, request);
  const isHeld = Boolean(target.ceilingNanoUsd);
  const isFinal = isFinalReport(received, isHeld, mayReason(target, request));
  const isKnown = isPromptKnown && isFinal && isPlausibleOutput(usage, textBytes(received));
  const isEstimated = !isKnown;
  const counted = isEstimated ? countedUsage(request, target, received, isPromptKnown) : (usage as Usage);
  const cost =
    isEstimated && isHeld ? heldCost(ask, target, counted, isPromptKnown) : costAt(target.endpoint, counted, ask);
  const servedNanoUsd = cost?.totalNanoUsd ?? 0;
  const failedNanoUsd = failures.operatorNanoUsd + failures.byokNanoUsd;
  return {
    usage: usageWithCost(counted, cost, target.isByok, failures.operatorNanoUsd),
    isEstimated,
    costNanoUsd: cost === null ? null : servedNanoUsd + failedNanoUsd,
    servedNanoUsd,
    parts: cost,
  };
}

/**
 * true: the report is of everything that was received. Some providers report the prompt first, and the rest at the end.
 * A report before the text of a complete response is of all of it where it has a usual number of tokens for it.
 * @param reasons  the model may have gone on reasoning, unseen, since its last report
 */
function isFinalReport(received: Received, isHeld: boolean, reasons: boolean): boolean {
  if (received.kind === 'result') return true;
  const { usage, usageAtBytes, isUsageLast, textBytes: bytes, isComplete, mayBeLonger } = received;
  // A report of no output, before an end without text, leaves room for reasoning.
  const isVain = !isUsageLast && usage?.completion_tokens === 0;
  if (mayBeLonger || (isHeld && reasons && (!isComplete || isVain))) return false;
  return (
    usageAtBytes === bytes || ((isComplete || !isHeld) && (usage?.completion_tokens ?? 0) >= estimateOutput(bytes))
  );
}

/** Returns the bytes of text that were received: the same number for a stream and for a complete response. */
function textBytes(received: Received): number {
  if (received.kind === 'stream') return received.textBytes;
  let bytes = 0;
  for (const { message } of received.result.choices) bytes += outputBytes(message);
  return bytes;
}

function lengthOf(text: unknown): number {
  return typeof text === 'string' ? text.length : 0;
}

/** Returns the larger of the reported and the counted usage. */
function countedUsage(request: ChatRequest, target: Target, received: Received, isPromptKnown: boolean): Usage {
  const { usage } = received;
  const most = target.ceilingNanoUsd ? target.mostTokens : undefined;
  const unreported = unreportedOf(received);
  const prompt = isPromptKnown
    ? (usage as Usage).prompt_tokens
    : Math.max(usage?.prompt_tokens ?? 0, most?.promptTokens ?? estimatePrompt(request));
  const reported = usage?.completion_tokens ?? 0;
  let completion = Math.max(reported, estimateOutput(textBytes(received)));
  if (most !== undefined) {
    const { bytes, isAll } = unreported;
    const counted = (isAll ? 0 : reported) + (bytes === 0 ? 0 : bytes + unseenTokens);
    const isHidden = hasHiddenOutput(received) || (mayReason(target, request) && !showsReasoning(received));
    completion = Math.max(reported, isHidden ? most.completionTokens : Math.min(counted, most.completionTokens));
  }
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: (isPromptKnown && usage?.prompt_tokens_details) || { cached_tokens: 0 },
    // All output has the dearest price where money is held; see `dearerOutput`.
    completion_tokens_details: (most === undefined && usage?.completion_tokens_details) || { reasoning_tokens: 0 },
    estimated: true,
  };
}

/** Returns the output that the report does not hold. `isAll`: nothing in the report on output can be true. */
function unreportedOf(received: Received): { bytes: number; isAll: boolean } {
  const { usage } = received;
  const bytes = textBytes(received);
  if (received.kind === 'result' || usage === null || !isPlausibleOutput(usage, received.usageAtBytes))
    return { bytes, isAll: true };
  return { bytes: bytes - received.usageAtBytes, isAll: false };
}

/** true: the received text does not show all tokens of the output. */
function hasHiddenOutput(received: Received): boolean {
  if (received.kind === 'stream') return received.hasMedia || received.mayBeLonger;
  return received.result.choices.some(({ message }) => Boolean(message.audio) || Boolean(message.images));
}

function showsReasoning(received: Received): boolean {
  if (received.kind === 'stream') return received.hasReasoning;
  return received.result.choices.some(({ message }) => lengthOf(message.reasoning) > 0);
}

/** Returns the most that counted usage can cost where money is held for it. */
function heldCost(ask: Ask, target: Target, counted: Usage, isPromptKnown: boolean): Cost | null {
  const { endpoint } = target;
  const { pricing } = endpoint;
  const priced = costAt(endpoint, counted, ask);
  if (pricing === null || priced === null) return null;
  // Searches are reported only at the end.
  const most =
    isPromptKnown && !pricing.webSearchPicoUsd
      ? priced.totalNanoUsd + dearerOutput(pricing, counted)
      : mostCost(target, counted.completion_tokens);
  const totalNanoUsd = Math.max(priced.totalNanoUsd, most);
  const beyondNanoUsd = totalNanoUsd - priced.totalNanoUsd;
  const kinds = { ...priced.kinds, inputNanoUsd: priced.kinds.inputNanoUsd + beyondNanoUsd };
  return { ...priced, totalNanoUsd, promptNanoUsd: priced.promptNanoUsd + beyondNanoUsd, kinds };
}

/** Returns the extra cost of output if all of it is of the dearest kind. */
function dearerOutput(pricing: Pricing, { prompt_tokens, completion_tokens }: Usage): number {
  const {
    completionPicoUsd,
    reasoningPicoUsd = 0,
    audioOutputPicoUsd = 0,
    imageOutputPicoUsd = 0,
  } = tokenPrices(pricing, prompt_tokens);
  const dearest = Math.max(completionPicoUsd, reasoningPicoUsd, audioOutputPicoUsd, imageOutputPicoUsd);
  return picoToNano(multiply(completion_tokens, dearest - completionPicoUsd));
}
