import type { TaskName } from '../schema/tasks.ts';

/** Prices of tokens in pico-USD (1e-12 USD). They are integers, so that a price per token is exact. */
export interface TokenPricing {
  /** The price of a prompt token for which no other price applies. */
  promptPicoUsd: number;
  /** The price of a completion token for which no other price applies. */
  completionPicoUsd: number;
  /** The price of a prompt token read from a cache; absent: `promptPicoUsd`. */
  cacheReadPicoUsd?: number;
  /** The price of a prompt token written to a cache; absent: `promptPicoUsd`. */
  cacheWritePicoUsd?: number;
  /** The price of a prompt token written to a cache that keeps it for an hour; absent: see `pricing/cache-writes`. */
  cacheWriteHourPicoUsd?: number;
  /** The price of a prompt token written to a cache that keeps it for twelve hours or longer; absent: not known. */
  cacheWrite12hPicoUsd?: number;
  /** The price of an audio token of the prompt; absent: `promptPicoUsd`. */
  audioPicoUsd?: number;
  /**
   * The price of an audio token read from a cache; absent: the higher of the prices for audio tokens and for cache
   * reads.
   */
  audioCacheReadPicoUsd?: number;
  /** The price of an image token of the prompt; absent: `promptPicoUsd`. */
  imageTokenPicoUsd?: number;
  /** The price of a reasoning token; absent: `completionPicoUsd`. */
  reasoningPicoUsd?: number;
  /** The price of an audio token of the completion; absent: `completionPicoUsd`. */
  audioOutputPicoUsd?: number;
  /** The price of an image token of the completion; absent: `completionPicoUsd`. */
  imageOutputPicoUsd?: number;
}

/** Other prices for all tokens of a request with a long prompt; an absent price does not change. */
export interface LongPromptPricing extends Partial<TokenPricing> {
  /** The prices apply to prompts of more tokens than this, cached tokens included. */
  abovePromptTokens: number;
}

/**
 * The units beside tokens in which providers sell. A search unit is one query of a reranker with up to 100 documents.
 */
export const priceUnits = ['character', 'second', 'image', 'megapixel', 'search_unit'] as const;
export type PriceUnit = (typeof priceUnits)[number];

/** The form of an image that is made, on which its price may depend. null: any, or not known. */
export interface ImageForm {
  /** The size, such as `1024x1024`. */
  readonly size: string | null;
  /** The quality, such as `high`. */
  readonly quality: string | null;
}

/** The kinds of content and services that may have a price of their own. */
export type PricedKind = 'audio' | 'image' | 'audioOutput' | 'imageOutput' | 'search' | 'cacheWrite12h';

/** Prices of an endpoint, in pico-USD. Absent: not charged. */
export interface Pricing extends TokenPricing {
  /** Kinds whose price nobody knows. Absent: the fields of this object hold every price. */
  unknownKinds?: readonly PricedKind[];
  /** The price of an image of the prompt, in addition to its tokens. */
  imagePicoUsd?: number;
  /** The price of a web search that the provider reports. */
  webSearchPicoUsd?: number;
  /** The price of a request. */
  requestPicoUsd?: number;
  /** The prices of units other than tokens, for the tasks that are sold by them. A unit that is absent is not sold. */
  unitsPicoUsd?: Readonly<Partial<Record<PriceUnit, number>>>;
  /**
   * The prices of images that are made, by size and quality; an absent one is any. An image that is none of them has the
   * price of the unit `image`.
   */
  imageVariants?: readonly { size?: string; quality?: string; picoUsd: number }[];
  /**
   * true: the list that the prices are from has no price of output, so `completionPicoUsd` is 0 for a task without
   * output, and not known for any other.
   */
  isInputOnly?: true;
  /**
   * The prices of long prompts, in any order; if several apply, the one with the largest `abovePromptTokens` counts.
   */
  longPrompts?: readonly LongPromptPricing[];
}

export interface DataPolicy {
  /** true: the provider stores nothing of a request. */
  zeroRetention: boolean | null;
  /** true: the provider may store requests or train on them. */
  trains: boolean | null;
}

