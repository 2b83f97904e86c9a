import type { Model } from '../../call/model.ts';
import type { DialectRequest } from '../../dialects/dialect.ts';
import { openaiChat } from '../../dialects/openai-chat/index.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import { fieldsWith } from '../../schema/chat/fields.ts';
import { taskNames } from '../../schema/tasks.ts';
import { models } from './models.ts';
import { usualMaxCompletionTokens } from './speak.ts';
import { breakingModels } from './tasks/images.ts';
import { failingModels, sandboxTaskModels } from './tasks/tasks.ts';
import { contextLength } from './tokens.ts';

/** Plain chat completions. The sandbox gets the complete request, and the fields that its model ignores are listed. */
export const sandboxChat: typeof openaiChat = {
  ...openaiChat,
  encodeRequest(input) {
    const encoded = openaiChat.encodeRequest(input);
    const ignored = ignoredOf(input).filter((name) => !encoded.dropped.includes(name));
    return ignored.length === 0 ? encoded : { ...encoded, dropped: [...encoded.dropped, ...ignored] };
  },
};

export { createScriptedTransport } from './scripted.ts';
export { createSandboxTransport } from './transport.ts';

/** USD 0.10 and USD 0.40 per million tokens, in pico-USD per token. */
const promptPicoUsd = 100_000;
const completionPicoUsd = 400_000;
const cacheReadPicoUsd = 50_000;

/** The fields that every model of the sandbox acts on. Responses never vary, so every seed is honoured. */
const usualParameters = ['max_tokens', 'max_completion_tokens', 'stop', 'n', 'seed', 'logprobs', 'top_logprobs'];

/** Request fields that only some models of the sandbox act on. Each model names its fields. */
const asked: readonly string[] = [
  ...fieldsWith({ parameter: 'listed' }),
  ...fieldsWith({ parameter: 'unlisted' }),
].filter((name) => !usualParameters.includes(name));

const chatModels: readonly Model[] = models.map((model) => {
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
        ...(failingModels.includes(model.id) ? { tasks: taskNames } : {}),
        ...(breakingModels.includes(model.id) ? { tasks: ['chat', 'images'] } : {}),
      },
    ],
  };
});

/** The sandbox's models, ready for a catalogue: one endpoint each. */
export const sandboxModels: readonly Model[] = [...chatModels, ...sandboxTaskModels];

function ignoredOf({ request, upstreamModel }: Pick<DialectRequest, 'request' | 'upstreamModel'>): readonly string[] {
  const id = upstreamModel.replace(/^sandbox\//, '');
  const acted = models.find((model) => model.id === id)?.parameters ?? [];
  return asked.filter((name) => !acted.includes(name) && asks(request, name));
}

/** Tells whether a field asks for something. */
function asks(request: ChatRequest, name: string): boolean {
  const value = (request as Record<string, unknown>)[name] ?? null;
  if (value === null || value === false) return false;
  if (name === 'tools') return (value as readonly unknown[]).length > 0;
  if (name === 'tool_choice') return value !== 'none' && value !== 'auto';
  return name !== 'service_tier' || (value !== 'auto' && value !== 'default');
}
