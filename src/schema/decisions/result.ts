import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list } from '../bounded.ts';
import { count } from '../scalars.ts';
import { taskCostFields } from '../task-usage.ts';

const name = lazily(() => z.string().nullable());
const share = lazily(() => z.number());

/** The answer to one question. */
export const decisionAnswerSchema = lazily(() =>
  z.discriminatedUnion('type', [
    z.looseObject({
      /** The kind of the answer. */
      type: z.literal('predicate'),
      /** The name of the question; null: it has none. */
      name: name(),
      /** The probability that the statement is true, 0 to 1. */
      probability: share(),
    }),
    z.looseObject({
      /** The kind of the answer. */
      type: z.literal('choice'),
      /** The name of the question; null: it has none. */
      name: name(),
      /** The value of the choice. */
      choice: z.union([z.string(), z.boolean()]),
      /** The probability of the answer, 0 to 1. */
      confidence: share(),
      /** The probability of each. */
      probabilities: list(z.looseObject({ value: z.union([z.string(), z.boolean()]), probability: share() })),
    }),
    z.looseObject({
      /** The kind of the answer. */
      type: z.literal('score'),
      /** The name of the question; null: it has none. */
      name: name(),
      /** The place on the scale; 0 is the lowest level. */
      score: z.number(),
      /** The probability of the answer, 0 to 1. */
      confidence: share(),
      /** The probability of each. */
      probabilities: list(z.looseObject({ value: z.number(), label: z.string(), probability: share() })),
    }),
    z.looseObject({
      /** The kind of the answer: the model gives none to this question. */
      type: z.literal('refusal'),
      /** The name of the question; null: it has none. */
      name: name(),
    }),
  ]),
);
export type DecisionAnswer = z.infer<ReturnType<typeof decisionAnswerSchema>>;

/** The response of POST /decisions. */
export const decisionsResultSchema = lazily(() =>
  z.looseObject({
    /** `gen-…`, as in the record. */
    id: z.string(),
    /** The slug of the model that served. */
    model: z.string(),
    /** The answers, in the order of the questions. */
    answers: list(decisionAnswerSchema()),
    usage: z.looseObject({
      /** Tokens of the input and the questions. */
      input_tokens: count(),
      /** The part of them that the provider had kept, or keeps now. It has no price of its own. */
      input_tokens_details: z.looseObject({ cached_tokens: count(), cache_write_tokens: count() }),
      /** Tokens of the answers. They cost nothing. */
      output_tokens: count(),
      output_tokens_details: z.looseObject({ reasoning_tokens: count() }),
      total_tokens: count(),
      ...taskCostFields(),
    }),
  }),
);
export interface DecisionsResult extends z.infer<ReturnType<typeof decisionsResultSchema>> {}
