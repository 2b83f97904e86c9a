import { createGateway, type Gateway } from '../../../src/gateway.ts';
import type { GatewayOptions } from '../../../src/options.ts';

export const dialectNames = [
  'openai-chat',
  'anthropic-messages',
  'google-generate-content',
  'bedrock-converse',
  'openai-responses',
  'cohere-chat',
] as const;

const key = 'sk-of-whoever-asks';
const pricing = { prompt: '0.000000002', completion: '0.000000008' };

/** Bytes of a response, as a network brings them: a piece in each turn of the event loop. */
const pieceBytes = 64 * 1024;

export interface World {
  gateway: Gateway;
  /** What the provider answers from now on. */
  answer: (body: string, contentType?: string) => void;
  /** Sends and reads to the end. @returns the status */
  send: (method: string, path: string, body: string | Uint8Array, ofKey?: string) => Promise<number>;
  /** The same of JSON. @returns the response, parsed */
  manage: (method: string, path: string, body: object) => Promise<Record<string, unknown>>;
}

const hello = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** A gateway with a budget, and a model at a provider of each dialect: `acme/fast`, `acme/anthropic-messages`, … */
export async function stallWorld(options: Partial<GatewayOptions> = {}): Promise<World> {
  let bytes: Uint8Array = new TextEncoder().encode(hello);
  let type = 'application/json';
  const endpoint = (dialect: string) => ({ provider: `p-${dialect}`, model: 'm', pricing });
  const gateway = createGateway({
    providers: Object.fromEntries(
      dialectNames.map((dialect) => [
        `p-${dialect}`,
        { baseUrl: `https://${dialect}.test/v1`, apiKey: 'sk-upstream-0123456789', dialect },
      ]),
    ),
    models: [
      { slug: 'acme/fast', endpoints: [endpoint('openai-chat')] },
      ...dialectNames.map((dialect) => ({ slug: `acme/${dialect}`, endpoints: [endpoint(dialect)] })),
    ],
    apiKeys: [{ key, permissions: ['inference', 'management'] }],
    secrets: { current: 'a secret of at least 32 characters' },
    retry: { maxAttempts: 1 },
    health: { failuresToCooldown: 1_000_000 },
    transport: {
      async send() {
        const sent = bytes;
        let at = 0;
        return {
          status: 200,
          headers: { 'content-type': type },
          body: {
            async read() {
              await new Promise((resolve) => setImmediate(resolve));
              if (at >= sent.length) return null;
              at += pieceBytes;
              return sent.subarray(at - pieceBytes, at) as Uint8Array<ArrayBuffer>;
            },
            cancel: () => undefined,
          },
        };
      },
    },
    ...options,
  });
  const fetched = (method: string, path: string, body: string | Uint8Array, ofKey = key) =>
    gateway.fetch(`http://gateway.test/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${ofKey}`, 'content-type': 'application/json' },
      body: body as string,
    });
  const world: World = {
    gateway,
    answer(body, contentType = 'application/json') {
      bytes = new TextEncoder().encode(body);
      type = contentType;
    },
    async send(method, path, body, ofKey) {
      const response = await fetched(method, path, body, ofKey);
      await response.arrayBuffer();
      return response.status;
    },
    async manage(method, path, body) {
      const response = await fetched(method, path, JSON.stringify(body));
      const said = (await response.json()) as Record<string, unknown>;
      if (!response.ok) throw new Error(JSON.stringify(said));
      return said;
    },
  };
  await world.manage('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1_000_000 });
  return world;
}
