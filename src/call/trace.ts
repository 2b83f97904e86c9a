/** One attempt at a provider. */
export interface AttemptTrace {
  /** Display name of the provider. */
  provider: string;
  providerSlug: string;
  /** The gateway's slug of the model. */
  model: string;
  startedAtMs: number;
  /** When the attempt was decided: its first event or its whole answer was there, or it failed. */
  decidedAtMs: number;
  /** 200, or the status of the failure: the upstream's own, 502 for a bad answer, 524 for a time-out. */
  status: number;
  /** null when it succeeded. */
  errorType: string | null;
  isByok: boolean;
  /** What a failed attempt costs all the same, by the usage the provider reported. Integer nano-USD; 0 for most. */
  costNanoUsd: number;
  /** Request fields that were not sent, because this provider refuses them. */
  dropped: readonly string[];
}

/** What happened to a call, in order. Append-only. */
export interface Trace {
  readonly attempts: AttemptTrace[];
}

export function newTrace(): Trace {
  return { attempts: [] };
}
