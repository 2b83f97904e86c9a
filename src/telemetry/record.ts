import { tell } from '../base/async/tell.ts';
import type { CostParts, GenerationOutcome, GenerationTimes } from '../call/generation.ts';
import type { Exclusion } from '../call/plan.ts';
import type { AttemptTrace, FollowedWork } from '../call/trace.ts';
import type { Usage } from '../schema/chat/chat.ts';
import type { PipelineStage } from '../schema/chat/envelope.ts';
import { refusalSums } from './refusal-sums.ts';

/**
 * The part that every record has: the caller, and the end of the request. No record contains a prompt, a response or a
 * key.
 */
interface RecordBase {
  /** Id of the workspace; null: the caller was not authenticated. */
  workspaceId: string | null;
  /** SHA-256 of the api key, hex; null: the host app authenticates, or the caller was not authenticated. */
  apiKeyHash: string | null;
  /** The host app's id of the user; null for none. */
  userId: string | null;
  /** Labels of the api key; empty: it has none. */
  tags: readonly string[];
  /** HTTP status of the response, or of the error event in a stream that broke; 499: the client left. */
  status: number;
  /** The error that the client got; null: there was none. */
  error: { type: string; message: string } | null;
  /** Arrival of the request, epoch ms. */
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
  /** Name of the endpoint that served; null when none did. */
  endpoint: string | null;
  /** Request fields that were not set, and got the default of the model that served. */
  defaulted: readonly string[];
  /** The outcome. `cut`: failed after the first token. `cancelled`: the client left. */
  outcome: GenerationOutcome;
  /** HTTP status of its end; 499 when it was cancelled. */
  status: number;
  /** The time of each stage. */
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
  /** The booked cost, failed attempts included, integer nano-USD; null: the price is not known. */
  costNanoUsd: number | null;
  /** The parts of the cost of the target that served; null when its price is not known or none served. */
  costParts: CostParts | null;
  /** The reason why the response ended, as the client saw it; null: there was none. */
  finishReason: string | null;
  /** The same, as the provider named it; null: there was none. */
  nativeFinishReason: string | null;
  /** The service tier, as the provider named it; null: it named none. */
  serviceTier: string | null;
  /** The provider's own id of the request that served; null where it sent none. */
  upstreamRequestId: string | null;
}

/** One client call that was routed, or should have been routed, with all of its generations. */
export interface RequestRecord extends RecordBase {
  /** A client call for a completion. */
  kind: 'completion';
  /** Id of the workspace of the request. */
  workspaceId: string;
  /** `gen-…`. */
  id: string;
  /** Name of the operation: `createChatCompletion`, `createCompletion`, `createResponse` or `compactResponse`. */
  operation: string;
  /** The caller's own grouping key; null for none. */
  sessionId: string | null;
  /** The request's field `user`, at most 256 characters; null: it has none. It grants no access to the record. */
  user: string | null;
  /** Slug as sent. */
  requested: string;
  /** The router model that chose the model, such as `service/auto`; null: the request named its models. */
  router: string | null;
  /** The names in the request's field `trace`, such as `trace_id`; each of at most 256 characters. null: none. */
  trace: Readonly<Record<string, string>> | null;
  /** The header `traceparent` of the request, if it is valid in W3C Trace Context; null: absent or not valid. */
  traceparent: string | null;
  /** The header `User-Agent` of the request, at most 256 characters; null: it has none. */
  userAgent: string | null;
  /** The header `HTTP-Referer` of the request, else `Referer`: without its query, at most 256 characters. null: none. */
  referer: string | null;
  /** The number of images, videos and files in the prompt, and the number of audio inputs. */
  promptMedia: { readonly files: number; readonly audio: number };
  /** Slug of the model that served, the last one of several generations; null when none did. */
  model: string | null;
  /** Display name of the provider that served; null when none did. */
  provider: string | null;
  /** The workspace's switch `is_data_discount_logging_enabled`; null: not known. */
  dataDiscountLogging: boolean | null;
  /** The workspace's switch `is_observability_broadcast_enabled`; null: not known. */
  broadcast: boolean | null;
  /** true: the request asked for a stream. */
  streamed: boolean;
  /** The outcome. `cut`: failed after the first token. `cancelled`: the client left. */
  outcome: GenerationOutcome;
  /** The time at which the caller was known, epoch ms. */
  authenticatedAtMs: number;
  /** Time until the first token or the complete response came; null when none did. */
  firstMs: number | null;
  /** The attempts of all generations, in order. */
  attempts: readonly AttemptTrace[];
  /** The usage of all generations that served, together; null when none did. */
  usage: Usage | null;
  /** true: a provider reported no usage, and the gateway counted it. */
  isEstimated: boolean;
  /**
   * The booked cost, with failed attempts and the spending of plugins, integer nano-USD; null: nothing was booked,
   * because an endpoint has no known price.
   */
  costNanoUsd: number | null;
  /** The part of the cost that was spent with workspaces' own credentials, integer nano-USD. */
  byokNanoUsd: number;
  /** The most that was held at once, integer nano-USD; 0 where nothing is limited. */
  heldNanoUsd: number;
  /** The part of the cost beyond the held amount, by which a limit may be overspent. Integer nano-USD. */
  overrunNanoUsd: number;
  /** The finish reason of the last generation, as the client saw it; null: there was none. */
  finishReason: string | null;
  /** The same, as the provider named it; null: there was none. */
  nativeFinishReason: string | null;
  /** One for each upstream response, in the order they began: times, plan, attempts, money. */
  generations: readonly GenerationRecord[];
  /** The work of plugins and guardrails. */
  pipeline: readonly PipelineStage[];
  /**
   * The work of plugins, guardrails and server tools for which the request waited, with its times, in the order in
   * which it ended; at most 100.
   */
  stages: readonly FollowedWork[];
  /** The part of the cost that plugins, guardrails and server tools have spent beside models, integer nano-USD. */
  expensesNanoUsd: Readonly<Record<'plugins' | 'guardrails' | 'tools', number>>;
}

