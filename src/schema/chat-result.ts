import * as z from 'zod';
import { serviceMetadataSchema } from './envelope.ts';
import { assistantMessageSchema } from './message.ts';
import { usageSchema } from './usage.ts';

export const finishReasonSchema = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'error']);
export type FinishReason = z.infer<typeof finishReasonSchema>;

const bytes = z.array(z.int()).nullable();

const tokenLogprobSchema = z.looseObject({
  token: z.string(),
  logprob: z.number(),
  bytes,
  top_logprobs: z.array(z.looseObject({ token: z.string(), logprob: z.number(), bytes })),
});

export const logprobsSchema = z.looseObject({
  content: z.array(tokenLogprobSchema).nullable(),
  refusal: z.array(tokenLogprobSchema).nullish(),
});
export interface Logprobs extends z.infer<typeof logprobsSchema> {}

/** What a provider reported when it broke off after partial output. */
export const choiceErrorSchema = z.looseObject({
  code: z.int(),
  message: z.string(),
  metadata: z.looseObject({ error_type: z.string(), provider_code: z.string().optional() }).optional(),
});
export interface ChoiceError extends z.infer<typeof choiceErrorSchema> {}

export const chatChoiceSchema = z.looseObject({
  index: z.int().nonnegative(),
  message: assistantMessageSchema,
  finish_reason: finishReasonSchema.nullable(),
  /** As the provider said it. */
  native_finish_reason: z.string().nullish(),
  logprobs: logprobsSchema.nullish(),
  error: choiceErrorSchema.optional(),
});
export interface ChatChoice extends z.infer<typeof chatChoiceSchema> {}

/** A whole chat completion. The key `system_fingerprint` is required, its value may be null. */
export const chatResultSchema = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion'),
  /** Unix timestamp in seconds. */
  created: z.int(),
  model: z.string(),
  /** Display name of the provider that served. */
  provider: z.string().optional(),
  choices: z.array(chatChoiceSchema),
  system_fingerprint: z.string().nullable(),
  service_tier: z.string().nullish(),
  usage: usageSchema.optional(),
  service_metadata: serviceMetadataSchema.optional(),
});
export interface ChatResult extends z.infer<typeof chatResultSchema> {}
