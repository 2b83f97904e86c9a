import type { FinishReason } from '../../../schema/chat/chat.ts';

/**
 * Returns the reason why a response ended, in our word for the provider's. A word nobody knows means an ordinary end.
 * @param calledTools  true: the caller has calls to run; the call of a tool that stands for structured output is none
 */
export type FinishReasonOf = (native: string, calledTools: boolean) => FinishReason;

/**
 * Makes the mapping of a dialect. An ordinary end is `tool_calls` where tools were called, and `tool_calls` an ordinary
 * end where none were.
 * @param table  our words by the provider's word
 */
export function finishReasons(table: Readonly<Record<string, FinishReason>>): FinishReasonOf {
  const reasons = new Map(Object.entries(table));
  return (native, calledTools) => {
    const reason = reasons.get(native) ?? 'stop';
    if (reason !== 'stop' && reason !== 'tool_calls') return reason;
    return calledTools ? 'tool_calls' : 'stop';
  };
}