/** A request that did not reach the routing of a completion, or a request of any other operation. */
export interface OperationRecord extends RecordBase {
  /** `refusal`: not authenticated, not permitted, not valid, too large, or no such path. `operation`: it ran. */
  kind: 'refusal' | 'operation';
  /** Name of the operation, such as `createWorkspace`; null: no operation has this path. */
  operation: string | null;
  /** The `gen-…` id in the response to a refused completion; null for any other. */
  id: string | null;
  /** HTTP method of the request. */
  method: string;
  /** The operation's path pattern, such as `/workspaces/:id`; null: no operation has the requested path. */
  path: string | null;
}

/** Takes records of refused requests and of other operations. Its errors are ignored. */
export type OperationRecorder = (record: OperationRecord) => void;

/** A logger in the form of pino and console. */
export interface Logger {
  /** Takes messages about normal events. */
  info(fields: object, message: string): void;
  /** Takes messages that the operator may want to see. */
  warn(fields: object, message: string): void;
  /** Takes messages about events that should never happen. */
  error(fields: object, message: string): void;
}

/** Wraps a logger of the host app into one that never throws. */
export function safeLogger(logger: Logger): Logger {
  return {
    info: (fields, message) => void tell(() => logger.info(fields, message)),
    warn: (fields, message) => void tell(() => logger.warn(fields, message)),
    error: (fields, message) => void tell(() => logger.error(fields, message)),
  };
}

/** Sends each record to the sinks. A sink that throws does not stop the others, nor the request. */
export function recordTo<AnyRecord>(sinks: readonly ((record: AnyRecord) => void)[]): (record: AnyRecord) => void {
  return (record) => {
    // Telemetry fails open: the request has been served.
    for (const sink of sinks) tell(() => sink(record));
  };
}

/** Joins the given sinks into one. @returns null: there are none */
export function recorderOf<AnyRecord>(
  ...sinks: readonly (((record: AnyRecord) => void) | undefined)[]
): ((record: AnyRecord) => void) | null {
  const wanted = sinks.filter((sink) => sink !== undefined);
  return wanted.length === 0 ? null : recordTo(wanted);
}

/**
 * Makes the log of client calls, one line each. Calls that were refused before a provider was asked, because of a rate
 * limit or of a cooldown, come in floods: of each key, the first in a minute has a line, and further ones have a sum.
 */
export function completionLog(logger: Logger): (record: RequestRecord) => void {
  const sums = refusalSums(logger);
  return (record) => {
    const { status, requested, attempts, apiKeyHash, error } = record;
    sums.endWindow(record.receivedAtMs + record.totalMs);
    const isSummed = attempts.length === 0 && (status === 429 || error?.type === 'cooldown');
    const who = { status, error: error?.type, reason: error?.message, requested, apiKeyHash };
    if (isSummed && !sums.isFirst(who, [status, error?.type, requested, apiKeyHash])) return;
    logCompletion(logger, record);
  };
}

/** Writes one line for a client call. */
function logCompletion(logger: Logger, record: RequestRecord): void {
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
    ...failuresIn(attempts),
    ...(record.error !== null && status === 403 ? { reason: record.error.message } : {}),
  };
  if (outcome === 'ok' || outcome === 'cancelled') logger.info(fields, 'request');
  else logger.warn(fields, 'request');
}

/** Describes failed attempts in our own words: the words of a provider may quote the prompt. */
function failuresIn(attempts: readonly AttemptTrace[]): object {
  const failed = attempts.filter(({ errorType }) => errorType !== null);
  if (failed.length === 0) return {};
  return {
    failures: failed.map(({ provider, providerSlug, endpoint, status, failure }) => ({
      provider,
      // Of most providers, a model has one endpoint.
      ...(endpoint === providerSlug ? {} : { endpoint }),
      status,
      ...(failure === null ? {} : { failure }),
    })),
  };
}

/**
 * Makes the log of refused requests and other operations, one line each. Refusals are the caller's doing, so they are
 * no warnings. Of refusals with a status of 401, 403 and 429, the first of each key in a minute has a line with the
 * reason. Further ones are counted, and the sum is a warning, with the hash of the key, behind that minute. All their
 * records reach `onOperation`.
 */
export function operationLog(logger: Logger): OperationRecorder {
  const sums = refusalSums(logger);
  return (record) => {
    const { kind, operation, id, method, path, status, totalMs, workspaceId, apiKeyHash, userId, error } = record;
    sums.endWindow(record.receivedAtMs + totalMs);
    const isSummed = status === 401 || status === 403 || status === 429;
    const who = { status, ...(error && { error: error.type }), reason: error?.message, apiKeyHash, userId };
    if (isSummed && !sums.isFirst(who, [status, error?.type, operation, apiKeyHash, userId])) return;
    const fields = {
      ...(id !== null && { id }),
      operation,
      method,
      path,
      status,
      totalMs,
      workspaceId,
      ...(error && { error: error.type }),
      ...(isSummed && { reason: error?.message, apiKeyHash, userId }),
    };
    if (status >= 500) logger.warn(fields, kind);
    else logger.info(fields, kind);
  };
}
