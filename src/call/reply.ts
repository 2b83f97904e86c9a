import type { Usage } from '../schema/chat.ts';

/** What a call cost, settled once. */
export interface Receipt {
  /** Tokens as the provider counted them, or counted here when `isEstimated`. */
  usage: Usage;
  isEstimated: boolean;
  /** Integer nano-USD; null when the endpoint has no known price. */
  costNanoUsd: number | null;
}

/** A success, as the pipeline hands it to an operation and the operation to the edge. */
export type Reply = {
  status: number;
  headers?: Record<string, string>;
} & (
  | { kind: 'json'; body: unknown }
  /** Whole frames of the client's wire; ends by itself, and cancelling it stops the upstream. */
  | { kind: 'stream'; body: ReadableStream<Uint8Array> }
);
