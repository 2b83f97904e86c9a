import * as z from 'zod';
import type { Clock } from '../../base/clock.ts';
import {
  type ApiKey,
  apiKeySchema,
  type ListApiKeysFields,
  type ListApiKeysQuery,
  listApiKeysQuery,
} from '../../schema/tenants/api-key.ts';
import { reachableWorkspace } from '../../stores/access.ts';
import type { ApiKeyStore } from '../../stores/api-keys/index.ts';
import type { Workspaces } from '../../stores/workspaces.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { type ReadsSpending, showApiKeys } from './response.ts';

export interface ListApiKeysDeps {
  workspaces: Workspaces;
  apiKeys: ApiKeyStore;
  spending: ReadsSpending;
  clock: Clock;
}

/** Lists the keys of one workspace in the order of creation. Default: the caller's workspace. */
export function listApiKeys(
  deps: ListApiKeysDeps,
): ApiOperation<'apiKeys.list', ListApiKeysFields, { data: ApiKey[] }, unknown, ListApiKeysQuery> {
  const { workspaces, apiKeys, spending, clock } = deps;
  return {
    name: 'list',
    api: 'apiKeys.list',
    method: 'GET',
    path: '/keys',
    permissions: ['management'],
    body: null,
    query: listApiKeysQuery,
    result: () => z.object({ data: z.array(apiKeySchema()) }),
    async run({ query, caller }) {
      const workspaceId = await reachableWorkspace(workspaces, caller, query.workspace_id);
      const records = await apiKeys.list(workspaceId, {
        offset: query.offset,
        limit: query.limit,
        includeDisabled: query.include_disabled,
      });
      return jsonReply({ data: await showApiKeys(spending, records, clock.now()) });
    },
  };
}
