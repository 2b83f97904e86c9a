import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { chatRequestSchema } from '../chat/request.ts';

/** Fields that say how a model writes. What decides about routing, money or tools stays with the request. */
const fields = {
  max_tokens: true,
  max_completion_tokens: true,
  temperature: true,
  top_p: true,
  top_k: true,
  min_p: true,
  top_a: true,
  frequency_penalty: true,
  presence_penalty: true,
  repetition_penalty: true,
  logit_bias: true,
  seed: true,
  stop: true,
  reasoning: true,
  reasoning_effort: true,
  parallel_tool_calls: true,
} as const;

/**
 * Fields that say the same thing. A request that sets one of them gets the default of none, which could contradict it.
 */
export const sameMeaning: readonly (readonly string[])[] = [
  ['max_tokens', 'max_completion_tokens'],
  ['reasoning', 'reasoning_effort'],
];

/**
 * Values for requests that set none, by field; checked like those of a request. Both names of one thing are refused.
 */
export const modelDefaults = lazily(() =>
  z.strictObject(chatRequestSchema().pick(fields).shape).check((payload) => {
    for (const names of sameMeaning) {
      const given = names.filter((name) => isSet((payload.value as Record<string, unknown>)[name]));
      if (given.length < 2) continue;
      payload.issues.push({
        code: 'custom',
        path: [given[1] as string],
        message: `expected either ${given[0]} or ${given[1]}: both say the same`,
        input: payload.value,
      });
    }
  }),
);

/** Null means the same as an absent field. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
