import { type Clock, isoTime } from '../base/clock.ts';
import { readHealthKey } from '../call/facts.ts';
import type { HealthChecks, ServerState } from '../catalog/health/checks.ts';
import type { CoolingDown, Health } from '../catalog/health/index.ts';
import type { Edge } from '../http/edge.ts';
import type { Spending } from '../stores/spending/spending.ts';
import type { Records } from '../telemetry/records/records.ts';

/** The open work of this instance. */
export interface GatewayState {
  /** The number of requests that have not ended. */
  requestsInFlight: number;
  /** The number of holds of requests in flight. */
  holds: number;
  /** Bookings of money that the store has not confirmed. If the number stays high, the store does not respond. */
  waitingBookings: number;
  /**
   * Endpoints, and credentials of workspaces and single keys of the operator at them, that are in cooldown: for all
   * workspaces or for one.
   */
  cooldowns: number;
  /** The first of them by name, so that an operator need not guess; at most 100. */
  inCooldown: readonly EndpointInCooldown[];
  /** The providers whose servers are checked (`healthCheck`), each with its state; empty: none are. */
  healthChecks: readonly CheckedProvider[];
  /** The number of records that wait to be written; 0 where none are kept. */
  waitingRecords: number;
  /** The number of records that were not kept since the start: too many waited, or the store refused them. */
  droppedRecords: number;
}

/** A provider whose server is checked. */
export interface CheckedProvider {
  /** Slug of the provider. */
  provider: string;
  /** false: the last checks failed, and the provider is passed over while others are up. */
  isUp: boolean;
  /** The time of the last change, or of the start, as ISO 8601. */
  since: string;
  /** The reason why the last check failed, such as `status 503`; null: it did not. */
  failure: string | null;
}

function shown({ provider, isUp, sinceMs, failure }: ServerState): CheckedProvider {
  return { provider, isUp, since: isoTime(sinceMs), failure };
}

/** An endpoint that is left alone for a while. */
export interface EndpointInCooldown {
  /** Slug of the endpoint, `provider` or `provider/variant`. */
  endpoint: string;
  /** The provider's name of the model. */
  model: string;
  /** Id of the BYOK credential that failed there; null: the operator's. */
  credentialId: string | null;
  /** Label of the operator's key, where the provider has several and only this one is left alone; null: all of them are. */
  key: string | null;
  /** The only workspace that it is for; null: it is for all. */
  workspaceId: string | null;
  /** End of the cooldown, as ISO 8601. */
  until: string;
}

function named({ key, workspaceId, untilMs }: CoolingDown): EndpointInCooldown {
  return { ...readHealthKey(key), workspaceId, until: isoTime(untilMs) };
}

/** @returns a function that reads the state from memory, without a call of a store */
export function stateOf(
  edge: Edge,
  spending: Spending,
  health: Health,
  records: Records | null | undefined,
  checks: HealthChecks | null,
  clock: Clock,
): () => GatewayState {
  return () => ({
    requestsInFlight: edge.inFlight(),
    ...spending.state(),
    cooldowns: health.coolingDown(clock.now()),
    inCooldown: health.inCooldown(clock.now()).map(named),
    healthChecks: checks?.state().map(shown) ?? [],
    waitingRecords: records?.waiting() ?? 0,
    droppedRecords: records?.dropped() ?? 0,
  });
}
