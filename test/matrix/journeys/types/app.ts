// What a TypeScript app writes. `tsc` checks it, and the types of the package in full.
import express, { type Request as ExpressRequest } from 'express';
import { Keyv } from 'keyv';
import {
  type ChatResult,
  contextCompression,
  createGateway,
  defineGuardrail,
  definePlugin,
  defineProvider,
  fileParser,
  fusion,
  type Gateway,
  GatewayError,
  type GatewayOptions,
  type HostCaller,
  isGatewayError,
  type Logger,
  moderation,
  type RequestRecord,
  responseHealing,
  web,
  webFetch,
} from 'model-gateway';
import { openaiChat } from 'model-gateway/dialects';
import { gatewayMiddleware } from 'model-gateway/express';
import { gatewayRoute } from 'model-gateway/next';
import { serve } from 'model-gateway/node';
import { type SandboxAnswer, sandboxScript } from 'model-gateway/testing';

const logger: Logger = console;
const records: RequestRecord[] = [];
const options: GatewayOptions = {
  providers: {
    openai: { apiKey: 'sk-1' },
    ours: defineProvider({ slug: 'ours', baseUrl: 'http://127.0.0.1:1/v1', dialect: openaiChat }),
  },
  models: [{ slug: 'app/chat', endpoints: [{ provider: 'ours', model: 'x' }] }],
  authenticate: async (request: Request): Promise<HostCaller | null> =>
    request.headers.has('x-user') ? { userId: 'ada', permissions: ['inference'] } : null,
  store: new Keyv(),
  logger,
  onRecord: (record) => records.push(record),
  plugins: [definePlugin({ id: 'ours', before: async (request) => ({ ...request, temperature: 0 }) })],
};
export const gateway: Gateway = createGateway(options);

/** What an app may not have: a setting that is `undefined` has its default, also where the compiler is exact. */
const maybe: { flag?: boolean; count?: number; text?: string } = {};
export const withDefaults = [
  web({ isDefault: maybe.flag, maxResults: maybe.count, searchPrompt: maybe.text }),
  webFetch({ maxUses: maybe.count }),
  contextCompression({ smallContext: maybe.count }),
  fileParser({ maxFiles: maybe.count }),
  fusion({ model: maybe.text, concurrency: maybe.count }),
  moderation({ output: maybe.flag }),
  responseHealing({ streams: maybe.flag }),
  definePlugin({ id: 'maybe', isDefault: maybe.flag, before: (request) => request }),
  defineGuardrail({ id: 'maybe', name: maybe.text, before: (request) => request }),
];

// @ts-expect-error: there is no such option
createGateway({ ...options, provider: {} });
// @ts-expect-error: a number is no key
createGateway({ ...options, providers: { openai: { apiKey: 1 } } });

interface Session extends ExpressRequest {
  user?: { id: string; tenant: string };
}
const app = express();
app.use(
  '/v1',
  gatewayMiddleware<Session>(gateway, {
    caller: (req) =>
      req.user ? { userId: req.user.id, workspaceId: req.user.tenant, permissions: ['inference'] } : null,
  }),
);
export const { GET, POST } = gatewayRoute(gateway);
export const running = () => serve(gateway, { port: 0 });

const answer: SandboxAnswer = { when: ({ model }) => model === 'x', toolCalls: [{ name: 'f', arguments: { a: 1 } }] };
export const script = sandboxScript(['Hello', answer, ({ lastUserMessage }) => ({ text: lastUserMessage })]);
// @ts-expect-error: a status is a number
sandboxScript([{ error: { status: '503' } }]);

export async function ask(text: string): Promise<string> {
  const response = await gateway.fetch('http://in-process/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify({ model: 'app/chat', messages: [{ role: 'user', content: text }] }),
  });
  const result = (await response.json()) as ChatResult;
  return result.choices[0]?.message.content?.toString() ?? '';
}

export function statusOf(error: unknown): number {
  return isGatewayError(error) ? error.status : new GatewayError('unavailable', 'Later').status;
}
export const guardrail = defineGuardrail({ id: 'polite', before: (request) => request });
