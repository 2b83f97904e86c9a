import * as z from 'zod';
import type { Clock } from '../../base/clock.ts';
import { type ApiKey, apiKeySchema } from '../../schema/tenants/api-key.ts';
import { notOwned, ownerReachable } from '../../stores/access.ts';
import type { ApiKeyStore } from '../../stores/api-keys/index.ts';
import type { Owners } from '../../stores/owners.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { type ReadsSpending, showApiKey } from './response.ts';

export interface GetApiKeyDeps {
  apiKeys: ApiKeyStore;
  owners: Owners;
  spending: ReadsSpending;
  clock: Clock;
}

export function getApiKey({
  apiKeys,
  owners,
  spending,
  clock,
}: GetApiKeyDeps): ApiOperation<'apiKeys.get', { hash: string }, { data: ApiKey }> {
  return {
    name: 'getKey',
    api: 'apiKeys.get',
    method: 'GET',
    path: '/keys/:hash',
    permissions: ['management'],
    body: null,
    result: () => z.object({ data: apiKeySchema() }),
    async run({ params, caller }) {
      const hash = (params.hash as string).toLowerCase();
      const workspaceId = await ownerReachable(owners, caller, 'api-key', hash);
      const record = await apiKeys.get(workspaceId, hash);
      if (!record) throw notOwned('api-key');
      return jsonReply({ data: await showApiKey(spending, record, clock.now()) });
    },
  };
}
