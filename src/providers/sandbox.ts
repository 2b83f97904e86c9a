import type { Model } from '../call/model.ts';
import { openaiChat } from '../dialects/openai-chat.ts';
import { defineProvider } from './provider.ts';
import { models } from './sandbox/models.ts';
import { usualMaxCompletionTokens } from './sandbox/speak.ts';
import { contextLength } from './sandbox/tokens.ts';
import { createSandboxTransport } from './sandbox/transport.ts';

export type { SaidAnswer, SandboxAnswer, ScriptRequest } from './sandbox/answer.ts';
export { type SandboxScript, type ScriptEntry, ScriptError, sandboxScript } from './sandbox/script.ts';
export { createScriptedTransport } from './sandbox/scripted.ts';

/**
 * An upstream inside this process, for trying out and for tests: no network, no key, no model. It speaks OpenAI's chat
 * completions in real bytes, so that all that a request passes elsewhere it passes here too.
 * @see docs/sandbox.md for its models
 */
export const sandbox = defineProvider({
  slug: 'sandbox',
  name: 'Sandbox',
  // A name that never resolves: what is meant for the sandbox cannot reach a network by mistake.
  baseUrl: 'http://sandbox.invalid/v1',
  dialect: openaiChat,
  auth: (request) => request,
  // All tokens that its models produce count against the largest output.
  quirks: { reasoningBeside: false },
  dataPolicy: { zeroRetention: true, trains: false },
  isSandbox: true,
  createTransport: createSandboxTransport,
});

/** USD 0.10 and USD 0.40 per million tokens, in pico-USD per token. */
const promptPicoUsd = 100_000;
const completionPicoUsd = 400_000;
const cacheReadPicoUsd = 50_000;

/** What every model of the sandbox acts on. Responses never vary, so that a seed is always kept. */
const usualParameters = ['max_tokens', 'max_completion_tokens', 'stop', 'n', 'seed'];

/** The sandbox's models, ready for a catalogue: one endpoint each. */
export const sandboxModels: readonly Model[] = models.map((model) => {
  const slug = `sandbox/${model.id}`;
  const factor = model.priceFactor ?? 1;
  return {
    slug,
    name: `Sandbox: ${model.name}`,
    endpoints: [
      {
        modelSlug: slug,
        providerSlug: 'sandbox',
        tag: 'sandbox',
        upstreamModel: model.id,
        pricing: {
          promptPicoUsd: promptPicoUsd * factor,
          completionPicoUsd: completionPicoUsd * factor,
          cacheReadPicoUsd: cacheReadPicoUsd * factor,
        },
        contextLength,
        maxCompletionTokens: model.maxCompletionTokens ?? usualMaxCompletionTokens,
        quantization: null,
        supportedParameters: [...usualParameters, ...(model.parameters ?? [])],
        dataPolicy: { zeroRetention: true, trains: false },
      },
    ],
  };
});
