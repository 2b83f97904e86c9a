import { isoTime } from '../../base/clock.ts';
import { nanoToUsd } from '../../base/money.ts';
import type { Interval } from '../../base/windows.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { ApiKey } from '../../schema/tenants/api-key.ts';
import type { ApiKeyRecord } from '../../stores/api-keys/index.ts';
import { keyAccount } from '../../stores/spending/windows.ts';

/** Reads spending; see `Spending`. */
export interface ReadsSpending {
  /** The spending of an account, in the windows that contain `nowMs`. */
  read(
    workspaceId: WorkspaceId,
    account: string,
    nowMs: number,
  ): Promise<Readonly<Record<Interval, { spentNanoUsd: number }>>>;
}

/** The facts that decide how much of a key's limit is left. */
export interface LimitOfKey {
  workspaceId: WorkspaceId;
  hash: string;
  limitNanoUsd: number | null;
  limitReset: 'daily' | 'weekly' | 'monthly' | null;
  includeByokInLimit: boolean;
}

/** A limit, of a key or of the options. */
export type Limit = Pick<LimitOfKey, 'limitNanoUsd' | 'limitReset' | 'includeByokInLimit'>;

type SpentPerInterval = Readonly<Record<Interval, { spentNanoUsd: number }>>;

/** The spending of an account, in all and through BYOK credentials. */
export interface AccountSpent {
  counted: SpentPerInterval;
  byok: SpentPerInterval;
}

/** @throws GatewayError unavailable (503) */
export async function spentOf(
  spending: ReadsSpending,
  workspaceId: WorkspaceId,
  account: string,
  nowMs: number,
): Promise<AccountSpent> {
  const [counted, byok] = await Promise.all([
    spending.read(workspaceId, account, nowMs),
    spending.read(workspaceId, `${account}:byok`, nowMs),
  ]);
  return { counted, byok };
}

/** The fields of a limit and of its spending. Held sums are in neither: they are the worst case. */
export function showLimitAndUsage({ limitNanoUsd, limitReset, includeByokInLimit }: Limit, spent: AccountSpent) {
  const { counted, byok } = spent;
  const spentNanoUsd = counted[limitReset ?? 'lifetime'].spentNanoUsd;
  return {
    limit: limitNanoUsd === null ? null : nanoToUsd(limitNanoUsd),
    limit_remaining: limitNanoUsd === null ? null : nanoToUsd(Math.max(0, limitNanoUsd - spentNanoUsd)),
    limit_reset: limitReset,
    include_byok_in_limit: includeByokInLimit,
    usage: nanoToUsd(counted.lifetime.spentNanoUsd),
    usage_daily: nanoToUsd(counted.daily.spentNanoUsd),
    usage_weekly: nanoToUsd(counted.weekly.spentNanoUsd),
    usage_monthly: nanoToUsd(counted.monthly.spentNanoUsd),
    byok_usage: nanoToUsd(byok.lifetime.spentNanoUsd),
    byok_usage_daily: nanoToUsd(byok.daily.spentNanoUsd),
    byok_usage_weekly: nanoToUsd(byok.weekly.spentNanoUsd),
    byok_usage_monthly: nanoToUsd(byok.monthly.spentNanoUsd),
  };
}

/** The fields of one key. */
export async function limitAndUsage(spending: ReadsSpending, key: LimitOfKey, nowMs: number) {
  return showLimitAndUsage(key, await spentOf(spending, key.workspaceId, keyAccount(key.hash), nowMs));
}

export async function showApiKey(spending: ReadsSpending, record: ApiKeyRecord, nowMs: number): Promise<ApiKey> {
  const { hash, name, label, permissions, workspaceId, disabled, creatorUserId } = record;
  return {
    hash,
    name,
    label,
    permissions,
    workspace_id: workspaceId,
    disabled,
    ...(await limitAndUsage(spending, record, nowMs)),
    requests_per_minute: record.requestsPerMinute,
    tokens_per_minute: record.tokensPerMinute,
    requests_in_flight: record.requestsInFlight,
    allowed_models: record.allowedModels && [...record.allowedModels],
    tags: [...record.tags],
    creator_user_id: creatorUserId,
    created_at: isoTime(record.createdAtMs),
    updated_at: record.updatedAtMs === null ? null : isoTime(record.updatedAtMs),
    expires_at: record.expiresAtMs === null ? null : isoTime(record.expiresAtMs),
  };
}

/** The number of keys whose spending is read at once: the store has to serve requests meanwhile. */
const atOnce = 8;

export async function showApiKeys(
  spending: ReadsSpending,
  records: readonly ApiKeyRecord[],
  nowMs: number,
): Promise<ApiKey[]> {
  const shown: ApiKey[] = [];
  for (let first = 0; first < records.length; first += atOnce) {
    const some = records.slice(first, first + atOnce);
    shown.push(...(await Promise.all(some.map((record) => showApiKey(spending, record, nowMs)))));
  }
  return shown;
}
