import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list, mapOf } from '../bounded.ts';
import type { LateFields } from '../late-fields.ts';
import { integer, integerOrNull, number, numberOrNull, text } from '../scalars.ts';

/** A penalty, for frequency and for presence. */
const penalty = lazily(() => z.number().min(-2).max(2).nullish());

/** The settings for the choice of tokens, which chat and Responses requests share. */
export const samplingFields = {
  /** The randomness of the response; 0: as little as possible. */
  temperature: () => z.number().min(0).max(2).nullish(),
  /** Only the most likely tokens whose probabilities add up to this. */
  top_p: () => z.number().min(0).max(1).nullish(),
  /** Only so many of the most likely tokens. */
  top_k: integerOrNull,
  /** Only tokens at least so likely, relative to the most likely one. */
  min_p: numberOrNull,
  /** Only tokens that are likely enough, by the square of the highest probability. */
  top_a: numberOrNull,
  /** Makes a token less likely the more often it has occurred. */
  frequency_penalty: penalty,
  /** Makes a token less likely once it has occurred. */
  presence_penalty: penalty,
  /** Makes tokens of the prompt and the response less likely; 1: no penalty. */
  repetition_penalty: numberOrNull,
  /** Makes single tokens more or less likely, by token id. */
  logit_bias: () => mapOf(number()).nullish(),
  /** The number of most likely tokens that are listed at each place. */
  top_logprobs: () => integer().min(0).max(20).nullish(),
  /** The same seed makes the same response likely. */
  seed: integerOrNull,
  /** Texts that end the response. */
  stop: () => z.union([text(), list(text()).max(4)]).nullish(),
} satisfies LateFields;
