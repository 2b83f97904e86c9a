import type { CostParts, GenerationOutcome, GenerationTimes } from '../call/generation.ts';
import type { AttemptTrace } from '../call/trace.ts';
import type { Usage } from '../schema/chat.ts';
import type { PipelineStage } from '../schema/envelope.ts';

/** Who asked, and how it ended: what every record holds. No record holds a prompt, a response or a key. */
interface RecordBase {
  /** null: nobody was authenticated. */
  workspaceId: string | null;
  /** SHA-256 of the api key, hex; null where the host app authenticates, or nobody was authenticated. */
  apiKeyHash: string | null;
  /** The host app's id of the user; null for none. */
  userId: string | null;
  /** HTTP status of the response, or of the error event in a stream that broke; 499 where the client left. */
  status: number;
  /** What went wrong, as it was reported to the client; null: nothing did. */
  error: { type: string; message: string } | null;
  receivedAtMs: number;
  totalMs: number;
}

/** One upstream response, with all attempts that led to it. */
export interface GenerationRecord {
  /** Slug as sent. */
  requested: string;
  /** Slug and provider (display name) that served; null when none did. */
  model: string | null;
  provider: string | null;
  outcome: GenerationOutcome;
  status: number;
  times: Readonly<GenerationTimes>;
  attempts: readonly AttemptTrace[];
  /** With the cost in USD; null when no provider served. */
  usage: Usage | null;
  isEstimated: boolean;
  /** The worst case that was held, and what was booked, failed attempts included. Integer nano-USD. */
  heldNanoUsd: number;
  costNanoUsd: number | null;
  /** Of the target that served; null when its price is not known or none served. */
  costParts: CostParts | null;
  /** As the client saw it, and as the provider named it; null: there was none. */
  finishReason: string | null;
  nativeFinishReason: string | null;
  /** The provider's own id of the request that served; null where it sent none. */
  upstreamRequestId: string | null;
}

/** One client call that was routed, or was to be: over all of its generations. */
export interface RequestRecord extends RecordBase {
  kind: 'completion';
  workspaceId: string;
  /** `gen-…`. */
  id: string;
  /** The caller's own grouping key; null for none. */
  sessionId: string | null;
  /** Slug as sent. */
  requested: string;
  /** Slug and provider (display name) that served; null when none did. Of several generations: of the last. */
  model: string | null;
  provider: string | null;
  streamed: boolean;
  /** How it ended. `cut`: failed after the first token. `cancelled`: the client left. */
  outcome: GenerationOutcome;
  /** When the caller was known, epoch ms. */
  authenticatedAtMs: number;
  /** Until the first token or the complete response was there; null when none was. */
  firstMs: number | null;
  /** Of all generations, in order. */
  attempts: readonly AttemptTrace[];
  /** Of all generations that served, together; null when none did. */
  usage: Usage | null;
  /** true: a provider reported no usage; counted here. */
  isEstimated: boolean;
  /** All of it, failed attempts and what plugins spent included. null: an endpoint has no known price. Integer nano-USD. */
  costNanoUsd: number | null;
  /** The most that was held at once, integer nano-USD; 0 where nothing is limited. */
  heldNanoUsd: number;
  /** Of the last generation, as the client saw it and as the provider named it; null: there was none. */
  finishReason: string | null;
  nativeFinishReason: string | null;
  /** One for each upstream response, in the order they began: times, plan, attempts, money. */
  generations: readonly GenerationRecord[];
  /** What plugins and guardrails did. */
  pipeline: readonly PipelineStage[];
}

/** A request that did not reach the routing of a completion, or any other operation. */
export interface OperationRecord extends RecordBase {
  /** `refusal`: not authenticated, not permitted, not valid, too large, no such path. `operation`: it ran. */
  kind: 'refusal' | 'operation';
  /** Name of the operation, such as `createWorkspace`; null: no operation has this path. */
  operation: string | null;
  /** The `gen-…` id in the response to a refused completion; null for any other. */
  id: string | null;
  method: string;
  /** The operation's path pattern, such as `/workspaces/:id`; null: no operation has the path that was asked for. */
  path: string | null;
}

/** Takes finished records of client calls. What a recorder throws is swallowed: telemetry fails open. */
export type Recorder = (record: RequestRecord) => void;

/** Takes records of refused requests and of other operations. What it throws is swallowed. */
export type OperationRecorder = (record: OperationRecord) => void;

/** A logger as pino and console have it. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Sends each record to the sinks; one that throws does not stop the others, nor the request. */
export function recordTo<AnyRecord>(sinks: readonly ((record: AnyRecord) => void)[]): (record: AnyRecord) => void {
  return (record) => {
    for (const sink of sinks) {
      try {
        sink(record);
      } catch {
        // Telemetry fails open: the request has been served, and there is nobody left to report to.
      }
    }
  };
}

/** One line per client call. */
export function logCompletion(logger: Logger, record: RequestRecord): void {
  const { id, requested, model, provider, status, outcome, totalMs, firstMs, attempts, costNanoUsd, workspaceId } =
    record;
  const fields = {
    id,
    workspaceId,
    ...(record.userId === null ? {} : { userId: record.userId }),
    requested,
    model,
    provider,
    status,
    outcome,
    totalMs,
    firstMs,
    attempts: attempts.length,
    ...(record.generations.length > 1 ? { generations: record.generations.length } : {}),
    costNanoUsd,
    ...(record.error === null ? {} : { error: record.error.type }),
  };
  if (outcome === 'ok' || outcome === 'cancelled') logger.info(fields, 'request');
  else logger.warn(fields, 'request');
}

/** One line per refused request or other operation. Refusals are the caller's doing: a warning for each would let a scanner of ports fill the log. */
export function logOperation(logger: Logger, record: OperationRecord): void {
  const { kind, operation, id, method, path, status, totalMs, workspaceId, error } = record;
  const fields = {
    ...(id !== null && { id }),
    operation,
    method,
    path,
    status,
    totalMs,
    workspaceId,
    ...(error && { error: error.type }),
  };
  if (status >= 500) logger.warn(fields, kind);
  else logger.info(fields, kind);
}
