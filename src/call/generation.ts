import type { ChatRequest, ChatResult, FinishReason, Usage } from '../schema/chat/chat.ts';
import type { ChatChunk } from '../schema/chat/chunk.ts';
import type { Plan, Target } from './plan.ts';
import type { ResponseEncoder, ResponseHead } from './response-encoder.ts';
import type { AttemptTrace } from './trace.ts';

/** How a response ended. */
export type ResponseEnd =
  | { kind: 'complete' }
  /** Broken off. `error` is a GatewayError, an UpstreamError or the reason of an abort. */
  | { kind: 'failed'; error: unknown }
  /** Nobody wants the rest: the client has left, or a plugin has stopped reading. */
  | { kind: 'cancelled' };

/** A response that is here completely. */
export interface CompleteResponse {
  /** A response that is complete. */
  kind: 'complete';
  /** Its id, and when it began. */
  head: ResponseHead;
  /** The response itself. */
  result: ChatResult;
}

/** A response that is pulled, chunk by chunk. Whoever gets one reads it to its end or cancels it. */
export interface StreamedResponse {
  /** A response that arrives in chunks. */
  kind: 'stream';
  /** Its id, and when it began. */
  head: ResponseHead;
  /** Set once the latest pull was the last; what that pull returned still counts. */
  readonly end: ResponseEnd | null;
  /** The next chunks, possibly none. Never rejects: a failure becomes `end`. Not while a pull is pending. */
  pull(): Promise<readonly ChatChunk[]>;
  /**
   * As `pull`, where the upstream's bytes may be forwarded: complete frames in the client's format. Absent: they may
   * not. Whoever takes this way takes it from the first pull on.
   */
  pullBytes?(encoder: ResponseEncoder): Promise<Uint8Array<ArrayBuffer>>;
  /** Stops the upstream and settles what was used. Safe to call more than once. */
  cancel(): void;
}

/** What is delivered to the client, whoever made it: one generation, several, or a plugin. */
export type ModelResponse = CompleteResponse | StreamedResponse;

/** Parts of a cost, integer nano-USD; they add up to it exactly. */
export interface CostParts {
  /** Tokens and images of the prompt. */
  promptNanoUsd: number;
  /** The response, in integer nano-USD. */
  completionNanoUsd: number;
  /** The price per request, and searches. */
  otherNanoUsd: number;
}

/** What a generation cost, settled exactly once. */
export interface Receipt {
  /** Tokens as the provider counted them, or counted here when `isEstimated`, with the cost in USD. */
  usage: Usage;
  /** true: the provider reported no usage, and the gateway counted it. */
  isEstimated: boolean;
  /** All of it, failed attempts included, integer nano-USD; null when the endpoint has no known price. */
  costNanoUsd: number | null;
  /** Of the target that served; 0 when none did or its price is not known. */
  servedNanoUsd: number;
  /** Of the target that served, by part; null when its price is not known or none served. */
  parts: CostParts | null;
}

/** When the stages of a generation were reached, epoch ms. null: not reached. */
export interface GenerationTimes {
  /** Epoch ms: when the generation began. */
  startedAtMs: number;
  /** Epoch ms: when the route was planned. */
  plannedAtMs: number | null;
  /** Epoch ms: when the money was held. */
  heldAtMs: number | null;
  /** When the request of the first attempt was sent. */
  sentAtMs: number | null;
  /** When the first token, or the complete response, was there. */
  firstTokenAtMs: number | null;
  /** Epoch ms: when the generation had ended. */
  endedAtMs: number | null;
}

/** How a generation ended. `cut`: failed after the first token. */
export type GenerationOutcome = 'ok' | 'failed' | 'cut' | 'cancelled';

/** A server tool that was run. */
export interface ServerToolUse {
  /** Its name, such as `web_search`. */
  readonly name: string;
  /** What the operator has paid for it so far, integer nano-USD; what is held counts until it is settled. */
  readonly nanoUsd: number;
  /** Addresses that its searches have found. */
  readonly sources: readonly string[];
}

/** What is known of one upstream response: its plan, its attempts, its money. Grows until the generation is settled. */
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
  /** When each stage was reached. */
  readonly times: Readonly<GenerationTimes>;
  /** The worst case that was held for it, integer nano-USD; 0 where nothing is limited. */
  readonly heldNanoUsd: number;
  /** Why the response ended, as the client saw it. */
  readonly finishReason: FinishReason | null;
  /** The same, as the provider named it. */
  readonly nativeFinishReason: string | null;
  /** null: it has not ended. */
  readonly outcome: GenerationOutcome | null;
  /** HTTP status of its end; 499 where it was cancelled. null: it has not ended. */
  readonly status: number | null;
  /** What it cost; null before it is settled. */
  readonly receipt: Receipt | null;
}

/** One upstream response as a value. */
export type Generation = ModelResponse & { readonly log: GenerationLog };
