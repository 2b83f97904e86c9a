import type { Clock } from '../../../base/clock.ts';
import { createFairCache } from '../../../base/fair-cache.ts';
import { UpstreamError } from '../../../base/http/upstream-error.ts';
import { credentialKey, credentialOwner, type Target } from '../../../call/plan.ts';

/**
 * The models whose provider has no count of tokens, by credential, though others that speak its wire format have one. They
 * are not asked for a while. The list is kept in this process; when it is lost, each costs one more question.
 */
export interface MissingCounts {
  has(target: Target): boolean;
  /** Notes a provider that says that it has no count; any other error says nothing of the next question. */
  note(target: Target, error: unknown): void;
}

/** A server may learn to count: it is asked again after this time. */
const ttlMs = 10 * 60_000;
/** The number of pairs of credential and model that are remembered. */
const most = 1_000;
/** The statuses of a path, or of a method, that a server does not have. */
const missing: ReadonlySet<number> = new Set([404, 405, 501]);

export function createMissingCounts(clock: Clock): MissingCounts {
  const untilMs = createFairCache<string, number>({ clock, max: most, idleMs: ttlMs });
  return {
    has(target) {
      const key = keyOf(target);
      const isSo = (untilMs.get(key) ?? 0) > clock.monotonic();
      if (!isSo) untilMs.delete(key);
      return isSo;
    },
    note(target, error) {
      if (!(error instanceof UpstreamError) || error.reason !== 'status' || !missing.has(error.status)) return;
      untilMs.set(credentialOwner(target.credential), keyOf(target), clock.monotonic() + ttlMs);
    },
  };
}

function keyOf({ credential, endpoint }: Target): string {
  return `${credentialKey(credential)} ${endpoint.upstreamModel}`;
}
