import * as z from 'zod';
import type { Clock } from '../../base/clock.ts';
import { limitToNano } from '../../base/money.ts';
import { type ApiKey, apiKeySchema, type UpdateApiKey, updateApiKeySchema } from '../../schema/tenants/api-key.ts';
import { notOwned, ownerReachable, setBy } from '../../stores/access.ts';
import { checkModelsWithin } from '../../stores/api-keys/allowed-models.ts';
import type { ApiKeySettings, ApiKeyStore } from '../../stores/api-keys/index.ts';
import type { Owners } from '../../stores/owners.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { type ReadsSpending, showApiKey } from './response.ts';

export interface UpdateApiKeyDeps {
  apiKeys: ApiKeyStore;
  owners: Owners;
  spending: ReadsSpending;
  clock: Clock;
}

/** Changes a key. A caller bound to the workspace cannot lift a limit of an operator. */
export function updateApiKey({
  apiKeys,
  owners,
  spending,
  clock,
}: UpdateApiKeyDeps): ApiOperation<'apiKeys.update', { hash: string } & UpdateApiKey, { data: ApiKey }, UpdateApiKey> {
  return {
    name: 'updateKeys',
    api: 'apiKeys.update',
    method: 'PATCH',
    path: '/keys/:hash',
    permissions: ['management'],
    body: updateApiKeySchema,
    result: () => z.object({ data: apiKeySchema() }),
    async run({ params, body, caller }) {
      const hash = (params.hash as string).toLowerCase();
      const workspaceId = await ownerReachable(owners, caller, 'api-key', hash);
      checkModelsWithin(body.allowed_models, caller.models?.patterns ?? null);
      const record = await apiKeys.update(workspaceId, hash, settingsOf(body), setBy(caller));
      if (!record) throw notOwned('api-key');
      return jsonReply({ data: await showApiKey(spending, record, clock.now()) });
    },
  };
}

function settingsOf(body: UpdateApiKey): Partial<ApiKeySettings> {
  const { name, permissions, disabled, limit, limit_reset: limitReset, include_byok_in_limit: includesByok } = body;
  const { requests_per_minute: requests, tokens_per_minute: tokens, requests_in_flight: inFlight } = body;
  const { allowed_models: allowedModels, tags } = body;
  return {
    ...(name === undefined ? {} : { name }),
    ...(permissions === undefined ? {} : { permissions }),
    ...(disabled === undefined ? {} : { disabled }),
    ...(limit === undefined ? {} : { limitNanoUsd: limit === null ? null : limitToNano(limit) }),
    ...(limitReset === undefined ? {} : { limitReset }),
    ...(includesByok === undefined ? {} : { includeByokInLimit: includesByok }),
    ...(requests === undefined ? {} : { requestsPerMinute: requests }),
    ...(tokens === undefined ? {} : { tokensPerMinute: tokens }),
    ...(inFlight === undefined ? {} : { requestsInFlight: inFlight }),
    ...(allowedModels === undefined ? {} : { allowedModels }),
    ...(tags === undefined ? {} : { tags }),
  };
}
