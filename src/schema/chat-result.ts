import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { list } from './bounded.ts';
import { serviceMetadataSchema } from './envelope.ts';
import { assistantMessageSchema } from './message.ts';
import { count, integer, number, optionalText, text, textOrNull } from './scalars.ts';
import { usageSchema } from './usage.ts';

export const finishReasonSchema = lazily(() => z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'error']));
export type FinishReason = z.infer<ReturnType<typeof finishReasonSchema>>;

const bytes = lazily(() => list(integer()).nullable());

const tokenLogprobSchema = lazily(() =>
  z.looseObject({
    token: text(),
    logprob: number(),
    bytes: bytes(),
    top_logprobs: list(z.looseObject({ token: text(), logprob: number(), bytes: bytes() })),
  }),
);

export const logprobsSchema = lazily(() =>
  z.looseObject({
    content: list(tokenLogprobSchema()).nullable(),
    refusal: list(tokenLogprobSchema()).nullish(),
  }),
);
export interface Logprobs extends z.infer<ReturnType<typeof logprobsSchema>> {}

/** The error that a provider reported after partial output. */
export const choiceErrorSchema = lazily(() =>
  z.looseObject({
    code: integer(),
    message: text(),
    metadata: z.looseObject({ error_type: text(), provider_code: optionalText() }).optional(),
  }),
);
export interface ChoiceError extends z.infer<ReturnType<typeof choiceErrorSchema>> {}

export const chatChoiceSchema = lazily(() =>
  z.looseObject({
    index: count(),
    message: assistantMessageSchema(),
    finish_reason: finishReasonSchema().nullable(),
    /** The provider's own value. */
    native_finish_reason: textOrNull(),
    logprobs: logprobsSchema().nullish(),
    error: choiceErrorSchema().optional(),
  }),
);
export interface ChatChoice extends z.infer<ReturnType<typeof chatChoiceSchema>> {}

/** A complete chat completion. The key `system_fingerprint` is required, its value may be null. */
export const chatResultSchema = lazily(() =>
  z.looseObject({
    id: text(),
    object: z.literal('chat.completion'),
    /** Unix timestamp in seconds. */
    created: integer(),
    model: text(),
    /** Display name of the provider that served. */
    provider: optionalText(),
    choices: list(chatChoiceSchema()),
    system_fingerprint: text().nullable(),
    service_tier: textOrNull(),
    usage: usageSchema().optional(),
    service_metadata: serviceMetadataSchema().optional(),
  }),
);
export interface ChatResult extends z.infer<ReturnType<typeof chatResultSchema>> {}
