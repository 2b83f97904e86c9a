import * as z from 'zod';
import { jsonObject } from './text.ts';

// Default true; false switches the plugin off for this request. The readers apply it: a schema that filled it in would
// rewrite what we forward.
const enabled = z.boolean().optional();
const domains = z.array(z.string()).optional();

const autoRouter = z.looseObject({
  id: z.literal('auto-router'),
  enabled,
  /** Patterns, `*` matches anything. */
  allowed_models: z.array(z.string()).optional(),
  /** 0 is pure quality, 10 the cheapest. */
  cost_quality_tradeoff: z.int().min(0).max(10).optional(),
});

const moderation = z.looseObject({ id: z.literal('moderation'), enabled });

const web = z.looseObject({
  id: z.literal('web'),
  enabled,
  engine: z.enum(['native', 'exa', 'firecrawl', 'parallel', 'perplexity']).optional(),
  max_results: z.int().min(1).optional(),
  max_uses: z.int().min(1).optional(),
  search_prompt: z.string().optional(),
  include_domains: domains,
  exclude_domains: domains,
  user_location: z
    .looseObject({
      type: z.literal('approximate'),
      city: z.string().nullish(),
      region: z.string().nullish(),
      country: z.string().nullish(),
      timezone: z.string().nullish(),
    })
    .optional(),
});

const webFetch = z.looseObject({
  id: z.literal('web-fetch'),
  enabled,
  allowed_domains: domains,
  blocked_domains: domains,
  max_content_tokens: z.int().min(1).optional(),
  max_uses: z.int().min(1).optional(),
});

const fileParser = z.looseObject({
  id: z.literal('file-parser'),
  enabled,
  /** `pdf-text` is the deprecated name of `cloudflare-ai`. */
  pdf: z
    .looseObject({ engine: z.enum(['mistral-ocr', 'native', 'cloudflare-ai', 'pdf-text']).optional() })
    .optional(),
});

const responseHealing = z.looseObject({ id: z.literal('response-healing'), enabled });

const contextCompression = z.looseObject({
  id: z.literal('context-compression'),
  enabled,
  engine: z.enum(['middle-out']).optional(),
});

const paretoRouter = z.looseObject({
  id: z.literal('pareto-router'),
  enabled,
  min_coding_score: z.number().min(0).max(1).optional(),
});

const fusion = z.looseObject({
  id: z.literal('fusion'),
  enabled,
  /** Judges and writes the answer. */
  model: z.string().optional(),
  /** Run in parallel. */
  analysis_models: z.array(z.string()).min(1).max(8).optional(),
  max_tool_calls: z.int().min(1).max(16).optional(),
  preset: z.enum(['general-high', 'general-budget', 'general-fast']).optional(),
  /** An empty list switches tools off. */
  tools: z
    .array(z.looseObject({ type: z.string(), parameters: jsonObject.optional() }))
    .max(8)
    .optional(),
});

/** One entry of `plugins`. */
export const pluginSchema = z.discriminatedUnion('id', [
  autoRouter,
  moderation,
  web,
  webFetch,
  fileParser,
  responseHealing,
  contextCompression,
  paretoRouter,
  fusion,
]);
export type PluginRequest = z.infer<typeof pluginSchema>;
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

/** What a plugin does where the request is silent; applied by the plugins, never written into the request. */
export const pluginDefaults = {
  'auto-router': { cost_quality_tradeoff: 7 },
  web: { max_results: 5 },
  'context-compression': { engine: 'middle-out' },
  fusion: { max_tool_calls: 8 },
} as const satisfies Partial<Record<PluginId, object>>;
