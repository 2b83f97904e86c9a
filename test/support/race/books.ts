import { setTimeout as sleep } from 'node:timers/promises';
import { limitToNano } from '../../../src/base/money.ts';
import { type Interval, intervals, windowOf } from '../../../src/base/windows.ts';
import { parseWorkspaceId, type WorkspaceId } from '../../../src/call/workspace.ts';
import type { Gateway } from '../../../src/gateway.ts';
import type { Ledger, LimitedWindow, SpendingWindow, WindowState } from '../../../src/stores/ledger/ledger.ts';
import { manage } from './gateway.ts';
import type { Booked } from './run.ts';

/** What a tenant's requests for `race/byok` are sent with. */
export const byokKey = 'gsk-brought-by-the-workspace-0123456789';

/** A workspace that several processes spend the budgets of. */
export interface Tenant {
  workspaceId: WorkspaceId;
  /** Of its own credential. */
  credentialId: string;
  keys: { key: string; hash: string; includesByok: boolean }[];
  /** All of its limits, by account and interval. Integer nano-USD. */
  limits: { account: string; interval: Interval; limitNanoUsd: number }[];
}

export interface TenantLimits {
  /** USD by interval. */
  budgets: Partial<Record<Interval, number>>;
  /** Of each key but the first, which has none. */
  keys: readonly {
    limit: number;
    limit_reset: 'daily' | 'weekly' | 'monthly' | null;
    include_byok_in_limit?: boolean;
  }[];
}

export async function newTenant(gateway: Gateway, { budgets, keys }: TenantLimits): Promise<Tenant> {
  const { data } = await manage(gateway, 'POST', '/workspaces', { name: 'Race', slug: `race-${crypto.randomUUID()}` });
  const own = { provider: 'groq', key: byokKey, workspace_id: data.id };
  const { data: credential } = await manage(gateway, 'POST', '/byok', own);
  const workspaceId = parseWorkspaceId(data.id) as WorkspaceId;
  const tenant: Tenant = { workspaceId, credentialId: credential.id, keys: [], limits: [] };
  for (const [interval, limit_usd] of Object.entries(budgets) as [Interval, number][]) {
    await manage(gateway, 'PUT', `/workspaces/${data.id}/budgets/${interval}`, { limit_usd });
    tenant.limits.push({ account: 'workspace', interval, limitNanoUsd: limitToNano(limit_usd) as number });
  }
  for (const limited of [null, ...keys]) {
    const made = await manage(gateway, 'POST', '/keys', { name: 'Race', workspace_id: data.id, ...limited });
    const includesByok = limited?.include_byok_in_limit ?? false;
    tenant.keys.push({ key: made.key, hash: made.data.hash, includesByok });
    if (limited === null) continue;
    tenant.limits.push({
      account: `key:${made.data.hash}`,
      interval: limited.limit_reset ?? 'lifetime',
      limitNanoUsd: limitToNano(limited.limit) as number,
    });
  }
  return tenant;
}

/** All windows of all accounts, limited or not, that an instant of these lies in. */
export function windowsOf({ keys }: Pick<Tenant, 'keys'>, instants: readonly number[]): SpendingWindow[] {
  const windows = new Map<string, SpendingWindow>();
  for (const account of ['workspace', ...keys.map(({ hash }) => `key:${hash}`)]) {
    for (const interval of intervals) {
      for (const atMs of instants) {
        const window = { account, interval, ...windowOf(interval, atMs) };
        windows.set(`${account} ${interval} ${window.startMs}`, window);
      }
    }
  }
  return [...windows.values()];
}

/** The same windows, each with the limit that the tenant has there. */
export function limited({ limits }: Tenant, windows: readonly SpendingWindow[]): LimitedWindow[] {
  return windows.map((window) => {
    const found = limits.find((one) => one.account === window.account && one.interval === window.interval);
    return { ...window, limitNanoUsd: found?.limitNanoUsd ?? Number.POSITIVE_INFINITY };
  });
}

/** What the books have to say of these windows when all is settled. */
export function statesOf(
  { keys }: Tenant,
  windows: readonly SpendingWindow[],
  booked: readonly Booked[],
): WindowState[] {
  return windows.map(({ account, startMs, endMs }) => {
    const countsByok = keys.some(({ hash, includesByok }) => includesByok && account === `key:${hash}`);
    const ofWindow = booked.filter(
      ({ apiKeyHash, receivedAtMs }) =>
        (account === 'workspace' || account === `key:${apiKeyHash}`) &&
        receivedAtMs >= startMs &&
        (endMs === null || receivedAtMs < endMs),
    );
    const cost = ({ nanoUsd, byokNanoUsd }: Booked) => nanoUsd + (countsByok ? byokNanoUsd : 0);
    return { spentNanoUsd: ofWindow.reduce((sum, one) => sum + cost(one), 0), heldNanoUsd: 0 };
  });
}

/** @throws Error when something is still held after so long */
export async function untilNothingHeld(
  ledger: Ledger,
  { workspaceId }: Tenant,
  windows: readonly SpendingWindow[],
  limitMs = 20_000,
): Promise<void> {
  const endMs = performance.now() + limitMs;
  for (;;) {
    const held = (await ledger.read(workspaceId, windows)).map(({ heldNanoUsd }) => heldNanoUsd);
    if (held.every((nanoUsd) => nanoUsd === 0)) return;
    if (performance.now() > endMs) throw new Error(`Still held after ${limitMs} ms: ${held.join(', ')}`);
    await sleep(20);
  }
}
