import type { Clock } from '../base/clock.ts';
import type { Health } from '../catalog/health.ts';
import type { Edge } from '../http/edge.ts';
import type { Spending } from '../stores/spending/spending.ts';
import type { Records } from '../telemetry/records/records.ts';

/** What this instance has open now. */
export interface GatewayState {
  /** Requests that have not ended. */
  requestsInFlight: number;
  /** Holds of requests in flight. */
  holds: number;
  /** Bookings of money that the store has not confirmed: more than a moment's worth means that it does not answer. */
  waitingBookings: number;
  /** Endpoints, and credentials of workspaces at them, that are in cooldown: for everybody or for some workspace. */
  cooldowns: number;
  /** Records that wait to be written; 0 where none are kept. */
  waitingRecords: number;
  /** Records that were not kept since the start: too many waited, or the store refused them. */
  droppedRecords: number;
}

/** @returns looks at what is in memory; no store is asked */
export function stateOf(
  edge: Edge,
  spending: Spending,
  health: Health,
  records: Records | null | undefined,
  clock: Clock,
): () => GatewayState {
  return () => ({
    requestsInFlight: edge.inFlight(),
    ...spending.state(),
    cooldowns: health.coolingDown(clock.now()),
    waitingRecords: records?.waiting() ?? 0,
    droppedRecords: records?.dropped() ?? 0,
  });
}
