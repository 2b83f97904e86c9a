import * as z from 'zod';
import { type Clock, isoTime } from '../base/clock.ts';
import { GatewayError } from '../base/errors.ts';
import type { Caller } from '../call/call.ts';
import { limitedAccounts, type RateDeps } from '../pipeline/admission.ts';
import { type CurrentApiKey, currentApiKeySchema } from '../schema/api-key.ts';
import type { RateLimitState } from '../schema/rate-limits.ts';
import type { ApiKeyRecord, ApiKeyStore } from '../stores/api-keys.ts';
import { jsonReply, type Operation } from './operation.ts';
import { limitAndUsage, type ReadsSpending } from './tenants/api-key-response.ts';

export interface GetCurrentKeyDeps {
  apiKeys: ApiKeyStore;
  spending: ReadsSpending;
  clock: Clock;
  pipeline: { rates: RateDeps };
}

type Described = Pick<
  ApiKeyRecord,
  | 'workspaceId'
  | 'hash'
  | 'label'
  | 'permissions'
  | 'limitNanoUsd'
  | 'limitReset'
  | 'includeByokInLimit'
  | 'creatorUserId'
  | 'expiresAtMs'
>;

/** Returns the request's own key. */
export function getCurrentKey({ apiKeys, spending, clock, pipeline }: GetCurrentKeyDeps): Operation {
  return {
    name: 'getCurrentKey',
    method: 'GET',
    path: '/key',
    permissions: ['inference', 'management'],
    body: null,
    result: () => z.object({ data: currentApiKeySchema() }),
    async run({ caller }) {
      const { apiKeyHash: hash, workspaceId } = caller;
      if (hash === null) throw new GatewayError('not_found', 'The request was let in without an API key');
      const key = (await apiKeys.get(workspaceId, hash)) ?? describe(caller, hash);
      const { limiter } = pipeline.rates;
      const [spent, rateLimits] = await Promise.all([
        limitAndUsage(spending, key, clock.now()),
        limiter.read(workspaceId, limitedAccounts(pipeline.rates, caller)),
      ]);
      return jsonReply({ data: show(key, spent, rateLimits) });
    },
  };
}

/** Describes a key from the gateway's options, which has no record in the store. */
function describe({ workspaceId, permissions, keyLimit, userId }: Caller, hash: string): Described {
  return {
    workspaceId,
    hash,
    label: `key:${hash.slice(0, 8)}`,
    permissions: [...permissions],
    limitNanoUsd: keyLimit?.limitNanoUsd ?? null,
    limitReset: keyLimit === null || keyLimit.interval === 'lifetime' ? null : keyLimit.interval,
    includeByokInLimit: keyLimit?.includesByok ?? false,
    creatorUserId: userId,
    expiresAtMs: null,
  };
}

function show(
  key: Described,
  spent: Awaited<ReturnType<typeof limitAndUsage>>,
  rateLimits: RateLimitState[],
): CurrentApiKey {
  const requests = rateLimits.find(({ name }) => name === 'requests_per_minute')?.limit;
  const isManagement = key.permissions.includes('management');
  return {
    label: key.label,
    permissions: key.permissions,
    ...spent,
    creator_user_id: key.creatorUserId,
    expires_at: key.expiresAtMs === null ? null : isoTime(key.expiresAtMs),
    is_free_tier: false,
    is_management_key: isManagement,
    is_provisioning_key: isManagement,
    rate_limits: rateLimits,
    rate_limit:
      requests === undefined
        ? { requests: -1, interval: '10s', note: 'This field is deprecated; there is no such limit.' }
        : { requests, interval: '1m', note: 'This field is deprecated; see rate_limits.' },
  };
}
