/** Prices of an endpoint in pico-USD (1e-12 USD), integers, so that a price per token is exact. Absent: not charged. */
export interface Pricing {
  /** Per prompt token that was neither read from nor written to a cache. */
  promptPicoUsd: number;
  completionPicoUsd: number;
  /** Per prompt token read from a cache; absent: as `promptPicoUsd`. */
  cacheReadPicoUsd?: number;
  /** Per prompt token written to a cache; absent: as `promptPicoUsd`. */
  cacheWritePicoUsd?: number;
  /** Per reasoning token; absent: as `completionPicoUsd`. */
  reasoningPicoUsd?: number;
  /** Per audio token of the prompt; absent: as `promptPicoUsd`. */
  audioPicoUsd?: number;
  /** Per audio token of the completion; absent: as `completionPicoUsd`. */
  audioOutputPicoUsd?: number;
  /** Per image of the prompt. */
  imagePicoUsd?: number;
  /** Per request. */
  requestPicoUsd?: number;
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
