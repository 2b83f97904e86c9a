import type { ChatQuirks } from '../../dialects/openai-chat/quirks.ts';

/**
 * How providers that speak chat completions want to be asked for reasoning, caching and schemas, where that is not the
 * usual way. Public facts as of November 2026. Where it depends on the model, the usual way stays.
 * @see https://api-docs.deepseek.com/guides/thinking_mode
 * @see https://docs.z.ai/guides/capabilities/thinking-mode
 * @see https://www.alibabacloud.com/help/en/model-studio/deep-thinking
 * @see https://www.alibabacloud.com/help/en/model-studio/context-cache
 * @see https://docs.fireworks.ai/guides/reasoning
 */
export const requestStyles: Readonly<Record<string, ChatQuirks>> = {
  ai21: { jsonSchema: false },
  // It takes `cache_control` in messages too, for a price that is not known here: see `inputCacheWrite` in docs/options.md.
  alibaba: { reasoningStyle: 'enable_thinking_budget' },
  deepseek: { reasoningStyle: 'thinking', jsonSchema: false },
  digitalocean: { reasoningStyle: 'object' },
  fireworks: { reasoningStyle: 'thinking_budget' },
  friendli: { reasoningStyle: 'chat_template' },
  'io-net': { reasoningStyle: 'object_effort' },
  minimax: { reasoningFormat: 'MiniMax-response-v1' },
  moonshotai: { reasoningStyle: 'thinking' },
  novita: { reasoningStyle: 'enable_thinking' },
  poolside: { reasoningStyle: 'object_effort' },
  siliconflow: { reasoningStyle: 'enable_thinking_budget' },
  together: { reasoningStyle: 'enabled' },
  xiaomi: { reasoningStyle: 'thinking' },
  'z-ai': { reasoningStyle: 'thinking' },
};
