import type { AttemptTrace } from '../call/trace.ts';
import type { Usage } from '../schema/chat.ts';

/** One finished request: everything a log line, a span or a usage report needs. Holds no prompt, no answer and no key. */
export interface RequestRecord {
  /** `gen-…`. */
  id: string;
  workspaceId: string;
  /** SHA-256 of the api key, hex; null where the host app authenticates. */
  apiKeyHash: string | null;
  /** The caller's own grouping key; null for none. */
  sessionId: string | null;
  /** Slug as sent. */
  requested: string;
  /** Slug and provider (display name) that served; null when none did. */
  model: string | null;
  provider: string | null;
  streamed: boolean;
  /** How it ended. `cut`: failed after the first event. `cancelled`: the client left. */
  outcome: 'ok' | 'failed' | 'cut' | 'cancelled';
  /** HTTP status of the answer, or of the error event in a stream that broke. */
  status: number;
  receivedAtMs: number;
  /** Until the first event or the whole answer was there; null when none was. */
  firstMs: number | null;
  totalMs: number;
  attempts: readonly AttemptTrace[];
  usage: Usage | null;
  /** true: the provider reported no usage; counted here. */
  isEstimated: boolean;
  costNanoUsd: number | null;
}

/** Takes finished records. What it throws is swallowed: telemetry fails open. */
export type Recorder = (record: RequestRecord) => void;

/** A logger as pino and console have it. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Sends each record to the sinks; one that throws does not stop the others, nor the request. */
export function createRecorder(sinks: readonly Recorder[]): Recorder {
  return (record) => {
    for (const sink of sinks) {
      try {
        sink(record);
      } catch {
        // Telemetry fails open: the request has been answered, and there is nobody left to tell.
      }
    }
  };
}

/** One line per request. */
export function logSink(logger: Logger): Recorder {
  return (record) => {
    const { id, requested, model, provider, status, outcome, totalMs, firstMs, attempts, costNanoUsd, workspaceId } =
      record;
    const fields = {
      id,
      workspaceId,
      requested,
      model,
      provider,
      status,
      outcome,
      totalMs,
      firstMs,
      attempts: attempts.length,
      costNanoUsd,
    };
    if (outcome === 'ok' || outcome === 'cancelled') logger.info(fields, 'request');
    else logger.warn(fields, 'request');
  };
}
