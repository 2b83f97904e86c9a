/** A value of JSON, as the AI SDK declares it. */
export type Json = null | string | number | boolean | Json[] | JsonFields;

/** An object of JSON. */
export interface JsonFields {
  [name: string]: Json | undefined;
}

/** Notes of a provider, by its name. */
export type Notes = Record<string, JsonFields>;

/** A setting that was left out or changed, as the AI SDK declares it. */
export type CallWarning =
  | { type: 'unsupported' | 'compatibility'; feature: string; details?: string }
  | { type: 'deprecated'; setting: string; message: string }
  | { type: 'other'; message: string };

/** A source of a text. */
export type SourcePart =
  | { type: 'source'; sourceType: 'url'; id: string; url: string; title?: string }
  | { type: 'source'; sourceType: 'document'; id: string; mediaType: string; title: string; filename?: string };

/** A reference that supports a text. Offsets count from the beginning of the text. */
export interface Citation {
  /** The page or the document. */
  source: SourcePart;
  /** The place in the text where it begins. */
  startIndex?: number;
  /** The place in the text behind its end. */
  endIndex?: number;
  /** The words of the source. */
  citedText?: string;
}

/** A file that the model made. */
export interface OutputFile {
  /** The kind of the part. */
  type: 'file';
  /** The media type. */
  mediaType: string;
  /** The content as base64, or its address. */
  data: { type: 'data'; data: string } | { type: 'url'; url: URL };
  /** Notes that have to be sent back. */
  providerMetadata?: Notes;
}

/** A call of a tool. */
export interface OutputCall {
  /** The kind of the part. */
  type: 'tool-call';
  /** Id of the call. */
  toolCallId: string;
  /** Name of the tool. */
  toolName: string;
  /** The arguments, as JSON text. */
  input: string;
  /** Notes that have to be sent back. */
  providerMetadata?: Notes;
}

/** A part of a complete response. */
export type ContentPart =
  | { type: 'text'; text: string; citations?: Citation[]; providerMetadata?: Notes }
  | { type: 'reasoning'; text: string; providerMetadata?: Notes }
  | OutputFile
  | OutputCall
  | SourcePart;

/** The reason why a response ended, in the words of the AI SDK and in those of the provider. */
export interface CallFinish {
  /** The word of the AI SDK. */
  unified: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';
  /** The word of the provider. */
  raw: string | undefined;
}

/** The tokens of a response. Totals include all their parts. */
export interface CallUsage {
  /** Tokens of the prompt. */
  inputTokens: Record<'total' | 'noCache' | 'cacheRead' | 'cacheWrite', number | undefined>;
  /** Tokens of the response. */
  outputTokens: Record<'total' | 'text' | 'reasoning', number | undefined>;
  /** The usage as the gateway reports it, with the cost in USD. */
  raw?: JsonFields;
}

/** The head of a response. */
export interface ResponseFacts {
  /** Id of the generation: `gen-…`. */
  id?: string;
  /** The time at which the request arrived. */
  timestamp?: Date;
  /** Slug of the model that serves. */
  modelId?: string;
}

/** A part of a streamed response. Each block is opened and closed once. */
export type StreamPart =
  | { type: 'stream-start'; warnings: CallWarning[] }
  | ({ type: 'response-metadata' } & ResponseFacts)
  | { type: 'text-start' | 'reasoning-start'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'text-end'; id: string; citations?: Citation[]; providerMetadata?: Notes }
  | { type: 'reasoning-end'; id: string; providerMetadata?: Notes }
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-delta'; id: string; delta: string }
  | { type: 'tool-input-end'; id: string }
  | OutputCall
  | OutputFile
  | SourcePart
  | { type: 'raw'; rawValue: unknown }
  | { type: 'error'; error: unknown }
  | { type: 'finish'; usage: CallUsage; finishReason: CallFinish; providerMetadata?: Notes };

/** A complete response. */
export interface CallResult {
  /** The parts of the response, in order. */
  content: ContentPart[];
  /** The reason why it ended. */
  finishReason: CallFinish;
  /** Its tokens. */
  usage: CallUsage;
  /** The cost, the provider and the routing, below `gateway`. */
  providerMetadata: Notes;
  /** The request, as the gateway got it. */
  request: { body: unknown };
  /** The head of the response. */
  response: ResponseFacts & { headers: Record<string, string>; body: unknown };
  /** The settings that were left out. */
  warnings: CallWarning[];
}

/** A response that is streamed. */
export interface CallStream {
  /** The parts. Its cancelling stops the provider. */
  stream: ReadableStream<StreamPart>;
  /** The request, as the gateway got it. */
  request: { body: unknown };
  /** The head of the response. */
  response: { headers: Record<string, string> };
}

/** The options of a call. The AI SDK declares them in detail: `LanguageModelV4CallOptions`. */
export interface CallOptions {
  /** The conversation. */
  prompt: readonly { role: string; content: string | readonly object[]; providerOptions?: object }[];
  /** The largest output, in tokens. */
  maxOutputTokens?: number | undefined;
  /** The randomness of the response. */
  temperature?: number | undefined;
  /** Texts that end the response. */
  stopSequences?: readonly string[] | undefined;
  /** Only the most likely tokens whose probabilities add up to this. */
  topP?: number | undefined;
  /** Only so many of the most likely tokens. */
  topK?: number | undefined;
  /** Makes a token less likely once it has occurred. */
  presencePenalty?: number | undefined;
  /** Makes a token less likely the more often it has occurred. */
  frequencyPenalty?: number | undefined;
  /** The form of the response. */
  responseFormat?: object | undefined;
  /** The same seed makes the same response likely. */
  seed?: number | undefined;
  /** Tools that the model may call. */
  tools?: readonly object[] | undefined;
  /** The tool that the model may or must call. */
  toolChoice?: object | undefined;
  /** true: a stream also has the chunks of the gateway as they are. */
  includeRawChunks?: boolean | undefined;
  /** Its abort stops the call. */
  abortSignal?: AbortSignal | undefined;
  /** Headers, as of a request. */
  headers?: Record<string, string | undefined> | undefined;
  /** The effort of the model's thinking. */
  reasoning?: string | undefined;
  /** Fields of the request, below `gateway`. */
  providerOptions?: Record<string, object> | undefined;
}
