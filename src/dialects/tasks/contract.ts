import type { Framing } from '../../base/framing/framing.ts';
import type { FormPart } from '../../base/http/form-parts.ts';
import type { UploadedFile } from '../../base/http/uploaded-file.ts';
import type { UpstreamError } from '../../base/http/upstream-error.ts';
import type { ImageForm, PriceUnit } from '../../call/model.ts';
import type { DecisionsRequest } from '../../schema/decisions/request.ts';
import type { DecisionAnswer } from '../../schema/decisions/result.ts';

/** A request for a provider, before authentication, which may sign it. */
export interface EncodedTask {
  /** The path, which is appended to the provider's base URL. */
  path: string;
  /** Headers that the codec needs. */
  headers: Record<string, string>;
  /** The body as an object; of a form, its fields without the files. */
  payload: Record<string, unknown>;
  /**
   * The body as text, or a form, whose content type the gateway adds. A form is written anew for each attempt, and its
   * files stay where they are until then.
   */
  body: string | readonly FormPart[];
  /** Request fields that the provider does not get. */
  dropped: readonly string[];
}

/** The use of a provider for one request, as the provider reports it. */
export interface TaskUsage {
  /** Tokens of the input; null: not reported. */
  promptTokens: number | null;
  /** The part of them that stands for images. */
  imageTokens?: number;
  /** The part that stands for audio. */
  audioTokens?: number;
  /** Units other than tokens. */
  units?: Readonly<Partial<Record<PriceUnit, number>>>;
  /** true: nothing was reported, and the tokens are the gateway's own estimate of what has arrived. */
  isEstimated?: boolean;
  /** Tokens of the output. Absent: not reported. */
  completionTokens?: number;
  /** The part of them that stands for images. Absent: not told apart. */
  imageOutputTokens?: number;
  /** The part that stands for audio. Absent: not told apart. */
  audioOutputTokens?: number;
  /** The form of the images that were made, where their price depends on it. */
  imageForm?: ImageForm;
}

/** The meaning of a part of a streamed response. A piece is what the task makes of it: only the task reads it. */
export type TaskPart =
  | { kind: 'piece'; piece: unknown }
  /** Replaces an earlier report. */
  | { kind: 'usage'; usage: TaskUsage }
  /** The provider reports that it has failed. */
  | { kind: 'error'; error: UpstreamError }
  /** The response is complete. */
  | { kind: 'done' };

/** The decoder of one streamed response of a task. */
export interface TaskDecoder {
  /** The framing of its events; null: the body is not cut, and each buffer of bytes is a piece. */
  readonly framing: Framing | null;
  /** true: between two events, the provider may take as long as before the first one. */
  readonly isSlow?: boolean;
  /**
   * Decodes an event; not called for a body that is not cut.
   * @throws UpstreamError bad_response for data that is no event
   */
  decode(data: string, name: string): readonly TaskPart[];
  /** Returns the last parts of a body that has come to its end. Where `done` is not among all parts, it was cut. */
  end(): readonly TaskPart[];
}

/** A part of a request that a provider cannot take: a place, and the end of "expected …". */
export interface Lack {
  /** The place, such as `input[0]`. */
  path: string;
  /** The end of "expected …". */
  expected: string;
}

/** The limits of one request at a provider. A longer list is sent in several. */
export interface BatchLimits {
  /** The most items. */
  items: number;
  /** The most tokens of all items, by an estimate; an item that is longer is sent alone. Absent: not known. */
  tokens?: number;
}

/** A part of an item that is made of several. */
export type EmbeddingPart = { readonly type: string; readonly [field: string]: unknown };

/** An item of which a vector is made. */
export type EmbeddingItem =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tokens'; readonly tokens: readonly number[] }
  | { readonly kind: 'parts'; readonly parts: readonly EmbeddingPart[] };

/** The wishes of a request for vectors, beside its items. */
export interface EmbeddingsWishes {
  /** The length of each vector; null: the model's own. */
  readonly dimensions: number | null;
  /** The use of the vectors, such as `search_query`; null: the request does not say. */
  readonly inputType: string | null;
  /** The name of the client's user; null: none, or it is not for providers. */
  readonly user: string | null;
  /** true: the client wants base64. */
  readonly wantsBase64: boolean;
}

