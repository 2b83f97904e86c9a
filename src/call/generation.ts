import type { ChatRequest, ChatResult, FinishReason, Usage } from '../schema/chat/chat.ts';
import type { ChatChunk } from '../schema/chat/chunk.ts';
import type { Plan, Target } from './plan.ts';
import type { ResponseEncoder, ResponseHead } from './response-encoder.ts';
import type { AttemptTrace } from './trace.ts';

/** The end of a response. */
export type ResponseEnd =
  | { kind: 'complete' }
  /** Broken off. `error` is a GatewayError, an UpstreamError or the reason of an abort. */
  | { kind: 'failed'; error: unknown }
  /** Not wanted any more: the client has left, or a plugin has stopped reading. */
  | { kind: 'cancelled' };

/** A response that has arrived completely. */
export interface CompleteResponse {
  /** A response that is complete. */
  kind: 'complete';
  /** Its id, and the time when it began. */
  head: ResponseHead;
  /** The response itself. */
  result: ChatResult;
}

/** A response that is pulled, chunk by chunk. The owner reads it to its end or cancels it. */
export interface StreamedResponse {
  /** A response that arrives in chunks. */
  kind: 'stream';
  /** Its id, and the time when it began. */
  head: ResponseHead;
  /**
   * The end; null: chunks may follow. It is set once the latest pull was the last; the chunks of that pull still count.
   */
  readonly end: ResponseEnd | null;
  /**
   * Returns the next chunks, possibly none. Never rejects: a failure becomes `end`. Must not be called while a pull is
   * pending.
   */
  pull(): Promise<readonly ChatChunk[]>;
  /**
   * Does the same as `pull`, where the upstream's bytes may be forwarded: returns complete frames in the client's
   * format. Absent: they may not. A reader that uses it uses it from the first pull on.
   */
  pullBytes?(encoder: ResponseEncoder): Promise<Uint8Array<ArrayBuffer>>;
  /** Stops the upstream and settles the used amount. Safe to call more than once. */
  cancel(): void;
}

/** The response that is delivered to the client, whether one generation, several or a plugin made it. */
export type ModelResponse = CompleteResponse | StreamedResponse;

/** A cost by the kinds of what was charged, integer nano-USD; they add up to it exactly. */
export interface CostKinds {
  /** Tokens of the prompt, but those below, and units that are no tokens. Where a cost was booked at its bound, what is beyond the known tokens too. */
  inputNanoUsd: number;
  /** Tokens of the prompt that were read from a cache. */
  cachedNanoUsd: number;
  /** Tokens of the prompt that were written to a cache. */
  cacheWritesNanoUsd: number;
  /** Images and audio of the prompt. */
  inputMediaNanoUsd: number;
  /** Tokens of the response, but those below. */
  outputNanoUsd: number;
  /** Reasoning of the response. */
  reasoningNanoUsd: number;
  /** Images and audio of the response. */
  outputMediaNanoUsd: number;
  /** The price per request. */
  requestNanoUsd: number;
  /** Searches that the provider made. */
  searchesNanoUsd: number;
}

/** Parts of a cost, integer nano-USD; they add up to it exactly. */
export interface CostParts {
  /** Tokens and images of the prompt. */
  promptNanoUsd: number;
  /** The response, in integer nano-USD. */
  completionNanoUsd: number;
  /** The price per request, and searches. */
  otherNanoUsd: number;
  /** The same cost, told apart further. */
  kinds: CostKinds;
}

/** The cost of a generation, settled exactly once. */
export interface Receipt {
  /** Tokens as the provider counted them, or counted here when `isEstimated`, with the cost in USD. */
  usage: Usage;
  /** true: the provider reported no usage, and the gateway counted it. */
  isEstimated: boolean;
  /** The complete cost, failed attempts included, integer nano-USD; null when the endpoint has no known price. */
  costNanoUsd: number | null;
  /** The cost of the target that served, integer nano-USD; 0 when none did or its price is not known. */
  servedNanoUsd: number;
  /** The cost of the target that served, by part; null when its price is not known or none served. */
  parts: CostParts | null;
}

/** The times at which the stages of a generation were reached, epoch ms. null: not reached. */
export interface GenerationTimes {
  /** The time when the generation began, epoch ms. */
  startedAtMs: number;
  /** The time when the route was planned, epoch ms. */
  plannedAtMs: number | null;
  /** The time when the money was held, epoch ms. */
  heldAtMs: number | null;
  /** The time when the request of the first attempt was sent, epoch ms. */
  sentAtMs: number | null;
  /** The time when the first token, or the complete response, was there, epoch ms. */
  firstTokenAtMs: number | null;
  /** The time when the generation had ended, epoch ms. */
  endedAtMs: number | null;
}

/** The times of a generation that begins. */
export function timesFrom(startedAtMs: number): GenerationTimes {
  return {
    startedAtMs,
    plannedAtMs: null,
    heldAtMs: null,
    sentAtMs: null,
    firstTokenAtMs: null,
    endedAtMs: null,
  };
}

/** The result of a generation. `cut`: it failed after the first token. */
export type GenerationOutcome = 'ok' | 'failed' | 'cut' | 'cancelled';

/** A server tool that was run. */
export interface ServerToolUse {
  /** The name of the tool, such as `web_search`. */
  readonly name: string;
  /**
   * The amount that the operator has paid for it so far, integer nano-USD; a held amount counts until it is settled.
   */
  readonly nanoUsd: number;
  /** Addresses that its searches have found. */
  readonly sources: readonly string[];
}

/** The facts of one upstream response: its plan, its attempts, its money. It grows until the generation is settled. */
export interface GenerationLog {
  /** The request that this generation was made of. */
  readonly request: ChatRequest;
  /** The requests that plugins gave to `generate`, from the outermost plugin on: `request` was made of the last one. */
  readonly askedFor: readonly ChatRequest[];
  /** null: the generation was refused before it was planned. */
  readonly plan: Plan | null;
  /** The target that serves; null: none does, or not yet. */
  readonly target: Target | null;
  /** Every attempt so far, in order. */
  readonly attempts: readonly AttemptTrace[];
  /** Server tools that were run because the model called them in this response. */
  readonly serverTools: readonly ServerToolUse[];
  /** The times at which the stages were reached. */
  readonly times: Readonly<GenerationTimes>;
  /** The worst case that was held for it, integer nano-USD; 0 where nothing is limited. */
  readonly heldNanoUsd: number;
  /** The reason of the end of the response, as the client saw it. */
  readonly finishReason: FinishReason | null;
  /** The same reason, in the provider's word. */
  readonly nativeFinishReason: string | null;
  /** null: it has not ended. */
  readonly outcome: GenerationOutcome | null;
  /** HTTP status of its end; 499 where it was cancelled. null: it has not ended. */
  readonly status: number | null;
  /** The cost of the generation; null before it is settled. */
  readonly receipt: Receipt | null;
}

/** One upstream response as a value. */
export type Generation = ModelResponse & { readonly log: GenerationLog };
