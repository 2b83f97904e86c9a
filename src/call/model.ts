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

/** One model at one provider. What is absent is not known. */
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
  /** The longest prompt, where it is shorter than the context, in tokens. */
  maxPromptTokens?: number;
  maxCompletionTokens: number | null;
  quantization: string | null;
  /** Request fields the endpoint acts on; null: not known. */
  supportedParameters: readonly string[] | null;
  dataPolicy: DataPolicy;
  /** A tier of its own, dearer or slower: only for those who ask for it. */
  serviceTier?: 'flex' | 'priority';
  /** true: prompts are cached without being asked for. */
  implicitCaching?: boolean;
  /** true: listed, and never used. */
  isDisabled?: boolean;
}

export const modalities = ['text', 'image', 'file', 'audio', 'video'] as const;

/** What is absent is not known. */
export interface Model {
  slug: string;
  name: string;
  /** In order of preference. */
  endpoints: readonly Endpoint[];
  description?: string;
  /** When it came out, Unix seconds. */
  created?: number;
  contextLength?: number;
  inputModalities?: readonly string[];
  outputModalities?: readonly string[];
  /** true: its author allows others to be trained on what it writes. */
  isDistillable?: boolean;
  /** Of `~author/family-latest`. Default: the name in its slug without what says which version it is. */
  family?: string;
  /** How good its answers are, 0 to 1, as the operator sees it; for `service/auto`. */
  quality?: number;
  /** Where it is published, such as `openai/gpt-oss-20b`. */
  huggingFaceId?: string;
  /** ISO 8601 dates. */
  knowledgeCutoff?: string;
  expirationDate?: string;
  /** true: not listed; made of a slug that starts with a provider's. */
  isPassThrough?: boolean;
}
