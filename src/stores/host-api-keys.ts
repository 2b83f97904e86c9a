import { limitToNano } from '../base/money.ts';
import { defaultWorkspaceId } from '../call/workspace.ts';
import { type NewApiKey, newApiKeySchema, type StoredApiKey } from '../schema/api-key.ts';
import { type FindsWorkspaces, noWorkspace } from './access.ts';
import type { ApiKeyStore } from './api-keys.ts';
import type { Owners } from './owners.ts';

/** The keys of callers, which the host app creates and revokes. A key is shown once, at its creation. */
export interface ApiKeys {
  /** @throws ZodError for wrong input; GatewayError not_found (404) for an unknown workspace, unavailable (503) */
  create(input?: NewApiKey): Promise<{ key: string; record: StoredApiKey }>;
  /** By hash; null: there is no such key. From a cache of a few seconds. */
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
      const { workspace, limitUsd, ...rest } = newApiKeySchema().parse(input);
      const found = workspace === undefined ? { id: defaultWorkspaceId } : await workspaces.find(workspace);
      if (!found) throw noWorkspace();
      const limitNanoUsd = limitUsd === null ? null : limitToNano(limitUsd);
      return apiKeys.create(found.id, { ...rest, limitNanoUsd });
    },
    find: async (hash) => (isHash(hash) ? apiKeys.known(hash) : null),
    async setDisabled(hash, disabled) {
      const owner = await ownerOf(hash);
      return owner === null ? null : apiKeys.update(owner, hash, { disabled });
    },
    async delete(hash) {
      const owner = await ownerOf(hash);
      return owner === null ? false : apiKeys.delete(owner, hash);
    },
  };
}