/** One request for vectors at a provider. */
export interface EmbeddingsBatch<Quirks extends object = object> extends EmbeddingsWishes {
  /** The items. */
  readonly items: readonly EmbeddingItem[];
  /** The provider's own name for the model. */
  readonly upstreamModel: string;
  /** The differences between the provider and its dialect. */
  readonly quirks: Quirks;
}

/** A vector: numbers, or base64 of its numbers as float32, little-endian. */
export type Vector = readonly number[] | string;

/** The vectors of a batch, in the order of its items. */
export interface DecodedVectors {
  /** The vectors. */
  readonly vectors: readonly Vector[];
  /** null: the provider reports none. */
  readonly usage: TaskUsage | null;
}

/** The way in which a provider is asked for vectors. Pure, like a dialect. */
export interface EmbeddingsCodec<Quirks extends object = object> {
  /** Returns the limits of one request. */
  limits(upstreamModel: string, quirks: Quirks): BatchLimits;
  /** Returns the first part of a request that the provider cannot take; null: it takes all. */
  lacks(batch: EmbeddingsBatch<Quirks>): Lack | null;
  /** Makes the request. */
  encode(batch: EmbeddingsBatch<Quirks>): EncodedTask;
  /**
   * @param headers  of the response, names in lower case
   * @throws UpstreamError bad_response where the body is no result
   */
  decode(body: unknown, headers: Readonly<Record<string, string>>, batch: EmbeddingsBatch<Quirks>): DecodedVectors;
}

/** A document that is ranked: a text, and a picture as a URL where there is one. */
export interface RankedDocument {
  /** The text; '' for a picture alone. */
  readonly text: string;
  /** The picture, as a URL or a data URL. */
  readonly image?: string;
}

/** One request for a ranking at a provider. */
export interface RerankBatch<Quirks extends object = object> {
  /** The question. */
  readonly query: string;
  /** The documents, in the order of the request. */
  readonly documents: readonly RankedDocument[];
  /** The most results; null: all. */
  readonly topN: number | null;
  /** The provider's own name for the model. */
  readonly upstreamModel: string;
  /** The differences between the provider and its dialect. */
  readonly quirks: Quirks;
}

/** The place of a document in the request, and its score. */
export interface RankedAt {
  /** The place of the document. */
  readonly index: number;
  /** The score, higher is better. */
  readonly score: number;
}

/** The way in which a provider is asked for a ranking. */
export interface RerankCodec<Quirks extends object = object> {
  /** The most documents of a request; they are not split, since scores of several requests cannot be compared. */
  mostDocuments(upstreamModel: string, quirks: Quirks): number;
  /** Returns the first part of a request that the provider cannot take; null: it takes all. */
  lacks(batch: RerankBatch<Quirks>): Lack | null;
  /** Makes the request. */
  encode(batch: RerankBatch<Quirks>): EncodedTask;
  /** @throws UpstreamError bad_response where the body is no result */
  decode(
    body: unknown,
    headers: Readonly<Record<string, string>>,
    batch: RerankBatch<Quirks>,
  ): { found: readonly RankedAt[]; usage: TaskUsage | null };
}

/** One request for a moderation at a provider. */
export interface ModerationsBatch<Quirks extends object = object> {
  /** The field `input` of the request. */
  readonly input: unknown;
  /** The provider's own name for the model. */
  readonly upstreamModel: string;
  /** The differences between the provider and its dialect. */
  readonly quirks: Quirks;
}

/** The result for one input: its categories, and their scores. */
export type ModerationResult = Readonly<Record<string, unknown>>;

/** The way in which a provider is asked for a moderation. */
export interface ModerationsCodec<Quirks extends object = object> {
  /** Returns the first part of a request that the provider cannot take; null: it takes all. */
  lacks(batch: ModerationsBatch<Quirks>): Lack | null;
  /** Makes the request. */
  encode(batch: ModerationsBatch<Quirks>): EncodedTask;
  /** @throws UpstreamError bad_response where the body is no result */
  decode(
    body: unknown,
    batch: ModerationsBatch<Quirks>,
  ): { found: readonly ModerationResult[]; usage: TaskUsage | null };
}

