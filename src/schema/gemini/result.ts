import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list } from '../bounded.ts';
import { count, optionalCount, optionalText, text } from '../scalars.ts';

/** A complete response of the Gemini wire, or one event of a stream. */
export const geminiResultSchema = lazily(() =>
  z.looseObject({
    /** One for each response that was asked for by `candidateCount`. */
    candidates: list(
      z.looseObject({
        /** The turn of the model. */
        content: z.looseObject({ role: z.literal('model'), parts: list(jsonObject()) }),
        /** The reason why the response ended; absent: the stream goes on. */
        finishReason: optionalText(),
        /** Place among the candidates, from 0. */
        index: count(),
        /** The sources of the text. */
        groundingMetadata: jsonObject().optional(),
      }),
    ),
    /** Tokens of the request. */
    usageMetadata: z
      .looseObject({
        /** Tokens of the prompt, cached ones included. */
        promptTokenCount: count(),
        /** Tokens of the response, thoughts not included. */
        candidatesTokenCount: count(),
        /** Tokens of thoughts. */
        thoughtsTokenCount: optionalCount(),
        /** Tokens read from a prompt cache. */
        cachedContentTokenCount: optionalCount(),
        /** All of them. */
        totalTokenCount: count(),
      })
      .optional(),
    /** Slug of the model that served. */
    modelVersion: text(),
    /** `gen-…`. */
    responseId: text(),
  }),
);
