import { loadedOnce } from '../../base/async/loaded-once.ts';
import { lateDialect } from '../../dialects/late.ts';
import { openaiChat } from '../../dialects/openai-chat/index.ts';
import type { Transport } from '../../transport/transport.ts';
import { completeProvider } from '../provider.ts';
import type { ScriptedUpstream } from './scripted.ts';

export type { SaidAnswer, SandboxAnswer, ScriptRequest } from './answer.ts';
export { type SandboxScript, type ScriptEntry, ScriptError, sandboxScript } from './script.ts';

/** The sandbox itself, which few gateways have: its models, its transport and its dialect. */
export const wholeSandbox = loadedOnce(() => import('./whole.ts'));

/**
 * An upstream in this process, for trials and for tests: no network, no key, no model. It speaks OpenAI's chat
 * completions in real bytes, so that a request takes the same way as with any other provider.
 * @see docs/sandbox.md for its models
 */
export const sandbox = completeProvider({
  slug: 'sandbox',
  name: 'Sandbox',
  // A name that never resolves: a request for the sandbox cannot reach a network by mistake.
  baseUrl: 'http://sandbox.invalid/v1',
  dialect: lateDialect(
    { name: 'openai-chat', format: 'chat', quirks: openaiChat.quirks },
    async () => (await wholeSandbox()).sandboxChat,
  ),
  auth: (request) => request,
  // All tokens that its models produce count against the largest output.
  quirks: {
    reasoningBeside: false,
    images: { streams: true, base64Word: null },
    speech: { forms: ['mp3', 'wav', 'pcm'] },
    transcriptions: { forms: ['json', 'verbose_json', 'diarized_json'] },
  },
  dataPolicy: { zeroRetention: true, trains: false },
  isSandbox: true,
  createTransport: ({ clock }) => lateTransport((whole) => whole.createSandboxTransport({ clock })),
});

/** The upstream of one provider that answers by a script. */
export function createScriptedTransport(upstream: ScriptedUpstream): Transport {
  return lateTransport((whole) => whole.createScriptedTransport(upstream));
}

function lateTransport(make: (whole: typeof import('./whole.ts')) => Transport): Transport {
  const made = loadedOnce(async () => make(await wholeSandbox()));
  return {
    async send(request) {
      const transport = made();
      return (transport instanceof Promise ? await transport : transport).send(request);
    },
  };
}

/** The names of its models, in the order of its list. */
export const sandboxModelIds = [
  'assistant',
  'echo',
  'lorem',
  'free',
  'expensive',
  'tool-call',
  'json',
  'reasoning',
  'refusal',
  'content-filter',
  'no-usage',
  'large-event',
  'slow',
  'timeout',
  'stall',
  'unreachable',
  'reset',
  'cut-stream',
  'error-mid-stream',
  'error-in-200',
  'bad-json',
  'html',
  'empty',
  'flaky',
  'rate-limited',
  'overloaded',
  'context-length',
  'error-400',
  'error-401',
  'error-402',
  'error-403',
  'error-404',
  'error-408',
  'error-413',
  'error-422',
  'error-500',
  'error-503',
  'embed',
  'rerank',
  'moderations',
  'decisions',
  'image',
  'speech',
  'whisper',
] as const;