/** One request for decisions at a provider. */
export interface DecisionsBatch<Quirks extends object = object> extends Pick<DecisionsRequest, 'input' | 'questions'> {
  /** The fields of the request for the provider alone. */
  readonly wishes: Pick<DecisionsRequest, 'prompt_cache_key' | 'prompt_cache_options' | 'safety_identifier'>;
  /** The provider's own name for the model. */
  readonly upstreamModel: string;
  /** The differences between the provider and its dialect. */
  readonly quirks: Quirks;
}

/** The answers to the questions of a request, and the tokens that cost nothing. */
export interface DecisionsFound {
  /** An answer for each question, in order. */
  readonly answers: readonly DecisionAnswer[];
  /** Tokens of the input that the provider had kept, and keeps now; those of the output, and of the reasoning in it. */
  readonly counted: { cached: number; written: number; output: number; reasoning: number };
}

/** The way in which a provider is asked for decisions. */
export interface DecisionsCodec<Quirks extends object = object> {
  /** Returns the first part of a request that the provider cannot take; null: it takes all. */
  lacks(batch: DecisionsBatch<Quirks>): Lack | null;
  /** Makes the request. */
  encode(batch: DecisionsBatch<Quirks>): EncodedTask;
  /** @throws UpstreamError bad_response where the body is no result */
  decode(body: unknown, batch: DecisionsBatch<Quirks>): { found: DecisionsFound; usage: TaskUsage | null };
}

/** A picture of a request: an address, which may be a data URL; or a file. */
export type ImageSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'file'; readonly file: UploadedFile };

/** The wishes of a request for images. null: the request does not say. */
export interface ImagesWishes {
  /** The description of the images. */
  readonly prompt: string;
  /** Pictures to work from; none: the images are made of the text alone. */
  readonly references: readonly ImageSource[];
  /** The part of the first picture that may change. */
  readonly mask: ImageSource | null;
  /** The number of images; at most so many are made. */
  readonly n: number;
  /** Width and height, such as `1024x1024`. */
  readonly size: string | null;
  /** The ratio of the sides, such as `16:9`. */
  readonly aspectRatio: string | null;
  /** The size without a ratio: `512`, `1K`, `2K` or `4K`. */
  readonly resolution: string | null;
  /** The quality, such as `high`. */
  readonly quality: string | null;
  /** The media type of the images: `png`, `webp`, `jpeg`, `gif` or `svg`. */
  readonly outputFormat: string | null;
  /** true: the client wants addresses; false: base64. */
  readonly wantsUrl: boolean | null;
  /** Intermediate images of a stream; null: the response is not streamed. */
  readonly partialImages: number | null;
  /** A name of the client's user. */
  readonly user: string | null;
  /** The other fields of the request, by their names in OpenAI's interface. */
  readonly further: Readonly<Record<string, unknown>>;
}

/** One request for images at a provider. */
export interface ImagesBatch<Quirks extends object = object> extends ImagesWishes {
  /** The provider's own name for the model. */
  readonly upstreamModel: string;
  /** The differences between the provider and its dialect. */
  readonly quirks: Quirks;
}

/** An image that was made: base64, or an address. */
export interface MadeImage {
  /** The image as base64; null: it is at an address. */
  readonly base64: string | null;
  /** The address; null: there is none. */
  readonly url: string | null;
  /** The media type; null: not known. */
  readonly mediaType: string | null;
  /** The description that was used in place of the prompt; null: the prompt itself. */
  readonly revisedPrompt: string | null;
}

/** The facts of images, as the provider names them. */
export type ImageFacts = Readonly<Partial<Record<'size' | 'quality' | 'background' | 'output_format', string>>>;

