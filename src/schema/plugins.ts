import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { jsonObject, list } from './bounded.ts';
import { integer, optionalFlag, optionalPositive, optionalText, optionalTexts, text, textOrNull } from './scalars.ts';

// Default true; false switches the plugin off for this request. The code that reads the field applies the default: a
// default in the schema would change the forwarded request.
const enabled = optionalFlag;

const autoRouter = lazily(() =>
  z.looseObject({
    id: z.literal('auto-router'),
    enabled: enabled(),
    /** Patterns; `*` matches anything. */
    allowed_models: optionalTexts(),
    /** From 0, quality only, to 10, the cheapest. */
    cost_quality_tradeoff: integer().min(0).max(10).optional(),
  }),
);

const moderation = lazily(() => z.looseObject({ id: z.literal('moderation'), enabled: enabled() }));

const web = lazily(() =>
  z.looseObject({
    id: z.literal('web'),
    enabled: enabled(),
    engine: z.enum(['native', 'exa', 'firecrawl', 'parallel', 'perplexity']).optional(),
    max_results: optionalPositive(),
    max_uses: optionalPositive(),
    search_prompt: optionalText(),
    include_domains: optionalTexts(),
    exclude_domains: optionalTexts(),
    user_location: z
      .looseObject({
        type: z.literal('approximate'),
        city: textOrNull(),
        region: textOrNull(),
        country: textOrNull(),
        timezone: textOrNull(),
      })
      .optional(),
  }),
);

const webFetch = lazily(() =>
  z.looseObject({
    id: z.literal('web-fetch'),
    enabled: enabled(),
    allowed_domains: optionalTexts(),
    blocked_domains: optionalTexts(),
    max_content_tokens: optionalPositive(),
    max_uses: optionalPositive(),
  }),
);

const fileParser = lazily(() =>
  z.looseObject({
    id: z.literal('file-parser'),
    enabled: enabled(),
    /** `pdf-text` is the deprecated name of `cloudflare-ai`. */
    pdf: z
      .looseObject({ engine: z.enum(['mistral-ocr', 'native', 'cloudflare-ai', 'pdf-text']).optional() })
      .optional(),
  }),
);

const responseHealing = lazily(() => z.looseObject({ id: z.literal('response-healing'), enabled: enabled() }));

const contextCompression = lazily(() =>
  z.looseObject({
    id: z.literal('context-compression'),
    enabled: enabled(),
    engine: z.enum(['middle-out']).optional(),
  }),
);

const paretoRouter = lazily(() =>
  z.looseObject({
    id: z.literal('pareto-router'),
    enabled: enabled(),
    min_coding_score: z.number().min(0).max(1).optional(),
  }),
);

const fusion = lazily(() =>
  z.looseObject({
    id: z.literal('fusion'),
    enabled: enabled(),
    /** The model that judges the responses of `analysis_models` and writes the final response. */
    model: optionalText(),
    /** Models that are called in parallel. */
    analysis_models: list(text()).min(1).max(8).optional(),
    max_tool_calls: integer().min(1).max(16).optional(),
    preset: z.enum(['general-high', 'general-budget', 'general-fast']).optional(),
    /** An empty list disables tools. */
    tools: list(z.looseObject({ type: text(), parameters: jsonObject().optional() }))
      .max(8)
      .optional(),
  }),
);

/** One entry of `plugins`. */
export const pluginSchema = lazily(() =>
  z.discriminatedUnion('id', [
    autoRouter(),
    moderation(),
    web(),
    webFetch(),
    fileParser(),
    responseHealing(),
    contextCompression(),
    paretoRouter(),
    fusion(),
  ]),
);
export type PluginRequest = z.infer<ReturnType<typeof pluginSchema>>;
export type PluginId = PluginRequest['id'];

export const pluginIds = [
  'auto-router',
  'moderation',
  'web',
  'web-fetch',
  'file-parser',
  'response-healing',
  'context-compression',
  'pareto-router',
  'fusion',
] as const satisfies readonly PluginId[];

/** Default settings of plugins. The plugins apply them; they are never written into the request. */
export const pluginDefaults = {
  'auto-router': { cost_quality_tradeoff: 7 },
  web: { max_results: 5 },
  'context-compression': { engine: 'middle-out' },
  fusion: { max_tool_calls: 8 },
} as const satisfies Partial<Record<PluginId, object>>;
