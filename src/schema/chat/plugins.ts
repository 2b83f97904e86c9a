import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list } from '../bounded.ts';
import { integer, optionalFlag, optionalPositive, optionalText, optionalTexts, text, textOrNull } from '../scalars.ts';

// Default true; false switches the plugin off for this request. The code that reads the field applies the default: a
// default in the schema would change the forwarded request.
const enabled = optionalFlag;

const autoRouter = lazily(() =>
  z.looseObject({
    /** Id of the plugin. */
    id: z.literal('auto-router'),
    /** false: the plugin does not act. */
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
    /** Id of the plugin. */
    id: z.literal('web'),
    /** false: the plugin does not act. */
    enabled: enabled(),
    /** The engine that does the work. */
    engine: z.enum(['native', 'exa', 'firecrawl', 'parallel', 'perplexity']).optional(),
    /** The most results of one search. */
    max_results: optionalPositive(),
    /** The most uses of the plugin. */
    max_uses: optionalPositive(),
    /** The introduction of the results for the model. */
    search_prompt: optionalText(),
    /** Only pages of these domains. */
    include_domains: optionalTexts(),
    /** No pages of these domains. */
    exclude_domains: optionalTexts(),
    /** The rough location of the user. */
    user_location: z
      .looseObject({
        /** Always `approximate`. */
        type: z.literal('approximate'),
        /** City. */
        city: textOrNull(),
        /** Region or state. */
        region: textOrNull(),
        /** Country. */
        country: textOrNull(),
        /** Time zone, such as `Europe/Berlin`. */
        timezone: textOrNull(),
      })
      .optional(),
  }),
);

const webFetch = lazily(() =>
  z.looseObject({
    /** Id of the plugin. */
    id: z.literal('web-fetch'),
    /** false: the plugin does not act. */
    enabled: enabled(),
    /** Only pages of these domains. */
    allowed_domains: optionalTexts(),
    /** No pages of these domains. */
    blocked_domains: optionalTexts(),
    /** The most text of one page, in tokens. */
    max_content_tokens: optionalPositive(),
    /** The most uses of the plugin. */
    max_uses: optionalPositive(),
  }),
);

const fileParser = lazily(() =>
  z.looseObject({
    /** Id of the plugin. */
    id: z.literal('file-parser'),
    /** false: the plugin does not act. */
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
    /** Id of the plugin. */
    id: z.literal('context-compression'),
    /** false: the plugin does not act. */
    enabled: enabled(),
    /** The engine that does the work. */
    engine: z.enum(['middle-out']).optional(),
  }),
);

const paretoRouter = lazily(() =>
  z.looseObject({
    /** Id of the plugin. */
    id: z.literal('pareto-router'),
    /** false: the plugin does not act. */
    enabled: enabled(),
    /** The least coding score that a model must have. */
    min_coding_score: z.number().min(0).max(1).optional(),
  }),
);

const fusion = lazily(() =>
  z.looseObject({
    /** Id of the plugin. */
    id: z.literal('fusion'),
    /** false: the plugin does not act. */
    enabled: enabled(),
    /** The model that judges the responses of `analysis_models` and writes the final response. */
    model: optionalText(),
    /** Models that are called in parallel. */
    analysis_models: list(text()).min(1).max(8).optional(),
    /** The most calls of tools. */
    max_tool_calls: integer().min(1).max(16).optional(),
    /** A set of settings, by name. */
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
