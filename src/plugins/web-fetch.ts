import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import type { ChatTool } from '../schema/chat/chat.ts';
import { checkedSettings, field } from '../schema/host-object.ts';
import { builtInPlugin, type Plugin } from './plugin.ts';

/** Settings of the plugin `web-fetch`; a request may set each by itself, except the first. */
export interface WebFetchOptions {
  /** true: the plugin acts on requests that do not name it. Default false. */
  isDefault?: boolean | undefined;
  /** The most pages that the model may fetch for one response. Default 20. */
  maxUses?: number | undefined;
  /** The most tokens of the text of one page; the rest is left out. Default 20,000. */
  maxContentTokens?: number | undefined;
  /** The domains whose pages may be fetched. Default: all. */
  allowedDomains?: readonly string[] | undefined;
  /** The domains whose pages may not be fetched. Default: none. */
  blockedDomains?: readonly string[] | undefined;
}

interface WebFetchRequest {
  allowed_domains?: string[];
  blocked_domains?: string[];
  max_content_tokens?: number;
  max_uses?: number;
}

const shape = lazily(() => ({
  isDefault: field.flag().optional(),
  maxUses: field.count(1).optional(),
  maxContentTokens: field.count(1).optional(),
  allowedDomains: z.array(field.text()).optional(),
  blockedDomains: z.array(field.text()).optional(),
}));

/**
 * Offers the server tool `service:web_fetch` to the model.
 * @see docs/plugins/web-fetch.md
 */
export function webFetch(given: WebFetchOptions = {}): Plugin {
  const options = checkedSettings('webFetch', given, shape);
  return builtInPlugin<WebFetchRequest>({
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
