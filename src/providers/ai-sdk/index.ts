import * as z from 'zod';
import { definedOnly } from '../../base/defined-only.ts';
import { lazily } from '../../base/lazily.ts';
import type { DataPolicy } from '../../call/model.ts';
import type { AiSdkQuirks } from '../../dialects/ai-sdk/quirks.ts';
import { aiSdk } from '../../dialects/index.ts';
import { checkedHostObject, field } from '../../schema/host-object.ts';
import { completeProvider, type Provider } from '../provider.ts';
import type { AiSdkModel, AiSdkModels } from './model.ts';
import { modelTransport } from './transport.ts';

export type { AiSdkModel, AiSdkModels } from './model.ts';

/** A provider whose models are language models of the AI SDK. */
export type AiSdkProviderOptions = {
  /** The name by which models and preferences refer to it: its key in the option `providers`. */
  slug: string;
  /** Shown as `provider` in responses. Default: the slug. */
  name?: string;
  /**
   * A key that the models use, to redact it in their output. The gateway does not send it: models bring their own.
   * Default: only texts that look like a key are redacted, and only in errors.
   */
  apiKey?: string;
  /** Parameters for the models that the common settings of the AI SDK do not have. Default: none. */
  quirks?: AiSdkQuirks;
  /** The treatment of the data of requests by the models' provider. Default: not known. */
  dataPolicy?: DataPolicy;
} & (
  | {
      /** The models by the names that endpoints use. */
      models: AiSdkModels;
      /** Instead of `models`. */
      model?: never;
    }
  | {
      /** One model for every name that endpoints use. */
      model: AiSdkModel;
      /** Instead of `model`. */
      models?: never;
    }
);

const shape = lazily(() => ({
  slug: field.text(),
  name: field.text().optional(),
  apiKey: z.string().optional(),
  quirks: field.object().optional(),
  dataPolicy: field.object().optional(),
  models: z.custom((value) => typeof value === 'object' || typeof value === 'function').optional(),
  model: field.object().optional(),
}));

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
  const { model, models, ...provider } = definedOnly(
    checkedHostObject('fromAiSdk', options, shape),
  ) as AiSdkProviderOptions;
  const modelNamed = (id: string) => model ?? named(models as AiSdkModels, id);
  return completeProvider({
    ...provider,
    // A name that never resolves: a request for a model cannot reach a network by mistake.
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
