import type { ChatTool } from '../schema/chat.ts';
import { definePlugin, type Plugin } from './plugin.ts';

interface WebFetchRequest {
  allowed_domains?: string[];
  blocked_domains?: string[];
  max_content_tokens?: number;
  max_uses?: number;
}

/**
 * Offers the server tool `service:web_fetch` to the model.
 * @see docs/server-tools.md
 */
export function webFetch(): Plugin {
  return definePlugin<WebFetchRequest>({
    id: 'web-fetch',
    before(request, { options }) {
      const { allowed_domains, blocked_domains, max_content_tokens, max_uses } = options;
      const given = { allowed_domains, blocked_domains, max_content_tokens, max_uses };
      const parameters = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      const tool: ChatTool = { type: 'service:web_fetch', parameters };
      return { ...request, tools: [...(request.tools ?? []), tool] };
    },
  });
}
