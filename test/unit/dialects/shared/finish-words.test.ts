import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import { finishReasons } from '../../../../src/dialects/shared/response/finish-reasons.ts';
import { finishWordOf, finishWords } from '../../../../src/dialects/shared/response/finish-words.ts';
import { dialects } from '../../../support/dialects.ts';

type Body = (reason: string) => object;

/** A complete response of each dialect, without calls. */
const bodies: Readonly<Record<string, Body>> = {
  'openai-chat': (finish_reason) => ({ choices: [{ message: { content: 'x' }, finish_reason }] }),
  'anthropic-messages': (stop_reason) => ({ content: [{ type: 'text', text: 'x' }], stop_reason }),
  'bedrock-converse': (stopReason) => ({ output: { message: { content: [{ text: 'x' }] } }, stopReason }),
  'cohere-chat': (finish_reason) => ({ message: { content: [{ type: 'text', text: 'x' }] }, finish_reason }),
  'google-generate-content': (finishReason) => ({
    candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason }],
  }),
  'ai-sdk': (raw) => ({ content: [{ type: 'text', text: 'x' }], finishReason: { unified: 'other', raw } }),
};

/** What the dialect makes of the word; `error` where it says that the response was broken off. */
function endOf(dialect: string, reason: string): string | null | undefined {
  try {
    const { result } = dialects[dialect as keyof typeof dialects].decodeResult(bodies[dialect]?.(reason), {});
    return result.choices[0]?.finish_reason;
  } catch (error) {
    if (error instanceof UpstreamError) return 'error';
    throw error;
  }
}

/** As servers write them, in their own case: what the client is told where no tool was called. */
const ofServers: readonly [server: string, word: string, ours: string][] = [
  ['OpenAI', 'stop', 'stop'],
  ['OpenAI', 'length', 'length'],
  ['OpenAI', 'content_filter', 'content_filter'],
  ['Anthropic', 'end_turn', 'stop'],
  ['Anthropic', 'stop_sequence', 'stop'],
  ['Anthropic', 'pause_turn', 'stop'],
  ['Anthropic', 'max_tokens', 'length'],
  ['Anthropic', 'model_context_window_exceeded', 'length'],
  ['Anthropic', 'refusal', 'content_filter'],
  ['Z.AI', 'model_context_window_exceeded', 'length'],
  ['Z.AI', 'sensitive', 'content_filter'],
  ['Z.AI', 'network_error', 'error'],
  ['DeepSeek', 'insufficient_system_resource', 'error'],
  ['Mistral', 'model_length', 'length'],
  ['Cohere', 'COMPLETE', 'stop'],
  ['Cohere', 'MAX_TOKENS', 'length'],
  ['Cohere', 'ERROR_TOXIC', 'content_filter'],
  ['Cohere', 'ERROR_LIMIT', 'length'],
  ['Cohere', 'USER_CANCEL', 'error'],
  ['Google', 'MAX_TOKENS', 'length'],
  ['Google, by its SDK', 'FinishReason.MAX_TOKENS', 'length'],
  ['Google', 'SAFETY', 'content_filter'],
  ['Google', 'RECITATION', 'content_filter'],
  ['Google', 'PROHIBITED_CONTENT', 'content_filter'],
  ['Google', 'MALFORMED_FUNCTION_CALL', 'error'],
  ['Google', 'FINISH_REASON_UNSPECIFIED', 'error'],
  ['Bedrock', 'guardrail_intervened', 'content_filter'],
  ['Bedrock', 'content_filtered', 'content_filter'],
  ['Bedrock', 'malformed_tool_use', 'error'],
  ['TGI', 'eos_token', 'stop'],
  ['Together', 'eos', 'stop'],
  ['LM Studio', 'eosFound', 'stop'],
  ['LM Studio', 'maxPredictedTokensReached', 'length'],
  ['LM Studio', 'contextLengthReached', 'length'],
  ['vLLM', 'abort', 'error'],
  ['vLLM', 'repetition', 'length'],
  ['watsonx', 'time_limit', 'length'],
  ['watsonx', 'cancelled', 'error'],
  ['AI SDK', 'content-filter', 'content_filter'],
  ['the Responses API', 'max_output_tokens', 'length'],
  ['nobody, yet', 'max_thinking_budget_reached', 'length'],
  ['nobody, yet', 'context_full_window', 'length'],
  ['nobody, yet', 'output_truncated', 'length'],
  ['nobody, yet', 'unsafe_content_blocked', 'content_filter'],
  ['nobody, yet', 'backend_failure', 'error'],
  ['nobody, yet', 'done_for_today', 'stop'],
];

describe('the reason for the end of a response', () => {
  it.each(ofServers)('is read in every dialect: %s, %s', (_, word, ours) => {
    for (const name of Object.keys(bodies)) expect([name, endOf(name, word)]).toEqual([name, ours]);
  });
  it('is unfinished in the Responses API, whichever limit it names', () => {
    const end = (reason: string) =>
      dialects['openai-responses'].decodeResult(
        { status: 'incomplete', output: [], incomplete_details: { reason } },
        {},
      ).result.choices[0]?.finish_reason;
    expect(['max_output_tokens', 'model_context_window_exceeded', 'stop', 'x'].map(end)).toEqual(
      Array.from({ length: 4 }, () => 'length'),
    );
    expect(['content_filter', 'safety', 'refusal'].map(end)).toEqual(Array.from({ length: 3 }, () => 'content_filter'));
  });
  it('is no ordinary end where nobody knows the word, and a call is not complete', () => {
    const reasonOf = finishReasons();
    expect(reasonOf('banana', true, true)).toBe('length');
    expect(reasonOf('banana', true)).toBe('tool_calls');
  });
  it('has one meaning for each word of the table, in whichever case and form', () => {
    const words = finishWords.flatMap((row) => row.words);
    expect(new Set(words).size).toBe(words.length);
    for (const word of words) {
      const camel = word.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      for (const form of [word, word.toUpperCase(), word.replaceAll('_', '-'), camel])
        expect([form, finishWordOf(form)]).toEqual([form, word]);
    }
  });
});
