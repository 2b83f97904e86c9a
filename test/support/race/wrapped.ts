import * as z from 'zod';
import type { Generation } from '../../../src/call/generation.ts';
import { definePlugin } from '../../../src/plugins/plugin.ts';
import type { ChatRequest } from '../../../src/schema/chat/chat.ts';
import { seedMessage, seedOfMessage } from './upstream.ts';

const wrappedModel = 'race/two';

/** The providers of the first generation draw from this seed: not what those of the second draw. */
export function firstSeedOf(seed: number): number {
  return seed + 1_000_000;
}

/** Calls a model twice under one client call, and delivers the second response. The first may fail. */
export const twice = definePlugin<{ at_once: boolean }>({
  id: 'twice',
  options: () => z.object({ id: z.literal('twice'), enabled: z.boolean().optional(), at_once: z.boolean() }),
  async wrap(generate, request, { options }) {
    if (request.model !== wrappedModel) return generate(request);
    if (!options.at_once) {
      await generate(asFirst(request)).catch(() => null);
      return generate(request);
    }
    const [, second] = await Promise.allSettled([generate(asFirst(request)), generate(request)]);
    if (second.status === 'rejected') throw second.reason;
    return second.value satisfies Generation;
  },
});

function asFirst(request: ChatRequest): ChatRequest {
  const [{ content }, ...rest] = request.messages as [{ content: string }, ...ChatRequest['messages']];
  return { ...request, stream: false, messages: [seedMessage(firstSeedOf(seedOfMessage(content))), ...rest] };
}