/** A piece of a streamed response: an intermediate image, or one that is done. */
export interface ImagePiece {
  /** `partial`: an intermediate image. */
  readonly kind: 'partial' | 'image';
  /** The image. */
  readonly image: MadeImage;
  /** The place of an intermediate image; 0 for one that is done. */
  readonly index: number;
  /** The facts of the image. */
  readonly facts: ImageFacts;
}

/** The images of a response. */
export interface DecodedImages {
  /** The images, at most as many as were asked for. */
  readonly images: readonly MadeImage[];
  /** The facts that hold for all. */
  readonly facts: ImageFacts;
  /** null: the provider reports none. */
  readonly usage: TaskUsage | null;
}

/** The way in which a provider is asked for images. Pure, like a dialect. */
export interface ImagesCodec<Quirks extends object = object> {
  /** Returns the most images of one request. */
  mostImages(batch: ImagesBatch<Quirks>): number;
  /**
   * Returns the tokens of the output for one image, where it is sold by tokens.
   * @param mostCompletionTokens  the largest output of the endpoint; null: not known
   */
  outputTokens(
    batch: ImagesBatch<Quirks>,
    mostCompletionTokens: number | null,
  ): { readonly most: number; readonly typical: number };
  /** Returns the first part of a request that the provider cannot take; null: it takes all. */
  lacks(batch: ImagesBatch<Quirks>): Lack | null;
  /** Makes the request. */
  encode(batch: ImagesBatch<Quirks>): EncodedTask;
  /** @throws UpstreamError bad_response where the body holds no images */
  decode(body: unknown, batch: ImagesBatch<Quirks>): DecodedImages;
  /** Makes the decoder of a stream, whose pieces are of type `ImagePiece`. null: the provider streams no images. */
  decoder(batch: ImagesBatch<Quirks>): TaskDecoder | null;
}

/** The forms in which a provider tells what was said: alone, with times, with speakers. */
export const transcriptForms = ['json', 'verbose_json', 'diarized_json'] as const;
/** One of them. */
export type TranscriptForm = (typeof transcriptForms)[number];

/** The wishes of a request for a transcript, beside its file. Absent: it does not say. */
export interface TranscriptWishes {
  /** The language, ISO 639-1. */
  readonly language?: string | undefined;
  /** Languages that may be spoken. */
  readonly languages?: readonly string[] | undefined;
  /** Words that may be said. */
  readonly keywords?: readonly string[] | undefined;
  /** A text that comes before. */
  readonly prompt?: string | undefined;
  /** 0 to 1. */
  readonly temperature?: number | undefined;
  /** `word`, `segment`. */
  readonly timestamp_granularities?: readonly string[] | undefined;
  /** `logprobs`. */
  readonly include?: readonly string[] | undefined;
  /** The way in which the sound is cut: `auto`, or an object. */
  readonly chunking_strategy?: unknown;
  /** Names of speakers. */
  readonly known_speaker_names?: readonly string[] | undefined;
  /** A data URL of each speaker's voice. */
  readonly known_speaker_references?: readonly string[] | undefined;
}

/** One request for a transcript at a provider. */
export interface TranscriptBatch<Quirks extends object = object> {
  /** The task: the words in their own language, or in English. */
  readonly task: 'transcriptions' | 'translations';
  /** The sound. */
  readonly file: UploadedFile;
  /** The form of the response that is needed. */
  readonly form: TranscriptForm;
  /** true: the client wants a stream. */
  readonly isStream: boolean;
  /** The wishes. */
  readonly wishes: TranscriptWishes;
  /** The provider's own name for the model. */
  readonly upstreamModel: string;
  /** The differences between the provider and its dialect. */
  readonly quirks: Quirks;
}

/** A transcript as OpenAI writes it: its text, and further fields such as `segments`. */
export type Transcript = { readonly text: string; readonly [field: string]: unknown };

/** A piece of a streamed transcript: more of its text; a segment; or, at its end, all of it. */
export type TranscriptPiece =
  | { kind: 'delta'; text: string; fields: Readonly<Record<string, unknown>> }
  | { kind: 'segment'; segment: { readonly text: string; readonly [field: string]: unknown } }
  | { kind: 'end'; text: string; fields: Readonly<Record<string, unknown>> };

