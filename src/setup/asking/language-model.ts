import { wrongArgument } from '../../base/refusal.ts';
import { isObject } from '../../base/values.ts';
import type { Ask } from '../../formats/ai-sdk/model.ts';
import type { CallOptions, CallResult, CallStream } from '../../formats/ai-sdk/types.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';

/** Fields of a chat request that a call sets itself. */
type SetByCalls = 'model' | 'messages' | 'stream' | 'stream_options';

/** The fields of a chat request that the settings of a model may have. */
type RequestFields = {
  [Name in keyof ChatRequest as string extends Name
    ? never
    : Name extends SetByCalls
      ? never
      : Name]?: ChatRequest[Name];
};

/**
 * Fields of each request of a model, by the names of the interface, such as `models`, `provider` or `session_id`. Options
 * of a call win over them.
 */
export interface LanguageModelSettings extends RequestFields {
  /**
   * false: a provider may write output that does not follow its schema exactly. Some schemas need that, as providers
   * have rules for strict ones.
   * @default true
   */
  strictJsonSchema?: boolean;
  /** Headers of each request, such as `x-session-id`. */
  headers?: Record<string, string>;
  /**
   * The addresses of files that are sent as they are, by media type. The AI SDK downloads other files itself, in this
   * process, and sends their content. `{}`: all of them.
   * @default http and https for images, videos and documents
   */
  supportedUrls?: Record<string, RegExp[]>;
}

/**
 * A model of the gateway as a language model of the AI SDK, version 4: it can be used wherever a `LanguageModelV4` can.
 * @see docs/ai-sdk.md
 */
export interface GatewayLanguageModel {
  /** The version of the interface. */
  readonly specificationVersion: 'v4';
  /** Always `gateway`: the name of its provider options and of its provider metadata. */
  readonly provider: 'gateway';
  /** Slug of the model. */
  readonly modelId: string;
  /** The addresses of files that are sent as they are, by media type. */
  readonly supportedUrls: Record<string, RegExp[]>;
  /**
   * Writes a complete response.
   * @throws an `APICallError` of the AI SDK that is a GatewayError as well; the reason of the signal
   */
  doGenerate(options: CallOptions): Promise<CallResult>;
  /** Writes a response in parts. A response that breaks off ends with an `error` part and the reason `error`. */
  doStream(options: CallOptions): Promise<CallStream>;
}

const web = () => [/^https?:\/\//];

/**
 * Makes a language model of the AI SDK. The translation is loaded at the first call: most gateways need none.
 * @param brand  names the field with the routing of a response
 * @throws GatewayError invalid_request (400)
 */
export function languageModel(
  ask: Ask,
  brand: string,
  slug: string,
  settings: LanguageModelSettings = {},
): GatewayLanguageModel {
  if (typeof slug !== 'string' || slug === '') throw wrongArgument('slug', 'expected the slug of a model');
  if (!isObject(settings)) throw wrongArgument('settings', 'expected object');
  const model = { ask, slug, settings: { ...settings }, routingField: `${brand}_metadata` };
  const documents = { 'image/*': web(), 'video/*': web(), 'application/*': web(), 'text/*': web() };
  return {
    specificationVersion: 'v4',
    provider: 'gateway',
    modelId: slug,
    supportedUrls: (settings as LanguageModelSettings).supportedUrls ?? documents,
    async doGenerate(options) {
      const { generate } = await import('../../formats/ai-sdk/model.ts');
      return await generate(model, options);
    },
    async doStream(options) {
      const { stream } = await import('../../formats/ai-sdk/model.ts');
      return await stream(model, options);
    },
  };
}
