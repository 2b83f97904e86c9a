import { GatewayError } from '../base/errors.ts';
import { plugins } from '../plugins/index.ts';
import type { ChatRequest } from '../schema/chat.ts';

/**
 * Refuses what this gateway cannot do yet: a plugin or a tool that would run here and is not built in is never silently
 * ignored.
 * @throws GatewayError invalid_request (400)
 */
export function screen(request: ChatRequest): void {
  for (const plugin of request.plugins ?? []) {
    if (plugin.enabled !== false && !plugins.some(({ id }) => id === plugin.id)) {
      throw new GatewayError('invalid_request', `plugin not available: ${plugin.id}`, {
        metadata: { plugin: plugin.id },
      });
    }
  }
  for (const tool of request.tools ?? []) {
    if (tool.type !== 'function') {
      throw new GatewayError(
        'invalid_request',
        `tool not available: ${tool.type.slice(0, 80)}; only function tools are`,
        { metadata: { tool: tool.type.slice(0, 80) } },
      );
    }
  }
}
