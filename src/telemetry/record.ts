import type { CostParts, GenerationOutcome, GenerationTimes } from '../call/generation.ts';
import type { Exclusion } from '../call/plan.ts';
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
  /** Labels of the api key; empty: it has none. */
  tags: readonly string[];
  /** HTTP status of the response, or of the error event in a stream that broke; 499 where the client left. */
  status: number;
  /** What went wrong, as it was reported to the client; null: nothing did. */
  error: { type: string; message: string } | null;
  /** Epoch ms: when the request arrived. */
  receivedAtMs: number;
  /** Time from the arrival to the end. */
  totalMs: number;
}

/** One upstream response, with all attempts that led to it. */
export interface GenerationRecord {
  /** Slug as sent. */
  requested: string;
  /** Slug of the model that served; null when none did. */
  model: string | null;
  /** Display name of the provider that served; null when none did. */
  provider: string | null;
  /** Request fields that were not set, and got the default of the model that served. */
  defaulted: readonly string[];
  /** How it ended. `cut`: failed after the first token. `cancelled`: the client left. */
  outcome: GenerationOutcome;
  /** HTTP status of its end; 499 when it was cancelled. */
  status: number;
  /** When each stage was reached. */
  times: Readonly<GenerationTimes>;
  /** Every attempt, in order. */
  attempts: readonly AttemptTrace[];
  /** The endpoints that were not candidates, each with the rule that removed it. */
  excluded: readonly Exclusion[];
  /** With the cost in USD; null when no provider served. */
  usage: Usage | null;
  /** true: the provider reported no usage, and the gateway counted it. */
  isEstimated: boolean;
  /** The worst case that was held, integer nano-USD; 0 where nothing is limited. */
  heldNanoUsd: number;
  /** What was booked, failed attempts included, integer nano-USD; null: the price is not known. */
  costNanoUsd: number | null;
  /** Of the target that served; null when its price is not known or none served. */
  costParts: CostParts | null;
  /** Why the response ended, as the client saw it; null: there was none. */
  finishReason: string | null;
  /** The same, as the provider named it; null: there was none. */
  nativeFinishReason: string | null;
  /** The service tier, as the provider named it; null: it named none. */
  serviceTier: string | null;
  /** The provider's own id of the request that served; null where it sent none. */
  upstreamRequestId: string | null;
}

/** One client call that was routed, or was to be: over all of its generations. */
export interface RequestRecord extends RecordBase {
  /** A client call for a completion. */
  kind: 'completion';
  /** Id of the workspace of the request. */
  workspaceId: string;
  /** `gen-…`. */
  id: string;
  /** Name of the operation: `createChatCompletion`, `createResponse` or `compactResponse`. */
  operation: string;
  /** The caller's own grouping key; null for none. */
  sessionId: string | null;
  /** Slug as sent. */
  requested: string;
  /** The router model that chose, such as `service/auto`; null: the request named its models. */
  router: string | null;
  /** What the request's field `trace` names, such as `trace_id`; each of at most 256 characters. null: nothing. */
  trace: Readonly<Record<string, string>> | null;
  /** The header `traceparent` of the request, where it is one of W3C Trace Context; null: it is not. */
  traceparent: string | null;
  /** The header `User-Agent` of the request, at most 256 characters; null: it has none. */
  userAgent: string | null;
  /** The header `HTTP-Referer` of the request, else `Referer`: without its query, at most 256 characters. null: none. */
  referer: string | null;
  /** How many images, videos and files are in the prompt, and how many pieces of audio. */
  promptMedia: { readonly files: number; readonly audio: number };
  /** Slug of the model that served, of several generations the last; null when none did. */
  model: string | null;
  /** Display name of the provider that served; null when none did. */
  provider: string | null;
  /** The workspace's switch `is_data_discount_logging_enabled`; null: not known. */
  dataDiscountLogging: boolean | null;
  /** The workspace's switch `is_observability_broadcast_enabled`; null: not known. */
  broadcast: boolean | null;
  /** true: the request asked for a stream. */
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
  /**
   * All of it, failed attempts and what plugins spent included. null: an endpoint has no known price. Integer nano-USD.
   */
  costNanoUsd: number | null;
  /** The most that was held at once, integer nano-USD; 0 where nothing is limited. */
  heldNanoUsd: number;
  /** What was booked beyond what was held: a limit may be overspent by it. Integer nano-USD. */
  overrunNanoUsd: number;
  /** Of the last generation, as the client saw it; null: there was none. */
  finishReason: string | null;
  /** The same, as the provider named it; null: there was none. */
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
  /** HTTP method of the request. */
  method: string;
  /** The operation's path pattern, such as `/workspaces/:id`; null: no operation has the path that was asked for. */
  path: string | null;
}

