import { isoTime } from '../../base/clock.ts';
import { isGatewayError } from '../../base/errors.ts';
import type { Caller } from '../../call/call.ts';
import type { AuditEntry, AuditedType } from '../../schema/records/audit.ts';
import type { AuditLog } from '../../stores/audit-log.ts';

/** A resource in its shown form; null: it is not there. */
export type State = Readonly<Record<string, unknown>> | null;

export interface AuditDeps {
  /** null: no changes are kept. */
  auditLog: AuditLog | null;
  clock: { now(): number };
  /** Takes each entry when its outcome is known; null: there is no receiver. */
  onAudit: ((entry: AuditEntry) => void) | null;
  /** Reports that an entry could not be completed. */
  auditFailed(error: unknown, id: string): void;
}

/** A change that is about to be made. */
export interface Change<Result> {
  operation: string;
  type: AuditedType;
  /** null: the change makes the resource, which then gets its id. */
  id: string | null;
  caller: Caller;
  requestId: string | null;
  read(): Promise<State>;
  run(): Promise<Result>;
  /** The resource after the change, and further changed fields. */
  after(result: Result): Promise<{ state: State; id?: string; more?: Record<string, unknown> }>;
}

/**
 * Makes a change and writes it into the log. The entry is written first: if that fails, nothing is changed. The entry
 * is completed after the change; if that fails, it stays with the outcome `unknown`. The entry of a refused change,
 * which has changed nothing, is removed.
 * @throws GatewayError unavailable (503): the log cannot be written, and nothing was changed
 */
export async function writeAhead<Result>(
  deps: AuditDeps & { auditLog: AuditLog },
  change: Change<Result>,
): Promise<Result> {
  const { auditLog, clock } = deps;
  const { caller } = change;
  const before = await change.read();
  const nowMs = clock.now();
  const begun = await auditLog.append(
    {
      created_at: isoTime(nowMs),
      operation: change.operation,
      resource_type: change.type,
      // A path may name a workspace by its slug.
      resource_id: (change.type === 'workspace' && workspaceOf(change.type, before)) || change.id,
      workspace_id: workspaceOf(change.type, before) ?? caller.workspaceId,
      actor: {
        type: caller.managesAll ? 'operator' : 'workspace',
        api_key_hash: caller.apiKeyHash,
        user_id: caller.userId,
        workspace_id: caller.workspaceId,
      },
      request_id: change.requestId,
      outcome: 'unknown',
      before: lasting(before),
      after: null,
    },
    nowMs,
  );
  const told = (entry: AuditEntry) => deps.onAudit?.(entry);
  const quietly = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      deps.auditFailed(error, begun.id);
    }
  };
  let result: Result;
  try {
    result = await change.run();
  } catch (error) {
    // A refusal has changed nothing. After any other error, the outcome is unknown.
    if (isGatewayError(error) && error.status < 500) await quietly(() => auditLog.remove(begun));
    else told(begun);
    throw error;
  }
  let done = begun;
  await quietly(async () => {
    const { state, id, more = {} } = await change.after(result);
    if (before === null && state === null) return auditLog.remove(begun);
    done = {
      ...begun,
      resource_id: id ?? begun.resource_id,
      workspace_id: workspaceOf(change.type, state) ?? begun.workspace_id,
      outcome: 'done',
      ...changed(lasting(before), lasting(state), more),
    };
    await auditLog.replace(begun, done);
  });
  // If there was nothing before and is nothing now, nothing has changed.
  if (done !== begun || before !== null) told(done);
  return result;
}

function workspaceOf(type: AuditedType, state: State): string | undefined {
  const found = type === 'workspace' ? state?.id : state?.workspace_id;
  return typeof found === 'string' ? found : undefined;
}

/** Fields that requests and time change by themselves. */
const passing =
  /^(?:(?:byok_)?usage(?:_daily|_weekly|_monthly)?|limit_remaining|updated_at|resets_at)$|^(?:spent|held|remaining|overspent)_usd$/;

function lasting(state: State): Record<string, unknown> | null {
  return state && Object.fromEntries(Object.entries(state).filter(([field]) => !passing.test(field)));
}

type Fields = Record<string, unknown>;

/** The fields that differ: all fields of a resource that was made or deleted. */
function changed(before: Fields | null, after: Fields | null, more: Fields): Pick<AuditEntry, 'before' | 'after'> {
  if (before === null || after === null) return { before, after: after && { ...after, ...more } };
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => name in after && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const of = (fields: Fields) => Object.fromEntries(names.map((name) => [name, fields[name] ?? null]));
  return { before: of(before), after: { ...of(after), ...more } };
}
