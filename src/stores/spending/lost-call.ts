import type { WorkspaceId } from '../../call/workspace.ts';

/** A call whose process died while it held money, or did not tell the store of the end in time. */
export interface LostCall {
  /** The id of the generation. */
  id: string;
  apiKeyHash: string | null;
  /** Epoch ms. */
  receivedAtMs: number;
  /** The number of its holds that are lost now; 0: all of them were settled late. */
  holds: number;
  /** The charge for those holds, integer nano-USD. */
  nanoUsd: number;
}

/**
 * Writes the record of a lost call. Several processes may pass the same call, and may repeat it.
 * @param isExact  true: a hold was settled late, so the recorded amount may become less
 * @throws the errors of its store; the call is then passed again
 */
export type LostCallRecorder = (workspaceId: WorkspaceId, call: LostCall, isExact: boolean) => Promise<void>;
