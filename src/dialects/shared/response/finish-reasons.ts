import type { FinishReason } from '../../../schema/chat/chat.ts';
import { finishWordOf, meaningOf, writtenMeaningOf } from './finish-words.ts';

/**
 * Says why a response ended, in our word for the provider's. A word that nobody knows means an ordinary end, unless
 * something shows that the response was cut.
 * @param calledTools  whether the caller has calls to run; the call of a tool that stands for structured output is none
 * @param isMidCall    whether the arguments of a call are not complete
 */
export type FinishReasonOf = (native: string, calledTools: boolean, isMidCall?: boolean) => FinishReason;

/**
 * Makes the mapping of a dialect. An ordinary end is `tool_calls` where tools were called, and `tool_calls` an ordinary
 * end where none were.
 * @param table  ours by the provider's word, where it means something else than with other servers
 */
export function finishReasons(table: Readonly<Record<string, FinishReason>> = {}): FinishReasonOf {
  const own = new Map(Object.entries(table).map(([native, reason]) => [finishWordOf(native), reason]));
  const reasonFor = (word: string) => own.get(word) ?? meaningOf(word);
  return (native, calledTools, isMidCall = false) => {
    // Most servers send a word as it stands in a table, and no pattern has to look at it.
    const written = own.get(native) ?? writtenMeaningOf(native);
    const reason = written ?? reasonFor(finishWordOf(native)) ?? (isMidCall ? 'length' : 'stop');
    if (reason !== 'stop' && reason !== 'tool_calls') return reason;
    return calledTools ? 'tool_calls' : 'stop';
  };
}

/** From the best end to the worst. */
const ends: readonly FinishReason[] = ['stop', 'tool_calls', 'length', 'content_filter', 'error'];

/** Tells whether a further reason for the end of a response says as much of what is missing as the one before. */
export function isNoBetter(next: FinishReason, known: FinishReason): boolean {
  return next === 'stop' ? known === 'stop' || known === 'tool_calls' : ends.indexOf(next) >= ends.indexOf(known);
}
