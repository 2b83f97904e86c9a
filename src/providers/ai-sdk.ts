import type { DataPolicy } from '../call/model.ts';
import type { AiSdkQuirks } from '../dialects/ai-sdk/quirks.ts';
import { aiSdk } from '../dialects/ai-sdk.ts';
import type { AiSdkModel, AiSdkModels } from './ai-sdk/model.ts';
import { modelTransport } from './ai-sdk/transport.ts';
import { defineProvider, type Provider } from './provider.ts';

export type { AiSdkModel, AiSdkModels } from './ai-sdk/model.ts';

/** A provider whose models are language models of the AI SDK. */
export type AiSdkProviderOptions = {
  /** What models and preferences call it: the name of its entry in the option `providers`. */
  slug: string;
  /** Shown as `provider` in responses. Default: the slug. */
  name?: string;
  /**
   * A key that the models use, so that it is taken out of what they say. It is not sent: models bring their own.
   * Default: only what looks like a key is taken out, and only of errors.
   */
  apiKey?: string;
  /** What is told to the models that their common settings have no word for. Default: nothing. */
  quirks?: AiSdkQuirks;
  /** What the models' provider does with the data of requests. Default: not known. */
  dataPolicy?: DataPolicy;
} & (
  | {
      /** The models by the names that endpoints have for them. */
      models: AiSdkModels;
      /** Instead of `models`. */
      model?: never;
    }
  | {
      /** One model, whatever name an endpoint has for it. */
      model: AiSdkModel;
      /** Instead of `model`. */
      models?: never;
    }
);

/**
 * Makes language models of the AI SDK (`@ai-sdk/…`, version 4 of the interface) an upstream of the gateway. They run in
 * this process and use their own keys and their own `fetch`.
 *
 * @example
 * const claude = fromAiSdk({ slug: 'claude', models: anthropic });
 * createGateway({ providers: { claude }, models: [{ slug: 'anthropic/claude', endpoints: [{ provider: 'claude', … }] }] });
 * @see docs/dialects/ai-sdk.md
 */
export function fromAiSdk(options: AiSdkProviderOptions): Provider<AiSdkQuirks> {
  const { model, models, ...provider } = options;
  const modelNamed = (id: string) => model ?? named(models as AiSdkModels, id);
  return defineProvider({
    ...provider,
    // A name that never resolves: what is meant for a model cannot reach a network by mistake.
    baseUrl: 'http://ai-sdk.invalid',
    dialect: aiSdk,
    auth: (request) => request,
    createTransport: () => modelTransport(modelNamed),
  });
}

/** undefined: there is no such model. */
function named(models: AiSdkModels, id: string): AiSdkModel | undefined {
  if (typeof models === 'function') return models(id);
  return Object.hasOwn(models, id) ? models[id] : undefined;
}
