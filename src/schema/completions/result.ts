import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list, mapOf } from '../bounded.ts';
import { errorBodySchema, serviceMetadataSchema } from '../chat/envelope.ts';
import { usageSchema } from '../chat/usage.ts';
import { count, integer, number, optionalText, text, textOrNull } from '../scalars.ts';

/** The probabilities of tokens: lists of the same length. */
export const textLogprobsSchema = lazily(() =>
  z.looseObject({
    /** The tokens as texts. */
    tokens: list(text()),
    /** Natural logarithms of their probabilities. */
    token_logprobs: list(number()),
    /** The most likely tokens at each place, and the one that was chosen, with their probabilities. */
    top_logprobs: list(mapOf(number())),
    /** The place in the text at which each token begins, in Unicode characters. */
    text_offset: list(count()),
  }),
);
export interface TextLogprobs extends z.infer<ReturnType<typeof textLogprobsSchema>> {}

const textFinishReasonSchema = lazily(() => z.enum(['stop', 'length', 'content_filter']));

const choiceFields = lazily(() => ({
  /** Place among the completions, from 0: those of prompt i are i × n to i × n + n − 1. */
  index: count(),
  /** The text of the model; in a stream, more of it. */
  text: text(),
  /** Probabilities of the tokens, where they were asked for and the provider gave them. */
  logprobs: textLogprobsSchema().nullable(),
  /** The provider's own word for the reason why it ended. */
  native_finish_reason: textOrNull(),
}));

/** The response to one of several prompts. */
export const promptReportSchema = lazily(() =>
  z.looseObject({
    /** `gen-…`: the id of its record. */
    id: text(),
    /** Slug of the model that served it. */
    model: text(),
    /** Display name of the provider that served it. */
    provider: text(),
    /** Its tokens and its cost. */
    usage: usageSchema(),
    /** Its routing, if the caller asked for it. */
    service_metadata: serviceMetadataSchema().optional(),
  }),
);

const headFields = lazily(() => ({
  /** `gen-…`; in a stream, the same in every event. */
  id: text(),
  /** Always `text_completion`. */
  object: z.literal('text_completion'),
  /** Unix timestamp in seconds. */
  created: integer(),
  /** Slug of the model that served. */
  model: text(),
  /** Display name of the provider that served. */
  provider: optionalText(),
  /** The provider's mark of its configuration. */
  system_fingerprint: optionalText(),
  /** The tier that served. */
  service_tier: textOrNull(),
}));

/** A complete text completion. */
export const textCompletionResultSchema = lazily(() =>
  z.looseObject({
    ...headFields(),
    /** The completions, by index. */
    choices: list(
      z.looseObject({
        ...choiceFields(),
        /** The reason why the text ended. */
        finish_reason: textFinishReasonSchema(),
      }),
    ),
    /** Tokens and cost. */
    usage: usageSchema().optional(),
    /** The response to each prompt, in their order, where there were several. */
    prompts: list(promptReportSchema()).optional(),
    /** The routing of the request, if the caller asked for it. */
    service_metadata: serviceMetadataSchema().optional(),
  }),
);
/** The complete response to a `TextCompletionRequest`. */
export interface TextCompletionResult extends z.infer<ReturnType<typeof textCompletionResultSchema>> {}

export const textCompletionChunkSchema = lazily(() =>
  z.looseObject({
    ...headFields(),
    /** More of each text. */
    choices: list(
      z.looseObject({
        ...choiceFields(),
        /** null until the last event. */
        finish_reason: textFinishReasonSchema().nullable(),
      }),
    ),
    /** On the last event. */
    usage: usageSchema().optional(),
    /** On the last event: the response to each prompt, in their order, where there were several. */
    prompts: list(promptReportSchema()).optional(),
    /** On the debug event only. */
    debug: z.looseObject({ echo_upstream_body: jsonObject().optional() }).optional(),
    /** On the last event: the routing of the request, if the caller asked for it. */
    service_metadata: serviceMetadataSchema().optional(),
  }),
);
/** One event of a streamed text completion. */
export interface TextCompletionChunk extends z.infer<ReturnType<typeof textCompletionChunkSchema>> {}

/** The event that ends a stream which broke off: it has no `choices`, and no `[DONE]` follows. */
export const textCompletionFailureSchema = lazily(() =>
  z.looseObject({
    ...headFields(),
    /** The error. */
    error: errorBodySchema().shape.error,
    /** Tokens and cost of what was made. */
    usage: usageSchema().optional(),
    /** The routing of the request, if the caller asked for it. */
    service_metadata: serviceMetadataSchema().optional(),
  }),
);

/** An event of a stream of text completions. */
export const textCompletionEventSchema = lazily(() =>
  z.union([textCompletionChunkSchema(), textCompletionFailureSchema()]),
);
