import type { Ids } from '../../src/base/ids.ts';
import { randomIds } from '../../src/base/ids.ts';
import type { Caller } from '../../src/call/call.ts';
import { defaultWorkspaceId, type WorkspaceId } from '../../src/call/workspace.ts';
import { type CreateApiKey, createApiKeySchema } from '../../src/schema/tenants/api-key.ts';
import { createWorkspaceSchema, type WorkspaceSettings } from '../../src/schema/tenants/workspace.ts';
import { type ApiKeyInput, type ApiKeyStore, createApiKeys } from '../../src/stores/api-keys/index.ts';
import { type BudgetsOf, createBudgets } from '../../src/stores/budgets.ts';
import { createOwners, type Owners } from '../../src/stores/owners.ts';
import { chooseStorage } from '../../src/stores/storage/choose.ts';
import type { Address, Change, Storage } from '../../src/stores/storage/storage.ts';
import { createWorkspaces, type Workspaces } from '../../src/stores/workspaces.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';

export const cacheMs = 5000;

/** One process on a store. */
export interface TenantInstance {
  workspaces: Workspaces;
  budgets: BudgetsOf;
  apiKeys: ApiKeyStore;
  owners: Owners;
}

export interface TenantStores {
  clock: ManualClock;
  storage: Storage;
  open(options?: InstanceOptions): TenantInstance;
  /** Runs something once, just before a write whose first record is of this kind: between a read and its write. */
  interpose(kind: string, work: () => unknown): void;
}

/** Workspaces, budgets and keys in memory; each `open` is another process on the same store. */
export function tenantStores(): TenantStores {
  const clock = manualClock();
  const memory = chooseStorage(undefined, { clock, timeoutMs: 250, onLostHold: 'charge' });
  const waiting: { kind: string; work: () => unknown }[] = [];
  const storage: Storage = {
    ...memory,
    async commit(changes: readonly Change[]) {
      const at = waiting.findIndex(({ kind }) => changes[0]?.at.kind === kind);
      if (at >= 0) await waiting.splice(at, 1)[0]?.work();
      return memory.commit(changes);
    },
  };
  return {
    clock,
    storage,
    interpose: (kind, work) => void waiting.push({ kind, work }),
    open: (options = {}) => instanceOn(storage, { clock, ...options }),
  };
}

export interface InstanceOptions {
  clock?: ManualClock;
  ids?: Ids;
  contents?: ((id: WorkspaceId) => Promise<void>)[];
}

export function instanceOn(storage: Storage, options: InstanceOptions = {}): TenantInstance {
  const { clock = manualClock(), ids = randomIds, contents = [] } = options;
  const owners = createOwners(storage);
  const randomBytes = (size: number) => crypto.getRandomValues(new Uint8Array(size));
  const apiKeys = createApiKeys({ storage, owners, clock, randomBytes, cacheMs });
  const budgets = createBudgets({ storage, clock, ids, cacheMs });
  const workspaces = createWorkspaces({
    storage,
    clock,
    ids,
    cacheMs,
    countLiveKeys: apiKeys.countLive,
    contents: [apiKeys.deleteAll, (id) => budgets(id).deleteAll(), ...contents],
    forgetSpending: (id) => storage.ledger.forget(id),
  });
  return { workspaces, budgets, apiKeys, owners };
}

/** What a body of POST /workspaces becomes. */
export function workspaceInput(slug: string, rest: Partial<WorkspaceSettings> = {}): WorkspaceSettings {
  return createWorkspaceSchema().parse({ name: slug, slug, ...rest });
}

/** What a body of POST /keys becomes, but for its amounts. */
export function apiKeyInput(rest: Partial<ApiKeyInput> = {}): ApiKeyInput {
  const { name, permissions }: CreateApiKey = createApiKeySchema().parse({ name: 'Test' });
  return {
    name,
    permissions,
    limitNanoUsd: null,
    limitReset: null,
    includeByokInLimit: false,
    requestsPerMinute: null,
    tokensPerMinute: null,
    requestsInFlight: null,
    allowedModels: null,
    tags: [],
    creatorUserId: null,
    expiresAtMs: null,
    ...rest,
  };
}

export function callerOf(rest: Partial<Caller> = {}): Caller {
  return {
    permissions: ['management'],
    apiKeyHash: null,
    workspaceId: defaultWorkspaceId,
    managesAll: true,
    keyLimit: null,
    userId: null,
    ...rest,
  };
}

/** What a host app, or an attacker with access to the store, would write there. */
export async function forge(storage: Storage, at: Address, value: string): Promise<void> {
  await storage.commit([{ at, value, rank: 0 }]);
}
