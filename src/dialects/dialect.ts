import * as z from 'zod';
import type { Framing } from '../base/framing/framing.ts';
import { serverSentEvents } from '../base/framing/sse.ts';
import type { UpstreamError } from '../base/http/upstream-error.ts';
import { lazily } from '../base/lazily.ts';
import type { Native, WireFormat } from '../call/native.ts';
import type { ChatRequest, ChatResult, Usage } from '../schema/chat/chat.ts';
import type { ChatChunk } from '../schema/chat/chunk.ts';
import type { InputTransformations, StructuredOutput, ThoughtDropReason } from '../schema/chat/envelope.ts';
import type { Schema } from '../schema/schema.ts';
import type { Profile } from './fit/profile.ts';
import { leftOutParameters } from './shared/left-out-parameters.ts';
import type { BoundThoughts } from './shared/thought-bindings.ts';
import type { TaskCodecs } from './tasks/contract.ts';

/** A request for an upstream, with the facts of the provider that its dialect must know. */
export interface DialectRequest<Quirks extends object = object> {
  /** The request as the caller sent it, validated. Not to be changed. */
  request: ChatRequest;
  /** The same request in the client's own wire format; absent, or null: the client sent a chat request. */
  native?: Native | null;
  /** The provider's own name for the model. */
  upstreamModel: string;
  /** The differences between the provider and its dialect. */
  quirks: Quirks;
  /**
   * true: money is limited, and held for the chat request alone. Parts of `native` beyond it are not sent where they
   * cost more than the tokens of the request, and are listed as dropped.
   */
  isLimited?: boolean;
  /** true: the credential is the caller's own, so the request may name what belongs to its account. Default: false. */
  isByok?: boolean;
  /** true: the price of a search is known, so what is held pays for those of the provider's own search tool. Default: false. */
  paysForSearches?: boolean;
  /**
   * Returns the reason why thoughts that go back may no longer fit the messages before them; null: as far as is known,
   * they fit. Called only where the request carries such thoughts to a model that binds them. Default: they fit.
   */
  whyDropThoughts?(): ThoughtDropReason | null;
  /** The field in which the provider has thoughts, for dialects without a quirk for it. Absent: not known. */
  thoughtField?: ThoughtFieldMemory;
}

/** The field of an assistant message in which one provider, with one model, has the thoughts of the model. */
export interface ThoughtFieldMemory {
  /** The field; null: the provider refuses thoughts that go back; undefined: not known. */
  known(): string | null | undefined;
  /** A response had a thought in this field. */
  saw(field: string): void;
}

/** The request that goes to the provider, before authentication, which may sign it. */
export interface EncodedRequest {
  /** The path, which is appended to the provider's base URL. */
  path: string;
  /** Headers that the dialect needs. */
  headers: Record<string, string>;
  /** The body as an object: for the debug chunk. `body` is its serialisation. */
  payload: Record<string, unknown>;
  /** The body as text. */
  body: string;
  /** The number of choices that the body asks for. */
  choices: number;
  /** Request fields that this dialect or the provider's quirks left out, such as `seed` or `messages[].reasoning`. */
  dropped: readonly string[];
  /** The facts of the request that the reader of its response must know. Absent: none. */
  reading?: Reading;
  /** The way in which structured output was asked for; absent: it was not asked for. */
  structuredOutput?: StructuredOutput;
  /** The thoughts that go back to a model that binds them to the messages before them. Absent: there are none. */
  thoughts?: BoundThoughts;
}

/** A request for the number of tokens of a prompt, before authentication. */
export interface CountRequest extends Pick<EncodedRequest, 'path' | 'headers' | 'body'> {
  /** Reads the response. @returns the number of tokens as the provider wrote it; anything else: there is none */
  tokensIn(body: Readonly<Record<string, unknown>>): unknown;
}

export type { StructuredOutput } from '../schema/chat/envelope.ts';