/** Request fields, named as in a chat request; `schema/model-defaults` lists them. */
export type ModelDefaults = Readonly<Record<string, unknown>>;

/** A model at a provider. An absent field is not known. */
export interface Endpoint {
  /** The gateway's slug of the model, `author/model`. */
  modelSlug: string;
  /** Slug of the provider. */
  providerSlug: string;
  /** true: no catalogue knows the model; its name came from the caller. */
  isPassThrough?: true;
  /** `base` or `base/variant`; `order`, `only` and `ignore` match this slug. */
  tag: string;
  /**
   * The name by which records, spans and metrics tell it from other endpoints of its model. Absent: the tag; see
   * `endpointName`.
   */
  name?: string;
  /** The provider's own name for the model. */
  upstreamModel: string;
  /**
   * The provider's slug and the name under which the catalogue, the price list and the facts of models know the endpoint.
   * Absent: `providerSlug` and `upstreamModel`.
   */
  listedAs?: { providerSlug: string; upstreamModel: string };
  /** null: not known. */
  pricing: Pricing | null;
  /** Tokens of prompt and response together; null: not known. */
  contextLength: number | null;
  /** The longest prompt in tokens, if shorter than the context. */
  maxPromptTokens?: number;
  /** The largest output, in tokens; null: not known. */
  maxCompletionTokens: number | null;
  /** The number format of the weights, such as `fp8`. */
  quantization: string | null;
  /** Request fields that the endpoint supports; null: not known. */
  supportedParameters: readonly string[] | null;
  /** Request fields that never reach the provider, whatever the model supports. Absent: none. */
  unsupportedParameters?: readonly string[];
  /**
   * true: the provider searches the web where `web_search_options` asks it to. Absent: only its parameters can tell.
   */
  searchesWeb?: boolean;
  /** The provider's handling of the data of requests. */
  dataPolicy: DataPolicy;
  /** The endpoint's tier, more expensive or slower; used only for requests that ask for the tier. */
  serviceTier?: 'flex' | 'priority';
  /** true: the provider caches prompts without `cache_control`. */
  implicitCaching?: boolean;
  /** The tasks that it serves. Absent: what is known of its model tells; see `mayServe`. */
  tasks?: readonly TaskName[];
  /** true: the endpoint is listed but never used. */
  isDisabled?: boolean;
  /** Request fields of the model with the values for requests that do not set them. */
  defaults?: ModelDefaults;
  /** Share of the requests that the endpoint gets of those of all weighted endpoints of its model; positive. */
  weight?: number;
}

/** Returns the name of an endpoint in records, spans and metrics. */
export function endpointName({ name, tag }: Pick<Endpoint, 'name' | 'tag'>): string {
  return name ?? tag;
}

/**
 * The default order of a model's endpoints. `listed`: as they are listed. `weighted`: by weighted random choice among
 * those with a weight, then the others as they are listed. `price`: by weighted random choice, the cheaper more often.
 */
export type EndpointOrder = 'listed' | 'weighted' | 'price';

export const modalities = ['text', 'image', 'file', 'audio', 'video'] as const;

/** The kinds of output of a model: those of a message, and those of the tasks beside chat. */
export const outputKinds = [...modalities, 'embeddings', 'rerank', 'speech', 'transcription'] as const;

/** A model in the catalogue. An absent field is not known. */
export interface Model {
  slug: string;
  name: string;
  endpoints: readonly Endpoint[];
  /** The default order of its endpoints. Absent: `price`. */
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
  /** The rating of the code that the model writes, 0 to 1; for `service/pareto-code`. */
  codingScore?: number;
  /** Id of the published model, such as `openai/gpt-oss-20b`. */
  huggingFaceId?: string;
  /** The date of the end of its knowledge, ISO 8601. */
  knowledgeCutoff?: string;
  expirationDate?: string;
  /** Further names of the model. */
  aliases?: readonly string[];
  /** Slugs of the models that are called after this one, for requests that name no other models. */
  fallbacks?: readonly string[];
  /** true: the model is not in the catalogue; it was made from a slug that starts with a provider's slug. */
  isPassThrough?: boolean;
}
