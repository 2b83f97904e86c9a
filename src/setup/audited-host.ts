import { isGatewayError } from '../base/errors.ts';
import { type AuditDeps, type Change, type State, writeAhead } from '../operations/audit/write-ahead.ts';
import type { ApiKeys } from '../stores/api-keys/host-api-keys.ts';
import type { Rotation } from '../stores/credentials/rotate.ts';
import { type InProcessApi, operator } from './in-process.ts';

/** The changes that the host app can make by functions that are no operations. */
export interface HostChanges {
  apiKeys: ApiKeys;
  rotateCredentials(further?: readonly string[]): Promise<Rotation>;
}

/** Wraps the functions: each change gets an entry in the audit log, if there is one. */
export function auditedHost(deps: AuditDeps, api: () => Pick<InProcessApi, 'apiKeys'>, own: HostChanges): HostChanges {
  const { auditLog } = deps;
  if (!auditLog) return own;
  const { apiKeys } = own;
  const written = <Result>(change: Omit<Change<Result>, 'caller' | 'requestId'>) =>
    writeAhead({ ...deps, auditLog }, { caller: operator, requestId: null, ...change });

  /** The state as GET /keys/{hash} shows it; null: there is no such key. */
  async function stateOf(hash: unknown): Promise<State> {
    try {
      return (await api().apiKeys.get({ hash: String(hash) })).data as unknown as State;
    } catch (error) {
      if (isGatewayError(error) && error.status < 500) return null;
      throw error;
    }
  }

  return {
    apiKeys: {
      ...apiKeys,
      create: (input) =>
        written({
          operation: 'createKeys',
          type: 'api_key',
          id: null,
          read: async () => null,
          run: () => apiKeys.create(input),
          after: async ({ record }) => ({ state: await stateOf(record.hash), id: record.hash }),
        }),
      setDisabled: (hash, disabled) =>
        written({
          operation: 'updateKeys',
          type: 'api_key',
          id: String(hash),
          read: () => stateOf(hash),
          run: () => apiKeys.setDisabled(hash, disabled),
          after: async () => ({ state: await stateOf(hash) }),
        }),
      delete: (hash) =>
        written({
          operation: 'deleteKeys',
          type: 'api_key',
          id: String(hash),
          read: () => stateOf(hash),
          run: () => apiKeys.delete(hash),
          after: async () => ({ state: null }),
        }),
    },
    rotateCredentials: (further) =>
      written({
        operation: 'rotateCredentials',
        type: 'byok',
        id: null,
        read: async () => null,
        run: () => own.rotateCredentials(further),
        // The rotation covers all workspaces, so the entry names no single credential.
        after: async (rotation) => ({ state: { ...rotation } }),
      }),
  };
}