/** The facts of a request that the reader of its response must know. */
export interface Reading {
  /** The tool by which structured output was asked for: its arguments are the content. */
  outputTool?: string;
  /** The `format` of the model's reasoning, where one dialect is spoken by models of several authors. */
  reasoningFormat?: string;
  /** true: the client speaks Responses, so deltas carry the output items that they are parts of (`withOutputItem`). */
  outputItems?: boolean;
  /** true: the client speaks the provider's own wire format, so chunks carry the events that they were made of. */
  nativeEvents?: boolean;
  /** true: the provider was asked for a shorter conversation; without it, a body that looks like one is none. */
  compaction?: boolean;
  /** Collects the provider's reports of parts that it left out of the conversation. Absent: nobody asks. */
  transformations?: InputTransformations;
  /** The provider's own name for the model, where the signatures of the model are bound to it. */
  signer?: string;
  /** Is told in which field a thought has come. Absent: nobody asks. */
  thoughtField?: ThoughtFieldMemory;
  /** The caller's own names of tools, by those that the provider was given in their place. Absent: it was given the same. */
  ownNames?: ReadonlyMap<string, string>;
}

/** A complete response in our wire shape; `id`, `model` and `provider` are set later. `usage` is the provider's. */
export interface DecodedResult {
  /** The response in our wire shape. */
  result: ChatResult;
  /** The usage as the provider counts it; null: it reported none. */
  usage: Usage | null;
}

/** The meaning of one event of an upstream stream. */
export type StreamPart =
  /** A chunk in our wire shape, without usage; `id`, `model` and `provider` are set later. */
  | { kind: 'chunk'; chunk: ChatChunk }
  /**
   * The choice of this index has come to its end. Its last chunk, which has the `finish_reason`, comes before `done`, or
   * of `end`: more of the choice may still come.
   */
  | { kind: 'finished'; index: number }
  /** Replaces what an earlier part reported: some providers count up. */
  | { kind: 'usage'; usage: Usage }
  /**
   * The stream broke off. `isReported`: the provider reports an error of the response itself, which the client must
   * learn of even where the response looks complete. Without it, only the end of the stream is broken.
   */
  | { kind: 'error'; error: UpstreamError; isReported?: boolean }
  /** The provider reports that the stream is complete. */
  | { kind: 'done' };

/** The decoder of one stream; it may remember earlier events. */
export interface StreamDecoder {
  /**
   * @param data   payload of one event, without framing
   * @param event  the frame's event name, '' without one
   * @throws UpstreamError bad_response for data that is no event of this dialect
   */
  decode(data: string, event: string): StreamPart[];
  /**
   * The stream has ended without an event that says so. @returns the last chunks of choices that are `finished`, once.
   * Absent: the decoder keeps none back
   */
  end?(): StreamPart[];
}

/** The counting of a provider, where it matters to the most that a request can cost. Absent: not known. */
export interface Counting {
  /** true: `max_tokens` leaves reasoning out. A number: at most so many tokens of reasoning. */
  reasoningBeside?: boolean | number | undefined;
  /** true: an image with `detail: "low"` counts as at most 3,000 tokens. */
  lowDetail?: boolean | undefined;
  /** true: the provider searches the web for every request. */
  alwaysSearches?: boolean | undefined;
  /** The number of times that the provider reads the prompt of a request that lets it search the web. Default 1. */
  searchTurns?: number | undefined;
}

/**
 * A wire format spoken to an upstream. A dialect is pure: request in, bytes out; bytes in, our wire shapes out.
 * Framing is apart from meaning: `framing` says how a stream is cut into events, `decode` what an event means.
 * `Quirks` is what a provider that speaks the dialect may do differently. A branch on a provider's slug is a missing
 * quirk.
 *
 * @example
 * const { path, body } = openaiChat.encodeRequest({ request, upstreamModel: 'gpt-4.1', quirks: {} });
 * const { result, usage } = openaiChat.decodeResult(await response.json(), {});
 * const decoder = openaiChat.streamDecoder({});
 * const framer = openaiChat.framing.framer(maxEventBytes);
 * framer.push(bytes);
 * while (framer.next()) {
 *   const event = framer.read();
 *   if (event) for (const part of decoder.decode(event.data, event.name)) …
 * }
 */
