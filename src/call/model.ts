/** Prices of tokens in pico-USD (1e-12 USD). They are integers, so that a price per token is exact. */
export interface TokenPricing {
  /** Per prompt token for which no other price applies. */
  promptPicoUsd: number;
  /** Per completion token for which no other price applies. */
  completionPicoUsd: number;
  /** Per prompt token read from a cache; absent: as `promptPicoUsd`. */
  cacheReadPicoUsd?: number;
  /** Per prompt token written to a cache; absent: as `promptPicoUsd`. */
  cacheWritePicoUsd?: number;
  /** Per prompt token written to a cache that keeps it for an hour; absent: see `pricing/cache-writes`. */
  cacheWriteHourPicoUsd?: number;
  /** Per prompt token written to a cache that keeps it for twelve hours or longer; absent: not known. */
  cacheWrite12hPicoUsd?: number;
  /** Per audio token of the prompt; absent: as `promptPicoUsd`. */
  audioPicoUsd?: number;
  /** Per audio token read from a cache; absent: the higher of the prices for audio tokens and for cache reads. */
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

/** Other prices for all tokens of a request with a long prompt; an absent price does not change. */
export interface LongPromptPricing extends Partial<TokenPricing> {
  /** The prices apply to prompts of more tokens than this, cached tokens included. */
  abovePromptTokens: number;
}

/** What may have a price of its own beside text. */
export type PricedKind = 'audio' | 'image' | 'audioOutput' | 'imageOutput' | 'search' | 'cacheWrite12h';

/** Prices of an endpoint, in pico-USD. Absent: not charged. */
export interface Pricing extends TokenPricing {
  /** Kinds whose price nobody knows. Absent: every price is as the fields of this object say. */
  unknownKinds?: readonly PricedKind[];
  /** Per image of the prompt, in addition to its tokens. */
  imagePicoUsd?: number;
  /** Per web search that the provider reports. */
  webSearchPicoUsd?: number;
  /** Per request. */
  requestPicoUsd?: number;
  /** In any order; if several apply, the one with the largest `abovePromptTokens` counts. */
  longPrompts?: readonly LongPromptPricing[];
}

export interface DataPolicy {
  /** true: the provider stores nothing of a request. */
  zeroRetention: boolean | null;
  /** true: the provider may store requests or train on them. */
  trains: boolean | null;
}

/** Request fields, as of a chat request; `schema/model-defaults` says which. */
export type ModelDefaults = Readonly<Record<string, unknown>>;

/** One model at one provider. An absent field is not known. */
export interface Endpoint {
  /** The gateway's slug of the model, `author/model`. */
  modelSlug: string;
  /** Slug of the provider. */
  providerSlug: string;
  /** true: no catalogue knows the model: its name is the caller's. */
  isPassThrough?: true;
  /** `base` or `base/variant`; `order`, `only` and `ignore` match this slug. */
  tag: string;
  /** The provider's own name for the model. */
  upstreamModel: string;
  /** null: not known. */
  pricing: Pricing | null;
  /** Tokens of prompt and response together; null: not known. */
  contextLength: number | null;
  /** The longest prompt in tokens, if shorter than the context. */
  maxPromptTokens?: number;
  /** The largest output, in tokens; null: not known. */
  maxCompletionTokens: number | null;
  /** How the weights are stored. */
  quantization: string | null;
  /** Request fields that the endpoint supports; null: not known. */
  supportedParameters: readonly string[] | null;
  /** Request fields that never reach the provider, whatever the model supports. Absent: none. */
  unsupportedParameters?: readonly string[];
  /** true: the provider searches the web where `web_search_options` asks it to. Absent: only its parameters may say so. */
  searchesWeb?: boolean;
  /** What the provider does with the data of requests. */
  dataPolicy: DataPolicy;
  /** The endpoint's tier, more expensive or slower; used only for requests that ask for the tier. */
  serviceTier?: 'flex' | 'priority';
  /** true: the provider caches prompts without `cache_control`. */
  implicitCaching?: boolean;
  /** true: the endpoint is listed but never used. */
  isDisabled?: boolean;
  /** Request fields of the model with the values for requests that do not set them. */
  defaults?: ModelDefaults;
  /** Share of the requests that the endpoint gets of those of all weighted endpoints of its model; positive. */
  weight?: number;
}

/**
 * The default order of a model's endpoints. `listed`: as they are listed. `weighted`: by weighted random choice among
 * those with a weight, then the others as they are listed. `price`: by weighted random choice, the cheaper more often.
 */
export type EndpointOrder = 'listed' | 'weighted' | 'price';

export const modalities = ['text', 'image', 'file', 'audio', 'video'] as const;

/** An absent field is not known. */
export interface Model {
  slug: string;
  name: string;
  endpoints: readonly Endpoint[];
  /** Absent: `price`. */
  order?: EndpointOrder;
  description?: string;
  /** Release date, Unix seconds. */
  created?: number;
  contextLength?: number;
  inputModalities?: readonly string[];
  outputModalities?: readonly string[];
  /** true: the author allows the training of other models on this model's output. */
  isDistillable?: boolean;
  /** The family in `~author/family-latest`. Default: the name in the slug without its version. */
  family?: string;
  /** The operator's rating of the model's quality, 0 to 1; for `service/auto`. */
  quality?: number;
  /** How well the model writes code, 0 to 1; for `service/pareto-code`. */
  codingScore?: number;
  /** Id of the published model, such as `openai/gpt-oss-20b`. */
  huggingFaceId?: string;
  /** ISO 8601 dates. */
  knowledgeCutoff?: string;
  expirationDate?: string;
  /** Further names of the model. */
  aliases?: readonly string[];
  /** Slugs of the models that are called after this one, for requests that name no other models. */
  fallbacks?: readonly string[];
  /** true: the model is not in the catalogue; it was made from a slug that starts with a provider's slug. */
  isPassThrough?: boolean;
}