/** The way in which a provider is asked for a transcript. */
export interface TranscriptCodec<Quirks extends object = object> {
  /** Returns the fewest seconds that the provider charges for. */
  leastSeconds(quirks: Quirks): number;
  /** Returns the first part of a request that the provider cannot take; null: it takes all. */
  lacks(batch: TranscriptBatch<Quirks>): Lack | null;
  /** Makes the request. */
  encode(batch: TranscriptBatch<Quirks>): EncodedTask;
  /** @throws UpstreamError bad_response where the body is no transcript */
  decode(body: unknown, batch: TranscriptBatch<Quirks>): { transcript: Transcript; usage: TaskUsage | null };
  /** Makes the decoder of a stream, whose pieces are `TranscriptPiece`. */
  decoder(batch: TranscriptBatch<Quirks>): TaskDecoder;
}

/** The forms of sound that are made. */
export const soundForms = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;
/** One of them. `pcm`: 24 kHz, 16 bit, mono, without a header. */
export type SoundForm = (typeof soundForms)[number];

/** One request for speech at a provider. */
export interface SpeechBatch<Quirks extends object = object> {
  /** The text. */
  readonly input: string;
  /** The voice: its name, or an id of the caller's own. Absent: the provider's own. */
  readonly voice?: string | { readonly id: string } | undefined;
  /** The way in which to speak. */
  readonly instructions?: string | undefined;
  /** The form of the sound. */
  readonly form: SoundForm;
  /** 1 is the usual speed. */
  readonly speed?: number | undefined;
  /** true: the client wants events. */
  readonly wantsEvents: boolean;
  /** The provider's own name for the model. */
  readonly upstreamModel: string;
  /** The differences between the provider and its dialect. */
  readonly quirks: Quirks;
}

/** The way in which a provider is asked for speech. */
export interface SpeechCodec<Quirks extends object = object> {
  /** Returns the first part of a request that the provider cannot take; null: it takes all. */
  lacks(batch: SpeechBatch<Quirks>): Lack | null;
  /** Makes the request. */
  encode(batch: SpeechBatch<Quirks>): EncodedTask;
  /**
   * Makes the decoder of a response, whose pieces are bytes of sound. Absent: the response is JSON.
   * @param headers  of the response, names in lower case
   * @throws UpstreamError bad_response for a response that is no sound
   */
  decoder?(batch: SpeechBatch<Quirks>, headers: Readonly<Record<string, string>>): TaskDecoder;
  /** Takes the sound out of JSON. @throws UpstreamError bad_response where there is none */
  decode(body: unknown, batch: SpeechBatch<Quirks>): { sound: Uint8Array; usage: TaskUsage | null };
}

/** The tasks beside chat that a dialect speaks. Each codec reads its own part of the quirks of the dialect. */
export interface TaskCodecs {
  /** The way to vectors. */
  readonly embeddings?: EmbeddingsCodec;
  /** The way to a ranking. */
  readonly rerank?: RerankCodec;
  /** The way to a moderation. */
  readonly moderations?: ModerationsCodec;
  /** The way to decisions. */
  readonly decisions?: DecisionsCodec;
  /** The way to speech. */
  readonly speech?: SpeechCodec;
  /** The way to a transcript. */
  readonly transcriptions?: TranscriptCodec;
  /** The way to a transcript in English. */
  readonly translations?: TranscriptCodec;
  /** The way to images. */
  readonly images?: ImagesCodec;
}

/** Makes a request of a form. @param payload  its fields without the files */
export function formTask(
  path: string,
  form: readonly FormPart[],
  payload: Record<string, unknown>,
  dropped: readonly string[] = [],
): EncodedTask {
  return { path, headers: {}, payload, body: form, dropped };
}

/** Makes a request of JSON. */
export function jsonTask(path: string, payload: Record<string, unknown>, dropped: readonly string[] = []): EncodedTask {
  return { path, headers: { 'content-type': 'application/json' }, payload, body: JSON.stringify(payload), dropped };
}
