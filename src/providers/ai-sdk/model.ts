/**
 * A language model of the AI SDK, version 4, made by `@ai-sdk/anthropic`, `@ai-sdk/google` and others, or by the host
 * app itself. Only the members that are used here are declared, so that the package is not needed.
 * @see https://github.com/vercel/ai/blob/main/packages/provider/src/language-model/v4/language-model-v4.ts
 */
export interface AiSdkModel {
  /** The version of the interface. */
  readonly specificationVersion: 'v4';
  /** The model's provider, for people. */
  readonly provider: string;
  /** The provider's name for the model. */
  readonly modelId: string;
  /** The URLs of files that the model accepts, by media type; it accepts other files only as data. */
  readonly supportedUrls: PromiseLike<Record<string, RegExp[]>> | Record<string, RegExp[]>;
  /** Writes a complete response. */
  doGenerate(options: object): PromiseLike<object>;
  /** Writes a response in parts. */
  doStream(options: object): PromiseLike<{ stream: ReadableStream<unknown> }>;
}

/**
 * Models by the names that endpoints use: a list, or a function such as a provider of the AI SDK. A function is called
 * for each request.
 */
export type AiSdkModels = Readonly<Record<string, AiSdkModel>> | ((id: string) => AiSdkModel);
