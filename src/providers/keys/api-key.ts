/** The request of the gateway for a key. */
export interface ApiKeyRequest {
  /**
   * The key that the provider has just refused with a 401: the function returns a newer one, or the same one where it
   * has no other. Absent: none was refused.
   */
  refused?: string | undefined;
  /** Aborted when the request that the key is for no longer waits for it. Absent: it always waits. */
  signal?: AbortSignal | undefined;
}

/**
 * Returns the key of a provider at this moment, such as a token that lives for an hour. The gateway calls the function
 * for each attempt, so the function keeps the key for as long as the key is good. Where a key is at hand, return it
 * without a promise: a promise costs each request some microseconds.
 * @throws anything where there is no key: the next target is called. A `retryAfterMs` on the error, milliseconds, is
 *   how long the endpoints of the provider are left alone; without it, they are left alone for `retry.cooldownMs`
 */
export type ApiKeySource = (asked: ApiKeyRequest) => string | Promise<string>;

/** Says why there is no key. Its message holds no secret. */
export class NoKeyError extends Error {
  /** The time until the next attempt to get one, in ms. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.name = 'NoKeyError';
    this.retryAfterMs = retryAfterMs;
  }
}

/** The longest time that the error of a key function may set endpoints aside, in ms. */
const longestPauseMs = 24 * 60 * 60 * 1000;

/** Reads `retryAfterMs` of anything that a key function threw. @returns undefined: it has none that makes sense */
export function pauseIn(error: unknown): number | undefined {
  try {
    const ms = (error as { retryAfterMs?: unknown } | null | undefined)?.retryAfterMs;
    return typeof ms === 'number' && ms >= 0 ? Math.min(ms, longestPauseMs) : undefined;
  } catch {
    // A getter of the thrown object throws in its turn.
    return undefined;
  }
}
