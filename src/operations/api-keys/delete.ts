import * as z from 'zod';
import { notOwned, ownerReachable } from '../../stores/access.ts';
import type { ApiKeyStore } from '../../stores/api-keys/index.ts';
import type { Owners } from '../../stores/owners.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';

export interface DeleteApiKeyDeps {
  apiKeys: ApiKeyStore;
  owners: Owners;
}

export function deleteApiKey({
  apiKeys,
  owners,
}: DeleteApiKeyDeps): ApiOperation<'apiKeys.delete', { hash: string }, { deleted: true }> {
  return {
    name: 'deleteKeys',
    api: 'apiKeys.delete',
    method: 'DELETE',
    path: '/keys/:hash',
    permissions: ['management'],
    body: null,
    result: () => z.object({ deleted: z.literal(true) }),
    async run({ params, caller }) {
      const hash = (params.hash as string).toLowerCase();
      const workspaceId = await ownerReachable(owners, caller, 'api-key', hash);
      if (!(await apiKeys.delete(workspaceId, hash))) throw notOwned('api-key');
      return jsonReply({ deleted: true });
    },
  };
}
