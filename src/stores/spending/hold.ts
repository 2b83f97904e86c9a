import type { WorkspaceId } from '../../call/workspace.ts';
import type { LimitedWindow, WindowState } from '../ledger/ledger.ts';
import type { Slice } from './slice.ts';

/** An amount that is held in the ledger, or that is a part of a slice in the ledger. */
export interface Hold {
  id: string;
  workspaceId: WorkspaceId;
  windows: readonly LimitedWindow[];
  nanoUsd: number;
  sinceMs: number;
  /** The slice that the hold is a part of; its id is that of the hold. Absent: the hold is in the ledger by itself. */
  slice?: Slice;
}

/** The hold, or the states of the windows into which it does not fit. */
export type Taken = Hold | WindowState[];

export function isHold(taken: Taken): taken is Hold {
  return !Array.isArray(taken);
}

/** A hold, and the amount that was spent of it. */
export interface HoldEnd {
  hold: Hold;
  nanoUsd: number;
}
