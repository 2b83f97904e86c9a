import type { ChatTool } from '../schema/chat/chat.ts';
import { definePlugin, type Plugin } from './plugin.ts';

/** Settings of the plugin `web-fetch`; a request may set each by itself, except the first. */
export interface WebFetchOptions {
  /** true: the plugin acts on requests that do not name it. Default false. */
  isDefault?: boolean;
  /** The most pages that the model may fetch for one response. Default 20. */
  maxUses?: number;
  /** The most tokens of the text of one page; the rest is left out. Default 20,000. */
  maxContentTokens?: number;
  /** The domains whose pages may be fetched. Default: all. */
  allowedDomains?: readonly string[];
  /** The domains whose pages may not be fetched. Default: none. */
  blockedDomains?: readonly string[];
}

interface WebFetchRequest {
  allowed_domains?: string[];
  blocked_domains?: string[];
  max_content_tokens?: number;
  max_uses?: number;
}

/**
 * Offers the server tool `service:web_fetch` to the model.
 * @see docs/plugins/web-fetch.md
 */
export function webFetch(options: WebFetchOptions = {}): Plugin {
  return definePlugin<WebFetchRequest>({
    id: 'web-fetch',
    ...(options.isDefault === true ? { isDefault: true } : {}),
    before(request, context) {
      const asked = context.options;
      const given = {
        max_uses: asked.max_uses ?? options.maxUses,
        max_content_tokens: asked.max_content_tokens ?? options.maxContentTokens,
        allowed_domains: asked.allowed_domains ?? options.allowedDomains,
        blocked_domains: asked.blocked_domains ?? options.blockedDomains,
      };
      const parameters = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      const tool: ChatTool = { type: 'service:web_fetch', parameters };
      return { ...request, tools: [...(request.tools ?? []), tool] };
    },
  });
}
