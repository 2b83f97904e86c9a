import type { Usage } from '../schema/chat.ts';

/** What a call cost, settled once. */
export interface Receipt {
  /** Tokens as the provider counted them, or counted here when `isEstimated`. */
  usage: Usage;
  isEstimated: boolean;
  /** All of it, integer nano-USD; null when the endpoint has no known price. */
  costNanoUsd: number | null;
  /** Of the try that served; 0 when none did or its price is not known. */
  servedNanoUsd: number;
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
