import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { fromAiSdk } from '../../src/index.ts';
import type { AiSdkModel, AiSdkModels, AiSdkProviderOptions } from '../../src/providers/ai-sdk/index.ts';

/** A model that a test writes itself. */
export interface WrittenModel {
  model: LanguageModelV4;
  /** What the model was called with, the latest last. */
  calls: LanguageModelV4CallOptions[];
}

/**
 * A model that gives what a test says.
 * @param parts   of its stream, or the stream itself
 * @param result  what it gives at once
 */
export function writtenModel(
  parts: LanguageModelV4StreamPart[] | ((options: LanguageModelV4CallOptions) => ReadableStream),
  result?: () => LanguageModelV4GenerateResult | Promise<LanguageModelV4GenerateResult>,
  more: Partial<LanguageModelV4> = {},
): WrittenModel {
  const calls: LanguageModelV4CallOptions[] = [];
  const model: LanguageModelV4 = {
    specificationVersion: 'v4',
    provider: 'written',
    modelId: 'written-1',
    supportedUrls: {},
    async doGenerate(options) {
      calls.push(options);
      if (result === undefined) throw new Error('No result was written');
      return await result();
    },
    async doStream(options) {
      calls.push(options);
      return { stream: typeof parts === 'function' ? parts(options) : streamOf(parts) };
    },
    ...more,
  };
  return { model, calls };
}

function streamOf(parts: readonly LanguageModelV4StreamPart[]): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

export const usage: LanguageModelV4Usage = {
  inputTokens: { total: 10, noCache: 4, cacheRead: 5, cacheWrite: 1 },
  outputTokens: { total: 6, text: 4, reasoning: 2 },
};

export const finish: LanguageModelV4StreamPart = {
  type: 'finish',
  usage,
  finishReason: { unified: 'stop', raw: 'end_turn' },
};

type Choice = ({ models: AiSdkModels } | { model: AiSdkModel }) & Pick<AiSdkProviderOptions, 'apiKey' | 'quirks'>;

/** A gateway whose only upstream are language models of the AI SDK. The model `acme/m` is `m-1` there. */
export function aiSdkGateway(choice: Choice, more: object = {}): Gateway {
  return createGateway({
    providers: { host: fromAiSdk({ slug: 'host', ...choice } as AiSdkProviderOptions) },
    models: [
      {
        slug: 'acme/m',
        endpoints: [{ provider: 'host', model: 'm-1', pricing: { prompt: '0.000001', completion: '0.000002' } }],
      },
    ],
    apiKeys: [{ key: 'test-key-of-the-host' }],
    retry: { maxAttempts: 1 },
    ...more,
  });
}

/** Sends a chat request. */
export async function ask(gateway: Gateway, request: object, signal?: AbortSignal): Promise<Response> {
  return await gateway.handle(
    new Request('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer test-key-of-the-host' },
      ...(signal ? { signal } : {}),
    }),
    { body: { model: 'acme/m', messages: [{ role: 'user', content: 'Go on.' }], ...request } },
  );
}
