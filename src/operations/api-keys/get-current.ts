import * as z from 'zod';
import { type Clock, isoTime } from '../../base/clock.ts';
import { cleanName } from '../../base/text/clean-text.ts';
import type { BudgetLimit, Caller } from '../../call/call.ts';
import { limitedAccounts, type RateDeps } from '../../pipeline/call/admission.ts';
import type { NoFields } from '../../schema/page.ts';
import type { BudgetSettings } from '../../schema/settings/settings.ts';
import { type CurrentApiKey, currentApiKeySchema } from '../../schema/tenants/api-key.ts';
import type { RateLimitState } from '../../schema/tenants/rate-limits.ts';
import type { ApiKeyRecord, ApiKeyStore } from '../../stores/api-keys/index.ts';
import type { BudgetsOf } from '../../stores/budgets.ts';
import { workspaceAccount } from '../../stores/spending/windows.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import {
  type AccountSpent,
  type Limit,
  type LimitOfKey,
  limitAndUsage,
  type ReadsSpending,
  showLimitAndUsage,
  spentOf,
} from './response.ts';

export interface GetCurrentKeyDeps {
  apiKeys: ApiKeyStore;
  budgets: BudgetsOf;
  spending: ReadsSpending;
  clock: Clock;
  pipeline: { rates: RateDeps; budgets: Pick<BudgetSettings, 'includeByok'> };
}

type Described = Readonly<
  Pick<ApiKeyRecord, 'workspaceId' | 'label' | 'permissions' | 'creatorUserId' | 'expiresAtMs'>
> & {
  readonly allowedModels: readonly string[] | null;
  readonly tags: readonly string[];
};

/**
 * Returns the request's own key. For a caller without one, such as a user of the host app, it returns the workspace in
 * the same form: the budget that has the least left, and the spending of all its callers.
 */
export function getCurrentKey({
  apiKeys,
  budgets,
  spending,
  clock,
  pipeline,
}: GetCurrentKeyDeps): ApiOperation<'apiKeys.current', NoFields, { data: CurrentApiKey }> {
  return {
    name: 'getCurrentKey',
    api: 'apiKeys.current',
    method: 'GET',
    path: '/key',
    permissions: ['inference', 'management'],
    body: null,
    result: () => z.object({ data: currentApiKeySchema() }),
    async run({ caller }) {
      const { limiter } = pipeline.rates;
      const [{ shown, spent }, rateLimits] = await Promise.all([
        caller.apiKeyHash === null ? ofWorkspace(caller) : ofKey(caller, caller.apiKeyHash),
        limiter.read(caller.workspaceId, limitedAccounts(pipeline.rates, caller)),
      ]);
      const managesAll = caller.managesAll && caller.permissions.includes('management');
      return jsonReply({ data: show(shown, managesAll, spent, rateLimits) });
    },
  };

  async function ofKey(caller: Caller, hash: string) {
    const key = (await apiKeys.get(caller.workspaceId, hash)) ?? describe(caller, hash);
    return { shown: key, spent: await limitAndUsage(spending, key, clock.now()) };
  }

  async function ofWorkspace({ workspaceId, permissions, userId, models, tags }: Caller) {
    const [limits, spent] = await Promise.all([
      budgets(workspaceId).limits(),
      spentOf(spending, workspaceId, workspaceAccount, clock.now()),
    ]);
    const label = userId === null ? `workspace:${workspaceId}` : `user:${cleanName(userId)}`;
    return {
      shown: {
        workspaceId,
        label,
        permissions: [...permissions],
        allowedModels: models?.patterns ?? null,
        tags: tags ?? [],
        creatorUserId: userId,
        expiresAtMs: null,
      },
      spent: showLimitAndUsage(
        { ...tightest(limits, spent.counted), includeByokInLimit: pipeline.budgets.includeByok },
        spent,
      ),
    };
  }
}

/** The budget that has the least left; of several, the one of the longest interval. */
function tightest(limits: readonly BudgetLimit[], spent: AccountSpent['counted']): Omit<Limit, 'includeByokInLimit'> {
  let [found, least]: [BudgetLimit | null, number] = [null, Number.POSITIVE_INFINITY];
  for (const limit of limits) {
    const left = Math.max(0, limit.limitNanoUsd - spent[limit.interval].spentNanoUsd);
    if (left <= least) [found, least] = [limit, left];
  }
  if (found === null) return { limitNanoUsd: null, limitReset: null };
  return { limitNanoUsd: found.limitNanoUsd, limitReset: found.interval === 'lifetime' ? null : found.interval };
}

/** Describes a key from the gateway's options, which has no record in the store. */
function describe(
  { workspaceId, permissions, keyLimit, userId, models, tags }: Caller,
  hash: string,
): Described & LimitOfKey {
  return {
    workspaceId,
    hash,
    label: `key:${hash.slice(0, 8)}`,
    permissions: [...permissions],
    allowedModels: models?.patterns ?? null,
    tags: tags ?? [],
    limitNanoUsd: keyLimit?.limitNanoUsd ?? null,
    limitReset: keyLimit === null || keyLimit.interval === 'lifetime' ? null : keyLimit.interval,
    includeByokInLimit: keyLimit?.includesByok ?? false,
    creatorUserId: userId,
    expiresAtMs: null,
  };
}

function show(
  key: Described,
  managesAll: boolean,
  spent: ReturnType<typeof showLimitAndUsage>,
  rateLimits: RateLimitState[],
): CurrentApiKey {
  const requests = rateLimits.find(({ name }) => name === 'requests_per_minute')?.limit;
  const isManagement = key.permissions.includes('management');
  return {
    label: key.label,
    workspace_id: key.workspaceId,
    permissions: key.permissions,
    manages_all: managesAll,
    ...spent,
    allowed_models: key.allowedModels && [...key.allowedModels],
    tags: [...key.tags],
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
