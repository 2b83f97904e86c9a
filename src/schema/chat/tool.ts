import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, textUpTo } from '../bounded.ts';
import { flagOrNull, optionalInteger, optionalText, optionalTexts, text } from '../scalars.ts';
import { expectations } from './expectations.ts';
import { cacheControlSchema } from './part.ts';

export const functionToolSchema = lazily(() =>
  z.looseObject({
    /** The kind of tool. */
    type: z.literal('function'),
    /** The function. */
    function: z.looseObject({
      /** Name of the function: a provider that takes shorter ones is given one of its own form. */
      name: textUpTo(256),
      /** Description of the function, for the model. */
      description: optionalText(),
      /** JSON Schema of the arguments. */
      parameters: jsonObject().optional(),
      /** true: arguments follow the schema exactly. */
      strict: flagOrNull(),
    }),
    /** Asks the provider to cache the prompt up to here. */
    cache_control: cacheControlSchema().optional(),
  }),
);
export interface FunctionTool extends z.infer<ReturnType<typeof functionToolSchema>> {}

/**
 * A tool that the gateway runs, such as `service:web_search`. The prefix is the operator's brand, so the schema accepts
 * any prefix. It does not check whether the tool exists.
 */
export const serverToolSchema = lazily(() =>
  z.looseObject({
    /** The kind of tool. */
    type: z.custom<`${string}:${string}`>(
      (value) => typeof value === 'string' && value.length <= 128 && /^[\w-]+:[\w-]+$/.test(value),
      { error: expectations.serverTool },
    ),
    /** Settings of the tool. */
    parameters: jsonObject().optional(),
  }),
);
export interface ServerTool extends z.infer<ReturnType<typeof serverToolSchema>> {}

/** Short form of `service:web_search`, with its parameters at the top level. */
export const webSearchToolSchema = lazily(() =>
  z.looseObject({
    /** The kind of tool. */
    type: z.enum(['web_search', 'web_search_preview', 'web_search_preview_2025_03_11', 'web_search_2025_08_26']),
    /** Only pages of these domains. */
    allowed_domains: optionalTexts(),
    /** No pages of these domains. */
    excluded_domains: optionalTexts(),
    /** The search engine. */
    engine: optionalText(),
    /** The most text of one page. */
    max_characters: optionalInteger(),
    /** The most results of one search. */
    max_results: optionalInteger(),
    /** The most results of all searches. */
    max_total_results: optionalInteger(),
    /** Settings of the tool. */
    parameters: jsonObject().optional(),
    /** The part of the results that the model reads. */
    search_context_size: z.enum(['low', 'medium', 'high']).optional(),
    /** The rough location of the user. */
    user_location: jsonObject().optional(),
  }),
);
export interface WebSearchTool extends z.infer<ReturnType<typeof webSearchToolSchema>> {}

// A plain union, because the type of a server tool is a pattern and a discriminator needs constants. Function tools
// come first, so that they match at once.
export const chatToolSchema = lazily(() => z.union([functionToolSchema(), serverToolSchema(), webSearchToolSchema()]));
export type ChatTool = FunctionTool | ServerTool | WebSearchTool;

const namedToolChoiceSchema = lazily(() =>
  z.looseObject({
    /** The kind of tool. */
    type: z.literal('function'),
    /** The function that must be called. */
    function: z.looseObject({ name: text() }),
  }),
);
export interface NamedToolChoice extends z.infer<ReturnType<typeof namedToolChoiceSchema>> {}

/** `{ type: <server tool type> }` forces a server tool. Other types pass: the upstream may know them. */
const otherToolChoiceSchema = lazily(() =>
  z.looseObject({
    /** The kind of tool. */
    type: z.string().refine((type) => type !== 'function', { error: expectations.functionChoice, abort: true }),
  }),
);

export const toolChoiceSchema = lazily(() =>
  z.union([z.enum(['none', 'auto', 'required']), namedToolChoiceSchema(), otherToolChoiceSchema()]),
);
export type ToolChoice = z.infer<ReturnType<typeof toolChoiceSchema>>;

const webSearch = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/;

/** Tells whether a type of tool is web search, in any of its dated forms. */
export function isWebSearch(type: unknown): boolean {
  return typeof type === 'string' && webSearch.test(type);
}
