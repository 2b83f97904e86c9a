import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list } from '../bounded.ts';
import { text } from '../scalars.ts';

const tokens = lazily(() => z.int().optional());

/** A model, as clients of the Gemini wire expect it. */
export const geminiModelSchema = lazily(() =>
  z.looseObject({
    /** `models/`, and the name that a request takes: a slug, or an alias. */
    name: text(),
    /** The slug. */
    baseModelId: text(),
    /** Always empty: no source tells it. */
    version: text(),
    /** Name for people. */
    displayName: text(),
    /** Text for people; empty: not known. */
    description: text(),
    /** The context, in tokens; absent: not known. */
    inputTokenLimit: tokens(),
    /** The largest output, in tokens; absent: not known. */
    outputTokenLimit: tokens(),
    /** The calls that it can be asked by. */
    supportedGenerationMethods: list(text()),
    /** true: it can think. */
    thinking: z.literal(true).optional(),
  }),
);
export interface GeminiModel extends z.infer<ReturnType<typeof geminiModelSchema>> {}

/** A page of models. */
export const geminiModelListSchema = lazily(() =>
  z.object({
    /** The models. */
    models: list(geminiModelSchema()),
    /** The `pageToken` of the next page; absent: this is the last one. */
    nextPageToken: text().optional(),
  }),
);
export interface GeminiModelList extends z.infer<ReturnType<typeof geminiModelListSchema>> {}