export interface Dialect<Quirks extends object = object> {
  /** The name of the dialect, as in the option `dialect`. */
  name: string;
  /** The framing, which cuts a stream into events. */
  framing: Framing;
  /**
   * Loads the code of the dialect, which until then has a name, a format and the schema of its quirks, and nothing else.
   * Absent, or undefined: it is there. Rejects where the code cannot be loaded, and may be called again.
   */
  load?: (() => Promise<void>) | undefined;
  /** The schema of the option `quirks` of a provider that speaks this dialect. Closed: no unknown keys. */
  quirks: () => Schema<Quirks>;
  /**
   * The smallest largest output that the provider takes: `encodeRequest` raises a smaller one to it. 0: it takes any.
   */
  minMaxTokens(quirks: Quirks): number;
  /** Returns the counting of a provider. Default: nothing is known. */
  counting?(quirks: Quirks): Counting;
  /**
   * Request fields that never reach a model, by their names in `supported_parameters`, such as `seed`. Its endpoint does
   * not list them, and does not serve requests that demand them. A field that is carried in part is not one of them.
   * Default: none.
   * @param upstreamModel  the provider's own name for the model
   */
  unsupportedParameters?(quirks: Quirks, upstreamModel: string): readonly string[];
  /**
   * true: `web_search_options` becomes a search tool of the provider's own, for the models that have one. Default: it
   * is not known which models search.
   */
  mapsWebSearch?: boolean;
  /**
   * The wire format of clients that the dialect is. Where a client speaks the same one, `encodeRequest` sends `native`,
   * or names in `dropped` the parts that it leaves out of it, and the stream may be passed through: its events differ
   * from those of a client in id, model and details alone. Absent: no client speaks it, and the upstream gets the chat
   * request.
   */
  format?: WireFormat;
  /** The tasks beside chat that it speaks. Default: none. */
  tasks?: TaskCodecs;
  /**
   * Tells whether the provider takes a request of a client's wire format as it came, for this model, though its usual
   * format is another: `encodeRequest` then gets `native`. Default: only where `format` is the client's.
   */
  takesWhole?(native: Native, upstreamModel: string, quirks: Quirks): boolean;
  /**
   * true: callers may name what is stored in the account of the operator's credential, such as a cache or a file: each can
   * then use what any other has stored. Default: only with a credential of their own.
   */
  sharesStored?(quirks: Quirks): boolean;
  /**
   * The conversations that the model accepts. A request is changed to be one before it is encoded: ids and names, order
   * and roles, texts and pictures. Default: it is encoded as it is.
   * @param upstreamModel  the provider's own name for the model
   */
  profile?(quirks: Quirks, upstreamModel: string): Profile;
  /** true: the provider goes on generating when the connection of a stream is closed. Default: it stops. */
  generatesOn?(quirks: Quirks): boolean;
  /**
   * Makes the provider's request.
   * @throws UpstreamError made by `unsupported`, where the request holds a part that the provider cannot take
   */
  encodeRequest(input: DialectRequest<Quirks>): EncodedRequest;
  /**
   * Makes the request by which the provider counts the tokens of a prompt, free of charge. Default: it has no such count.
   * @param encoded  the request whose prompt is counted, as `encodeRequest` has made it
   * @returns        null: the provider counts no prompt of this model
   */
  count?(encoded: EncodedRequest, upstreamModel: string, quirks: Quirks): CountRequest | null;
  /** @throws UpstreamError bad_response when the body is no result of this dialect; when it is an error, that error */
  decodeResult(body: unknown, quirks: Quirks, reading?: Reading): DecodedResult;
  /** Makes a decoder for one stream. */
  streamDecoder(quirks: Quirks, reading?: Reading): StreamDecoder;
  /** Reads the provider's error shape. `body` is bounded text of any kind: JSON, HTML, empty. */
  decodeError(status: number, headers: Record<string, string>, body: string, nowMs: number): UpstreamError;
}

const noQuirks = lazily(() => z.strictObject({}));

/**
 * Completes a dialect with the defaults: server-sent events, no wire format of clients, no quirks, and any largest output.
 * The parameters that never reach a model are found by encoding a request that asks for each. The provider generates on
 * behind a closed stream where its quirk `generatesOn` says so.
 *
 * @example
 * const acmeChat = defineDialect({ ...openaiChat, name: 'acme-chat', encodeRequest });
 */
export function defineDialect<Quirks extends object = object>(
  dialect: Pick<Dialect<Quirks>, 'name' | 'encodeRequest' | 'decodeResult' | 'streamDecoder' | 'decodeError'> &
    Partial<Dialect<Quirks>>,
): Dialect<Quirks> {
  return {
    framing: serverSentEvents,
    minMaxTokens: () => 0,
    generatesOn: (quirks) => 'generatesOn' in quirks && quirks.generatesOn === true,
    unsupportedParameters: leftOutParameters(dialect.encodeRequest),
    ...dialect,
    // No quirk is required.
    quirks: dialect.quirks ?? (noQuirks as () => Schema<Quirks>),
  };
}
