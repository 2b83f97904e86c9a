/** Prices of tokens in pico-USD (1e-12 USD), integers, so that a price per token is exact. */
export interface TokenPricing {
  /** Per prompt token of no other kind. */
  promptPicoUsd: number;
  /** Per completion token of no other kind. */
  completionPicoUsd: number;
  /** Per prompt token read from a cache; absent: as `promptPicoUsd`. */
  cacheReadPicoUsd?: number;
  /** Per prompt token written to a cache; absent: as `promptPicoUsd`. */
  cacheWritePicoUsd?: number;
  /** Per prompt token written to a cache that keeps it for an hour; absent: as `cacheWritePicoUsd`. */
  cacheWriteHourPicoUsd?: number;
  /** Per audio token of the prompt; absent: as `promptPicoUsd`. */
  audioPicoUsd?: number;
  /** Per audio token read from a cache; absent: the dearer of the two kinds it is of. */
  audioCacheReadPicoUsd?: number;
  /** Per image token of the prompt; absent: as `promptPicoUsd`. */
  imageTokenPicoUsd?: number;
  /** Per reasoning token; absent: as `completionPicoUsd`. */
  reasoningPicoUsd?: number;
  /** Per audio token of the completion; absent: as `completionPicoUsd`. */
  audioOutputPicoUsd?: number;
  /** Per image token of the completion; absent: as `completionPicoUsd`. */
  imageOutputPicoUsd?: number;
}

/** Prices of the whole request once its prompt is longer; what is absent stays as it is. */
export interface LongPromptPricing extends Partial<TokenPricing> {
  /** They hold for prompts of more tokens than this, cached ones included. */
  abovePromptTokens: number;
}

/** Prices of an endpoint, in pico-USD. Absent: not charged. */
export interface Pricing extends TokenPricing {
  /** Per image of the prompt, beside its tokens. */
  imagePicoUsd?: number;
  /** Per search of the web that the provider reports. */
  webSearchPicoUsd?: number;
  /** Per request. */
  requestPicoUsd?: number;
  /** In any order; of those that hold, the one for the longest prompts does. */
  longPrompts?: readonly LongPromptPricing[];
}

export interface DataPolicy {
  /** true: the provider keeps nothing of a request. */
  zeroRetention: boolean | null;
  /** true: the provider may store requests or train on them. */
  trains: boolean | null;
}

/** One model at one provider. */
export interface Endpoint {
  /** The gateway's slug of the model, `author/model`. */
  modelSlug: string;
  providerSlug: string;
  /** `base` or `base/variant`: what `order`, `only` and `ignore` match. */
  tag: string;
  /** The provider's own name for the model. */
  upstreamModel: string;
  /** null: not known. */
  pricing: Pricing | null;
  contextLength: number | null;
  maxCompletionTokens: number | null;
  quantization: string | null;
  /** Request fields the endpoint acts on; null: not known. */
  supportedParameters: readonly string[] | null;
  dataPolicy: DataPolicy;
}

export interface Model {
  slug: string;
  name: string;
  /** In order of preference. */
  endpoints: readonly Endpoint[];
}