/** Takes records of refused requests and of other operations. What it throws is swallowed. */
export type OperationRecorder = (record: OperationRecord) => void;

/** A logger as pino and console have it. */
export interface Logger {
  /** Takes what went as it should. */
  info(fields: object, message: string): void;
  /** Takes what the operator may want to look at. */
  warn(fields: object, message: string): void;
  /** Takes what should never happen. */
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

/** The sinks that there are, as one. @returns null: nobody wants to know */
export function recorderOf<AnyRecord>(
  ...sinks: readonly (((record: AnyRecord) => void) | undefined)[]
): ((record: AnyRecord) => void) | null {
  const wanted = sinks.filter((sink) => sink !== undefined);
  return wanted.length === 0 ? null : recordTo(wanted);
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
    ...(record.overrunNanoUsd > 0 ? { overrunNanoUsd: record.overrunNanoUsd } : {}),
    ...(record.generations.length > 1 ? { generations: record.generations.length } : {}),
    costNanoUsd,
    ...(record.error === null ? {} : { error: record.error.type }),
    ...(record.error !== null && status === 403 ? { reason: record.error.message } : {}),
  };
  if (outcome === 'ok' || outcome === 'cancelled') logger.info(fields, 'request');
  else logger.warn(fields, 'request');
}

/** Lines about requests with a status of 401 or 403, in a minute; further ones are counted. */
const maxDeniedLines = 60;
const deniedWindowMs = 60_000;

/**
 * One line per refused request or other operation. Refusals are the caller's doing, so they are no warnings. Whoever
 * tries keys gets one line for each, with the reason, up to 60 in a minute: the first line of a later minute says how
 * many were left out. Their records reach `onOperation` all the same.
 */
export function operationLog(logger: Logger): OperationRecorder {
  let windowStartMs = Number.NEGATIVE_INFINITY;
  let written = 0;
  let unlogged = 0;

  /** @returns how many lines were left out before this one; null: this one is left out too */
  function admit(nowMs: number): number | null {
    if (nowMs - windowStartMs >= deniedWindowMs || nowMs < windowStartMs) {
      windowStartMs = nowMs;
      written = 0;
    }
    if (written >= maxDeniedLines) {
      unlogged++;
      return null;
    }
    written++;
    const before = unlogged;
    unlogged = 0;
    return before;
  }

  return (record) => {
    const { kind, operation, id, method, path, status, totalMs, workspaceId, apiKeyHash, userId, error } = record;
    const isDenied = status === 401 || status === 403;
    const before = isDenied ? admit(record.receivedAtMs + totalMs) : 0;
    if (before === null) return;
    const fields = {
      ...(id !== null && { id }),
      operation,
      method,
      path,
      status,
      totalMs,
      workspaceId,
      ...(error && { error: error.type }),
      ...(isDenied && { reason: error?.message, apiKeyHash, userId }),
      ...(before > 0 && { unlogged: before }),
    };
    if (status >= 500) logger.warn(fields, kind);
    else logger.info(fields, kind);
  };
}
