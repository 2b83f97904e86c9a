import { type DialectAddress, inHeader, type Provider } from '../provider.ts';

/** Header of Anthropic's own API. Of those below, it is used where the provider's documentation names it. */
const inApiKeyHeader = inHeader('x-api-key');

/**
 * Where the providers of the registry speak further dialects: addresses by slug and name of the dialect. They take the
 * key as their usual address does, unless `auth` says otherwise.
 * @see https://api-docs.deepseek.com/guides/anthropic_api "HTTP Header"
 * @see https://platform.minimax.io/docs/api-reference/text-chat-anthropic "Authorizations"
 */
const addresses: Readonly<Record<string, Readonly<Record<string, DialectAddress>>>> = {
  alibaba: {
    'openai-responses': { baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1' },
    'anthropic-messages': { baseUrl: 'https://dashscope-intl.aliyuncs.com/apps/anthropic/v1' },
  },
  darkbloom: { 'anthropic-messages': { baseUrl: 'https://api.darkbloom.dev/v1' } },
  deepinfra: { 'anthropic-messages': { baseUrl: 'https://api.deepinfra.com/anthropic/v1' } },
  deepseek: {
    'anthropic-messages': { baseUrl: 'https://api.deepseek.com/anthropic/v1', auth: inApiKeyHeader },
    'openai-responses': { baseUrl: 'https://api.deepseek.com' },
  },
  digitalocean: {
    'openai-responses': { baseUrl: 'https://inference.do-ai.run/v1' },
    'anthropic-messages': { baseUrl: 'https://inference.do-ai.run/v1' },
  },
  fireworks: {
    'anthropic-messages': { baseUrl: 'https://api.fireworks.ai/inference/v1' },
    'openai-responses': { baseUrl: 'https://api.fireworks.ai/inference/v1' },
  },
  gmicloud: { 'anthropic-messages': { baseUrl: 'https://api.gmi-serving.com/v1' } },
  minimax: { 'anthropic-messages': { baseUrl: 'https://api.minimax.io/anthropic/v1', auth: inApiKeyHeader } },
  moonshotai: { 'anthropic-messages': { baseUrl: 'https://api.moonshot.ai/anthropic/v1' } },
  openai: {
    'openai-responses': { baseUrl: 'https://api.openai.com/v1', quirks: { lowDetail: true, compacts: true } },
  },
  perplexity: { 'openai-responses': { baseUrl: 'https://api.perplexity.ai/v1' } },
  // Of the platform in mainland China, which has keys of its own: none is known of the global one.
  stepfun: {
    'anthropic-messages': { baseUrl: 'https://api.stepfun.com/v1' },
    'openai-responses': { baseUrl: 'https://api.stepfun.com/v1' },
  },
  venice: { 'openai-responses': { baseUrl: 'https://api.venice.ai/api/v1' } },
  xai: {
    'openai-responses': {
      baseUrl: 'https://api.x.ai/v1',
      quirks: { reasoningFormat: 'xai-responses-v1', reasoningBeside: true },
    },
  },
  xiaomi: { 'anthropic-messages': { baseUrl: 'https://api.xiaomimimo.com/anthropic/v1' } },
};

/** What a row of the registry adds to its provider: nothing for most. */
export function furtherDialects(slug: string): Pick<Provider, 'also'> {
  const also = Object.hasOwn(addresses, slug) ? addresses[slug] : undefined;
  return also === undefined ? {} : { also };
}
