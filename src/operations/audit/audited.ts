import { isGatewayError } from '../../base/errors.ts';
import { sha256Hex } from '../../base/secrets.ts';
import { cleanName } from '../../base/text/clean-text.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { AuditedType } from '../../schema/records/audit.ts';
import type { Guardrails } from '../../stores/guardrails.ts';
import type { Operation, OperationInput } from '../operation.ts';
import { type AuditDeps, type State, writeAhead } from './write-ahead.ts';

export interface AuditedDeps extends AuditDeps {
  guardrails: (workspaceId: WorkspaceId) => Pick<Guardrails, 'get'>;
}

/** The type of resource that each changing operation changes. */
const typeOf: Readonly<Record<string, AuditedType>> = {
  createWorkspace: 'workspace',
  updateWorkspace: 'workspace',
  upsertWorkspace: 'workspace',
  deleteWorkspace: 'workspace',
  upsertWorkspaceBudget: 'budget',
  deleteWorkspaceBudget: 'budget',
  createBYOKKey: 'byok',
  updateBYOKKey: 'byok',
  deleteBYOKKey: 'byok',
  createKeys: 'api_key',
  updateKeys: 'api_key',
  deleteKeys: 'api_key',
  createGuardrail: 'guardrail',
  updateGuardrail: 'guardrail',
  deleteGuardrail: 'guardrail',
  bulkAssignKeysToGuardrail: 'guardrail',
  bulkUnassignKeysFromGuardrail: 'guardrail',
  bulkAssignWorkspacesToGuardrail: 'guardrail',
  bulkUnassignWorkspacesFromGuardrail: 'guardrail',
};

/** The operation that shows a resource, and the parameter with the id of the resource. */
const shownBy: Readonly<Record<AuditedType, { operation: string; parameter: string }>> = {
  workspace: { operation: 'getWorkspace', parameter: 'id' },
  budget: { operation: 'getWorkspaceBudget', parameter: 'interval' },
  byok: { operation: 'getBYOKKey', parameter: 'id' },
  api_key: { operation: 'getKey', parameter: 'hash' },
  guardrail: { operation: 'getGuardrail', parameter: 'id' },
};

/** Wraps operations: each one that changes something writes its change into the log, if there is one. */
export function audited(deps: AuditedDeps, operations: readonly Operation[]): Operation[] {
  const { auditLog } = deps;
  // `null`: no log is kept. Absent: operations are only listed.
  if (!auditLog) return [...operations];
  const named = new Map(operations.map((operation) => [operation.name, operation]));
  return operations.map((operation) => {
    const type = typeOf[operation.name];
    if (type === undefined) return operation;
    const { operation: shows, parameter } = shownBy[type];
    const show = named.get(shows) as Operation;
    const run = (input: OperationInput) => {
      const id = input.params[parameter]?.toLowerCase() ?? null;
      const read = async () => (id === null ? null : stateOf(deps, show, type, input));
      return writeAhead(
        { ...deps, auditLog },
        {
          operation: operation.name,
          type,
          id,
          caller: input.caller,
          requestId: requestIdOf(input.headers),
          read,
          run: () => operation.run(input),
          async after(reply) {
            if (operation.method === 'DELETE') return { state: null };
            const data = reply.kind === 'json' ? (reply.body as { data?: State }).data : undefined;
            // The response of an assignment has only a number, so the state is read.
            const state = data ?? (await read());
            return { state, more: secretsOf(type, input.body), ...(id === null ? { id: idOf(type, state) } : {}) };
          },
        },
      );
    };
    return { ...operation, run };
  });
}

/** null: the resource is not there, or the caller may not see it. */
async function stateOf(deps: AuditedDeps, show: Operation, type: AuditedType, input: OperationInput): Promise<State> {
  try {
    const reply = await show.run({ ...input, body: null, query: {} });
    const state = (reply as { body: { data: Record<string, unknown> } }).body.data;
    if (type !== 'guardrail') return state;
    const stored = await deps.guardrails(state.workspace_id as WorkspaceId).get(state.id as string);
    return { ...state, key_hashes: stored?.keyHashes ?? [] };
  } catch (error) {
    if (isGatewayError(error) && error.status < 500) return null;
    throw error;
  }
}

function idOf(type: AuditedType, state: State): string {
  return String(type === 'api_key' ? state?.hash : state?.id);
}

/** The hash of a provider key, by which the log tells which key was set: provider keys are write-only. */
function secretsOf(type: AuditedType, body: unknown): Record<string, unknown> {
  const key = type === 'byok' ? (body as { key?: unknown }).key : undefined;
  if (key === undefined) return {};
  return { key_sha256: sha256Hex(typeof key === 'string' ? key : JSON.stringify(key)) };
}

function requestIdOf(headers: Headers): string | null {
  const given = headers.get('x-request-id');
  return given === null || given === '' ? null : cleanName(given);
}
