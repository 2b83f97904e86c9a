import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list } from '../bounded.ts';
import { count, integer, number, optionalText, text, textOrNull } from '../scalars.ts';
import { serviceMetadataSchema } from './envelope.ts';
import { assistantMessageSchema } from './message.ts';
import { usageSchema } from './usage.ts';

export const finishReasonSchema = lazily(() => z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'error']));
export type FinishReason = z.infer<ReturnType<typeof finishReasonSchema>>;

const bytes = lazily(() => list(integer()).nullable());

const tokenLogprobSchema = lazily(() =>
  z.looseObject({
    /** The token as text. */
    token: text(),
    /** Natural logarithm of its probability. */
    logprob: number(),
    /** The token in UTF-8. */
    bytes: bytes(),
    /** The most likely tokens at this place. */
    top_logprobs: list(z.looseObject({ token: text(), logprob: number(), bytes: bytes() })),
  }),
);

export const logprobsSchema = lazily(() =>
  z.looseObject({
    /** Probabilities of the tokens of the response. */
    content: list(tokenLogprobSchema()).nullable(),
    /** Probabilities of the tokens of a refusal. */
    refusal: list(tokenLogprobSchema()).nullish(),
  }),
);
export interface Logprobs extends z.infer<ReturnType<typeof logprobsSchema>> {}

/** The error that a provider reported after partial output. */
export const choiceErrorSchema = lazily(() =>
  z.looseObject({
    /** The status that the error would have. */
    code: integer(),
    /** The message, for people. */
    message: text(),
    /** Further facts. */
    metadata: z.looseObject({ error_type: text(), provider_code: optionalText() }).optional(),
  }),
);
export interface ChoiceError extends z.infer<ReturnType<typeof choiceErrorSchema>> {}

export const chatChoiceSchema = lazily(() =>
  z.looseObject({
    /** Place in `choices`, from 0. */
    index: count(),
    /** The message of the model. */
    message: assistantMessageSchema(),
    /** The reason why the response ended; null: it broke off. */
    finish_reason: finishReasonSchema().nullable(),
    /** The provider's own value. */
    native_finish_reason: textOrNull(),
    /** Probabilities of the tokens, where they were asked for. */
    logprobs: logprobsSchema().nullish(),
    /** The error of this choice. */
    error: choiceErrorSchema().optional(),
  }),
);
export interface ChatChoice extends z.infer<ReturnType<typeof chatChoiceSchema>> {}

/** A complete chat completion. The key `system_fingerprint` is required, its value may be null. */
export const chatResultSchema = lazily(() =>
  z.looseObject({
    /** `gen-…`. */
    id: text(),
    /** Always `chat.completion`. */
    object: z.literal('chat.completion'),
    /** Unix timestamp in seconds. */
    created: integer(),
    /** Slug of the model that served. */
    model: text(),
    /** Display name of the provider that served. */
    provider: optionalText(),
    /** One for each response that was asked for by `n`. */
    choices: list(chatChoiceSchema()),
    /** The provider's mark of its configuration. */
    system_fingerprint: text().nullable(),
    /** The tier that served. */
    service_tier: textOrNull(),
    /** Tokens and cost. */
    usage: usageSchema().optional(),
    /** The routing of the request, if the caller asked for it. */
    service_metadata: serviceMetadataSchema().optional(),
  }),
);
/** The complete response to a `ChatRequest`. */
export interface ChatResult extends z.infer<ReturnType<typeof chatResultSchema>> {}
