import { wrongArgument } from '../../base/refusal.ts';
import { defaultWorkspaceId } from '../../call/workspace.ts';
import { checked } from '../../schema/checked.ts';
import {
  type CheckedNewApiKey,
  type NewApiKey,
  newApiKeySchema,
  type StoredApiKey,
} from '../../schema/tenants/api-key.ts';
import { type FindsWorkspaces, noWorkspace } from '../access.ts';
import type { Owners } from '../owners.ts';
import type { ApiKeyStore } from './index.ts';

/** The keys of callers, which the host app creates and revokes. A key is shown once, at its creation. */
export interface ApiKeys {
  /**
   * @throws GatewayError invalid_request (400) naming every mistake, not_found (404) for an unknown workspace,
   *   unavailable (503)
   */
  create(input?: NewApiKey): Promise<{ key: string; record: StoredApiKey }>;
  /** Finds a key by its hash, from a cache of a few seconds; null: there is no such key. */
  find(hash: string): Promise<StoredApiKey | null>;
  /**
   * Disables or enables a key; null: there is no such key. This instance sees the change at once, other instances
   * within the time of the cache.
   */
  setDisabled(hash: string, disabled: boolean): Promise<StoredApiKey | null>;
  /** @returns false: there was no such key */
  delete(hash: string): Promise<boolean>;
}

export interface HostApiKeysDeps {
  apiKeys: ApiKeyStore;
  owners: Owners;
  workspaces: FindsWorkspaces;
}

/** The API keys as the host app sees and manages them. */
export function hostApiKeys({ apiKeys, owners, workspaces }: HostApiKeysDeps): ApiKeys {
  const isHash = (text: string) => /^[0-9a-f]{64}$/.test(text);
  const ownerOf = async (hash: string) => (isHash(hash) ? owners.of('api-key', hash) : null);
  return {
    async create(input = {}) {
      const { workspaceId, ...rest } = checked<CheckedNewApiKey>(newApiKeySchema(), input);
      const found = workspaceId === undefined ? { id: defaultWorkspaceId } : await workspaces.find(workspaceId);
      if (!found) throw noWorkspace();
      const { key, record } = await apiKeys.create(found.id, rest);
      return { key, record: copyOf(record) };
    },
    async find(hash) {
      checkHash(hash);
      return copyOf(isHash(hash) ? await apiKeys.known(hash) : null);
    },
    async setDisabled(hash, disabled) {
      checkHash(hash);
      if (typeof disabled !== 'boolean') throw wrongArgument('disabled', 'expected boolean');
      const owner = await ownerOf(hash);
      return owner === null ? null : copyOf(await apiKeys.update(owner, hash, { disabled }));
    },
    async delete(hash) {
      checkHash(hash);
      const owner = await ownerOf(hash);
      return owner === null ? false : apiKeys.delete(owner, hash);
    },
  };
}

/** Accepts any string: a hash of another form belongs to no key. @throws GatewayError invalid_request (400) */
function checkHash(hash: unknown): void {
  if (typeof hash !== 'string') throw wrongArgument('hash', 'expected string');
}

/** Copies a record for the host app, which may change its copy: authentication reads the original. */
function copyOf<R>(record: R): R {
  return structuredClone(record);
}
