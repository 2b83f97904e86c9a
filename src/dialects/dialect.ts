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
import { leftOutParameters } from './shared/left-out-parameters.ts';
import type { BoundThoughts } from './shared/thought-bindings.ts';

/** A request for an upstream, with what its dialect must know of the provider. */
export interface DialectRequest<Quirks extends object = object> {
  /** As the caller sent it, validated. Not to be changed. */
  request: ChatRequest;
  /** The same request in the client's own wire format; absent, or null: the client sent a chat request. */
  native?: Native | null;
  /** The provider's own name for the model. */
  upstreamModel: string;
  /** How the provider differs from its dialect. */
  quirks: Quirks;
  /**
   * true: money is limited, and held for the chat request alone. What `native` has beyond it is not sent
   * where it costs more than the tokens of the request, and is listed as dropped.
   */
  isLimited?: boolean;
  /**
   * Why thoughts that go back may no longer fit what stands before them; null: as far as is known, they fit. Asked only
   * where the request carries such thoughts to a model that binds them. Default: they fit.
   */
  whyDropThoughts?(): ThoughtDropReason | null;
  /** The field in which the provider has thoughts, as far as it has told, where no quirk says so. Default: not known. */
  thoughtField?: ThoughtFieldMemory;
}

/** The field of an assistant message in which one provider, with one model, has what the model thinks. */
export interface ThoughtFieldMemory {
  /** The field; null: the provider refuses thoughts that go back; undefined: not known. */
  known(): string | null | undefined;
  /** A response had a thought in this field. */
  saw(field: string): void;
}

/** What goes to the provider, before authentication, which may sign it. */
export interface EncodedRequest {
  /** Appended to the provider's base URL. */
  path: string;
  /** Headers that the dialect needs. */
  headers: Record<string, string>;
  /** The body as an object: for the debug chunk. `body` is its serialisation. */
  payload: Record<string, unknown>;
  /** The body as text. */
  body: string;
  /** How many choices the body asks for. */
  choices: number;
  /** Request fields that this dialect or the provider's quirks left out, such as `seed` or `messages[].reasoning`. */
  dropped: readonly string[];
  /** What the request decides of how its response is read. Absent: nothing. */
  reading?: Reading;
  /** How structured output was asked for; absent: it was not asked for. */
  structuredOutput?: StructuredOutput;
  /** Thoughts go back to a model that binds them to what stands before them. Absent: none do. */
  thoughts?: BoundThoughts;
}

export type { StructuredOutput } from '../schema/chat/envelope.ts';

/** What the reader of a response must know of its request. */
export interface Reading {
  /** The tool by which structured output was asked for: its arguments are the content. */
  outputTool?: string;
  /** The `format` of the model's reasoning, where one dialect is spoken by models of several authors. */
  reasoningFormat?: string;
  /** true: the client speaks Responses, so deltas carry the output items that they are parts of (`withOutputItem`). */
  outputItems?: boolean;
  /** true: the provider was asked for a shorter conversation; without it, a body that looks like one is none. */
  compaction?: boolean;
  /** Gets what the provider reports that it left out of the conversation. Absent: nobody asks. */
  transformations?: InputTransformations;
  /** The provider's own name for the model, where what it signs is bound to it. */
  signer?: string;
  /** Is told in which field a thought has come. Absent: nobody asks. */
  thoughtField?: ThoughtFieldMemory;
}

/** A complete response in our wire shape; `id`, `model` and `provider` are set later. `usage` is the provider's. */
export interface DecodedResult {
  /** The response in our wire shape. */
  result: ChatResult;
  /** As the provider counts; null: it reported none. */
  usage: Usage | null;
}

/** What one event of an upstream stream means. */
export type StreamPart =
  /** In our wire shape, without usage; `id`, `model` and `provider` are set later. */
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

/** One per stream; may remember earlier events. */
export interface StreamDecoder {
  /**
   * @param data   payload of one event, without framing
   * @param event  the frame's event name, '' without one
   * @throws UpstreamError bad_response for what is no event of this dialect
   */
  decode(data: string, event: string): StreamPart[];
  /**
   * The stream has ended without an event that says so. @returns the last chunks of choices that are `finished`, once.
   * Absent: the decoder keeps none back
   */
  end?(): StreamPart[];
}

/** How a provider counts, where it matters to the most that a request can cost. Absent: not known. */
export interface Counting {
  /** Whether `max_tokens` leaves reasoning out. A number: at most so many tokens of reasoning. */
  reasoningBeside?: boolean | number | undefined;
  /** true: an image with `detail: "low"` counts as at most 3,000 tokens. */
  lowDetail?: boolean | undefined;
  /** true: the provider searches the web for every request. */
  alwaysSearches?: boolean | undefined;
  /** How often the provider reads the prompt of a request that lets it search the web. Default 1. */
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
  /** Name of the dialect, as the option `dialect` has it. */
  name: string;
  /** How a stream is cut into events. */
  framing: Framing;
  /** What the option `quirks` of a provider that speaks this dialect is checked by. Closed: no unknown keys. */
  quirks: () => Schema<Quirks>;
  /**
   * The smallest largest output that the provider takes: `encodeRequest` raises a smaller one to it. 0: it takes any.
   */
  minMaxTokens(quirks: Quirks): number;
  /** Default: nothing is known. */
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
   * The wire format of clients that the dialect is. Where a client speaks the same one, `encodeRequest` sends `native`, or
   * says in `dropped` what it leaves out of it, and the stream may be passed through: its events differ from those of a
   * client in id, model and details alone. Absent: no client speaks it, and the upstream gets the chat request.
   */
  format?: WireFormat;
  /** true: the provider goes on generating when the connection of a stream is closed. Default: it stops. */
  generatesOn?(quirks: Quirks): boolean;
  /**
   * Makes the provider's request.
   * @throws UpstreamError made by `unsupported`, where the request holds what the provider cannot take
   */
  encodeRequest(input: DialectRequest<Quirks>): EncodedRequest;
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
