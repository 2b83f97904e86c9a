import * as z from 'zod';
import type { Clock } from '../../base/clock.ts';
import type { GatewayError } from '../../base/errors.ts';
import { limitToNano } from '../../base/money.ts';
import { refusal } from '../../base/refusal.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import {
  type ApiKey,
  type ApiKeyFields,
  apiKeySchema,
  type CreateApiKey,
  createApiKeySchema,
} from '../../schema/tenants/api-key.ts';
import { reachableWorkspace, setBy } from '../../stores/access.ts';
import { checkModelsWithin } from '../../stores/api-keys/allowed-models.ts';
import type { ApiKeyStore } from '../../stores/api-keys/index.ts';
import type { Guardrails } from '../../stores/guardrails.ts';
import type { Workspaces } from '../../stores/workspaces.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { type ReadsSpending, showApiKey } from './response.ts';

export interface CreateApiKeyDeps {
  workspaces: Workspaces;
  apiKeys: ApiKeyStore;
  guardrails: (workspaceId: WorkspaceId) => Pick<Guardrails, 'inherit'>;
  spending: ReadsSpending;
  clock: Clock;
}

/**
 * Creates a key. No other response contains the key itself. The limits of a caller's own key also limit the keys that
 * it makes.
 */
export function createApiKey(
  deps: CreateApiKeyDeps,
): ApiOperation<'apiKeys.create', ApiKeyFields, { data: ApiKey; key: string }, CreateApiKey> {
  const { workspaces, apiKeys, guardrails, spending, clock } = deps;
  return {
    name: 'createKeys',
    api: 'apiKeys.create',
    method: 'POST',
    path: '/keys',
    permissions: ['management'],
    body: createApiKeySchema,
    result: () => z.object({ data: apiKeySchema(), key: z.string() }),
    async run({ body, caller }) {
      const expiresAtMs = body.expires_at === null ? null : Date.parse(body.expires_at);
      if (expiresAtMs !== null && expiresAtMs <= clock.now()) throw alreadyExpired();
      checkModelsWithin(body.allowed_models, caller.models?.patterns ?? null);
      const workspaceId = await reachableWorkspace(workspaces, caller, body.workspace_id);
      const input = {
        name: body.name,
        permissions: body.permissions,
        limitNanoUsd: body.limit === null ? null : limitToNano(body.limit),
        limitReset: body.limit_reset,
        includeByokInLimit: body.include_byok_in_limit,
        requestsPerMinute: body.requests_per_minute,
        tokensPerMinute: body.tokens_per_minute,
        requestsInFlight: body.requests_in_flight,
        allowedModels: body.allowed_models,
        tags: body.tags,
        creatorUserId: body.creator_user_id === undefined ? caller.userId : body.creator_user_id,
        expiresAtMs,
      };
      const { key, record } = await apiKeys.create(workspaceId, input, setBy(caller), caller.apiKeyHash);
      // Before the response shows the key: the guardrails of its maker act on it, too.
      if (caller.apiKeyHash !== null) await guardrails(workspaceId).inherit(caller.apiKeyHash, record.hash);
      return jsonReply({ data: await showApiKey(spending, record, clock.now()), key }, 201);
    },
  };
}

function alreadyExpired(): GatewayError {
  const message = 'expected a time in the future';
  return refusal('invalid_request', [{ path: 'expires_at', message }]);
}
