import * as z from 'zod';

/** OpenAI's chat completions as a strict client expects them: nothing missing, nothing unknown but `reasoning`. */

const usage = z
  .strictObject({
    prompt_tokens: z.int().nonnegative(),
    completion_tokens: z.int().nonnegative(),
    total_tokens: z.int().nonnegative(),
    prompt_tokens_details: z.strictObject({
      cached_tokens: z.int().nonnegative(),
      audio_tokens: z.int().nonnegative(),
    }),
    completion_tokens_details: z.strictObject({
      reasoning_tokens: z.int().nonnegative(),
      audio_tokens: z.int().nonnegative(),
      accepted_prediction_tokens: z.int().nonnegative(),
      rejected_prediction_tokens: z.int().nonnegative(),
    }),
  })
  .refine((u) => u.prompt_tokens + u.completion_tokens === u.total_tokens, 'the total is the sum');

const finishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter']);
const fingerprint = z.string().min(1);

export const openAiCompletion = z.strictObject({
  id: z.string().startsWith('chatcmpl-'),
  object: z.literal('chat.completion'),
  created: z.int().positive(),
  model: z.string().min(1),
  system_fingerprint: fingerprint,
  choices: z
    .array(
      z.strictObject({
        index: z.int().nonnegative(),
        message: z.strictObject({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          refusal: z.string().nullable(),
          reasoning: z.string().optional(),
          tool_calls: z
            .array(
              z.strictObject({
                id: z.string().min(1),
                type: z.literal('function'),
                function: z.strictObject({ name: z.string().min(1), arguments: z.string() }),
              }),
            )
            .min(1)
            .optional(),
        }),
        logprobs: z.null(),
        finish_reason: finishReason,
      }),
    )
    .min(1),
  usage: usage.optional(),
});

export const openAiChunk = z.strictObject({
  id: z.string().startsWith('chatcmpl-'),
  object: z.literal('chat.completion.chunk'),
  created: z.int().positive(),
  model: z.string().min(1),
  system_fingerprint: fingerprint,
  choices: z.array(
    z.strictObject({
      index: z.int().nonnegative(),
      delta: z.strictObject({
        role: z.literal('assistant').optional(),
        content: z.string().nullable().optional(),
        refusal: z.string().nullable().optional(),
        reasoning: z.string().optional(),
        tool_calls: z
          .array(
            z.strictObject({
              index: z.int().nonnegative(),
              id: z.string().optional(),
              type: z.literal('function').optional(),
              function: z.strictObject({ name: z.string().optional(), arguments: z.string() }),
            }),
          )
          .min(1)
          .optional(),
      }),
      logprobs: z.null(),
      finish_reason: finishReason.nullable(),
    }),
  ),
  usage: usage.nullable().optional(),
});

export const openAiError = z.strictObject({
  error: z.strictObject({
    message: z.string().min(1),
    type: z.string().min(1),
    param: z.string().nullable(),
    code: z.string().nullable(),
  }),
});

export type OpenAiCompletion = z.infer<typeof openAiCompletion>;
export type OpenAiChunk = z.infer<typeof openAiChunk>;
