import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { jsonObject, textUpTo } from './bounded.ts';
import { expectations } from './expectations.ts';
import { cacheControlSchema } from './part.ts';
import { flagOrNull, optionalInteger, optionalText, optionalTexts, text } from './scalars.ts';

export const functionToolSchema = lazily(() =>
  z.looseObject({
    type: z.literal('function'),
    function: z.looseObject({
      name: textUpTo(64),
      description: optionalText(),
      /** JSON Schema of the arguments. */
      parameters: jsonObject().optional(),
      strict: flagOrNull(),
    }),
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
    type: z.custom<`${string}:${string}`>(
      (value) => typeof value === 'string' && value.length <= 128 && /^[\w-]+:[\w-]+$/.test(value),
      { error: expectations.serverTool },
    ),
    parameters: jsonObject().optional(),
  }),
);
export interface ServerTool extends z.infer<ReturnType<typeof serverToolSchema>> {}

/** Short form of `service:web_search`, with its parameters at the top level. */
export const webSearchToolSchema = lazily(() =>
  z.looseObject({
    type: z.enum(['web_search', 'web_search_preview', 'web_search_preview_2025_03_11', 'web_search_2025_08_26']),
    allowed_domains: optionalTexts(),
    excluded_domains: optionalTexts(),
    engine: optionalText(),
    max_characters: optionalInteger(),
    max_results: optionalInteger(),
    max_total_results: optionalInteger(),
    parameters: jsonObject().optional(),
    search_context_size: z.enum(['low', 'medium', 'high']).optional(),
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
    type: z.literal('function'),
    function: z.looseObject({ name: text() }),
  }),
);
export interface NamedToolChoice extends z.infer<ReturnType<typeof namedToolChoiceSchema>> {}

/** `{ type: <server tool type> }` forces a server tool. Other types pass: the upstream may know them. */
const otherToolChoiceSchema = lazily(() =>
  z.looseObject({
    type: z.string().refine((type) => type !== 'function', { error: expectations.functionChoice, abort: true }),
  }),
);

export const toolChoiceSchema = lazily(() =>
  z.union([z.enum(['none', 'auto', 'required']), namedToolChoiceSchema(), otherToolChoiceSchema()]),
);
export type ToolChoice = z.infer<ReturnType<typeof toolChoiceSchema>>;
