import type { WorkspaceId } from '../../call/workspace.ts';
import type { Change } from '../storage/storage.ts';

/**
 * Writes changes of a workspace with the records of these calls, in one atomic step.
 * @returns false: nothing was written. @throws GatewayError unavailable (503)
 */
export type RecordCommit = (
  workspaceId: WorkspaceId,
  callIds: ReadonlySet<string>,
  changes: readonly Change[],
) => Promise<boolean>;

/** The state of bookings that the writer of records needs. */
export interface PendingBookings {
  /** true: the call is not booked yet, so its record is written together with its booking. */
  has(callId: string): boolean;
  /** Resolves when all earlier bookings were sent once. Never rejects. */
  flush(): Promise<void>;
  /** From now on, records are written with the bookings of their calls. */
  commitWith(commit: RecordCommit): void;
}
