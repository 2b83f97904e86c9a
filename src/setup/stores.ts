import type { Keyv, KeyvStorageAdapter } from 'keyv';
import { LRUCache } from 'lru-cache';
import { type Clock, systemClock } from '../base/clock.ts';
import { type Ids, instanceNames } from '../base/ids.ts';
import { lazily } from '../base/lazily.ts';
import { wrongArgument } from '../base/refusal.ts';
import { defaultWorkspaceId, parseWorkspaceId, type WorkspaceId } from '../call/workspace.ts';
import { stepsOfPatterns } from '../guardrails/stored.ts';
import type { StoredKey } from '../http/authenticate.ts';
import { limitsOrNull } from '../pipeline/call/admission.ts';
import type { WorkspaceDefaults } from '../pipeline/deps.ts';
import type { AuditSettings } from '../schema/records/audit.ts';
import type { BudgetEventSettings } from '../schema/settings/budget-events.ts';
import type { MasterSecrets } from '../schema/settings/master-secrets.ts';
import type { RecordSettings } from '../schema/settings/records.ts';
import type { BudgetSettings, LimitSettings, RateLimitSettings, RedisSettings } from '../schema/settings/settings.ts';
import { storedCredentialSchema } from '../schema/tenants/credential.ts';
import { allowedModelsOf } from '../stores/api-keys/allowed-models.ts';
import { type ApiKeys, hostApiKeys } from '../stores/api-keys/host-api-keys.ts';
import { type ApiKeyRecord, type ApiKeyStore, createApiKeys } from '../stores/api-keys/index.ts';
import { type AuditLog, createAuditLog } from '../stores/audit-log.ts';
import type { BudgetWatch } from '../stores/budget-events/watch.ts';
import { type BudgetsOf, createBudgets } from '../stores/budgets.ts';
import { perWorkspace } from '../stores/collection.ts';
import { type Credentials, createCredentials } from '../stores/credentials/index.ts';
import type { KeyReader } from '../stores/credentials/key.ts';
import { readAll } from '../stores/credentials/read-all.ts';
import { credentialKind } from '../stores/credentials/record.ts';
import { type Rotation, rotateCredentials } from '../stores/credentials/rotate.ts';
import { createGuardrails, type Guardrails } from '../stores/guardrails.ts';
import { type HealthRecords, healthRecords } from '../stores/health-records.ts';
import type { Ledger } from '../stores/ledger/ledger.ts';
import { createOwners, type Owners } from '../stores/owners.ts';
import { createRateLimiter, type RateLimiter } from '../stores/rates/limiter.ts';
import { createSpending } from '../stores/spending/create-spending.ts';
import type { Spending } from '../stores/spending/spending.ts';
import { chooseStorage } from '../stores/storage/choose.ts';
import { guardStorage } from '../stores/storage/guard.ts';
import type { Storage } from '../stores/storage/storage.ts';
import { writeCheck } from '../stores/storage/write-check.ts';
import { createVault, type Sealer, type Vault } from '../stores/vault/index.ts';
import { keyRing } from '../stores/vault/key-ring.ts';
import { limitSealer } from '../stores/vault/limit-sealer.ts';
import { createWorkspaces, type WorkspaceRecord, type Workspaces } from '../stores/workspaces.ts';
import {
  createStoredConversations,
  deleteStoredConversations,
  type StoredConversations,
} from '../telemetry/conversations/stored-conversations.ts';
import type { Logger } from '../telemetry/record.ts';
import { createRecords, deleteRecords, type Records } from '../telemetry/records/records.ts';
import {
  createStoredResponses,
  deleteStoredResponses,
  type StoredResponses,
} from '../telemetry/responses/stored-responses.ts';
import { openBudgetEvents } from './budget-events.ts';
import { SettingsError } from './providers.ts';

/** A Keyv, or an adapter of one. */
export type StoreOption = Keyv | KeyvStorageAdapter;

export interface StoreSettings {
  store?: StoreOption | undefined;
  ledger?: Ledger | undefined;
  storeTimeoutMs: number;
  storeCacheMs: number;
  budgets: Pick<BudgetSettings, 'onLostHold' | 'leaseMs' | 'onUnsharedStore' | 'escrow'>;
  limits: Pick<LimitSettings, 'apiKeys' | 'credentials' | 'credentialPatterns' | 'guardrails' | 'imposedSteps'>;
  redis?: RedisSettings | undefined;
  rateLimits: Pick<RateLimitSettings, 'key' | 'leaseMs' | 'onStoreFailure'>;
  secrets?: MasterSecrets | undefined;
  sealer?: Sealer | undefined;
  /** Reads the key of a provider. */
  readKey?: KeyReader | undefined;
  /** Tells whether a provider gets credentials of workspaces. */
  takesByok?: ((provider: string) => boolean) | undefined;
  audit: AuditSettings;
  budgetEvents: BudgetEventSettings;
  /** The network; absent: the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** A receiver of changes. If there is one, changes are kept. */
  onAudit?: unknown;
  logger?: Logger | undefined;
  clock: Clock;
  random: () => number;
  ids: Ids;
  randomBytes: (size: number) => Uint8Array;
}

/** The stores of a gateway, opened. */
export interface Stores {
  workspaces: Workspaces;
  budgets: BudgetsOf;
  credentials: (workspaceId: WorkspaceId) => Credentials;
  apiKeys: ApiKeyStore;
  guardrails: (workspaceId: WorkspaceId) => Guardrails;
  owners: Owners;
  /** null: no changes are kept. */
  auditLog: AuditLog | null;
  spending: Spending;
  /** null: the events of budgets have no receiver. */
  budgetWatch: BudgetWatch | null;
  rateLimiter: RateLimiter;
  /** The API keys for the host app. */
  hostApiKeys: ApiKeys;
  /** The defaults of a workspace, for requests that set no value; without a promise where they are in memory. */
  defaultsOf(id: WorkspaceId): WorkspaceDefaults | Promise<WorkspaceDefaults>;
  /** Finds a key by its hash, for authentication; null: there is none. */
  findApiKey(hash: string): StoredKey | null | Promise<StoredKey | null>;
  /** The records by which instances share the health of endpoints; null: no other instance uses this store. */
  healthRecords: HealthRecords | null;
  /**
   * Reads a record and a budget that do not exist, and writes a record, at most every five seconds.
   * @throws GatewayError unavailable (503)
   */
  ping(): Promise<void>;
  /** @param further  workspaces that only the host app knows */
  rotateCredentials(further?: readonly string[]): Promise<Rotation>;
  /** The same store for telemetry, with a circuit of its own: failures there must stop no request. */
  recordStorage: Storage;
  /** Seals provider keys, prompts and responses. */
  vault: Vault;
  close(): Promise<void>;
}

export function openStores(settings: StoreSettings): Stores {
  const {
    clock,
    random,
    ids,
    randomBytes,
    storeCacheMs: cacheMs,
    storeTimeoutMs: timeoutMs,
    budgets,
    limits,
  } = settings;
  const { secrets, sealer, logger = null } = settings;
  const bare = chosen(settings);
  const writes = writeCheck(clock);
  const storage = guardStorage(bare, { clock, timeoutMs, logger, onRefusedWrite: writes.refused });
  // A ledger in memory is never late: a time limit would cost more than the ledger itself.
  const ledger = bare.kind === 'memory' && !settings.ledger ? bare.ledger : storage.ledger;
  const owners = createOwners(storage);
  const vault = createVault({
    sealer: sealer ? limitSealer(sealer, clock, timeoutMs) : secrets ? keyRing(secrets, randomBytes) : null,
    randomBytes,
  });
  const credentialsOf = createCredentials({
    storage,
    vault,
    owners,
    clock,
    ids,
    cacheMs,
    maxPerWorkspace: limits.credentials,
    maxPatterns: limits.credentialPatterns,
    ...(settings.readKey ? { readKey: settings.readKey } : {}),
    ...(settings.takesByok ? { takesByok: settings.takesByok } : {}),
    ...(logger ? { warn: logger.warn.bind(logger) } : {}),
  });
  const credentials = handles(credentialsOf);
  const apiKeys = createApiKeys({
    storage,
    owners,
    clock,
    randomBytes,
    cacheMs,
    maxPerWorkspace: limits.apiKeys,
    rateLimits: settings.rateLimits.key,
    forgotten: (workspaceId, hash) => guardrails(workspaceId).forgetKey(hash),
  });
  const budgetsOf = handles(createBudgets({ storage, clock, ids, cacheMs }));
  const guardrails = createGuardrails({
    storage,
    owners,
    clock,
    ids,
    maxPerWorkspace: limits.guardrails,
    maxSteps: limits.imposedSteps,
    stepsOf: stepsOfPatterns,
    forget: (id) => budgetsOf(id).forget(),
  });
  const events = openBudgetEvents({ ...settings, settings: settings.budgetEvents, storage, ledger, logger });
  const { watch } = events;
  const { leaseMs, onLostHold } = budgets;
  const recordStorage = guardStorage(bare, { clock, timeoutMs, logger });
  // Data in memory is lost with its process anyway, so notes would not help.
  const notes =
    bare.kind === 'memory' ? null : { storage: recordStorage, instance: lazily(instanceNames(randomBytes)) };
  const holding = { leaseMs, onLostHold, escrow: takesSlices(settings, bare) };
  const spending = createSpending({ ledger, notes, clock, ids, random, logger, ...holding, observer: watch });
  const rateLimiter = createRateLimiter({
    rates: bare.kind === 'memory' ? bare.rates : storage.rates,
    clock,
    ids,
    logger,
    leaseMs: settings.rateLimits.leaseMs,
    onStoreFailure: settings.rateLimits.onStoreFailure,
    // A host app that brings its own clock wants it everywhere.
    byClockOfStore: clock === systemClock,
  });
  const workspaces = createWorkspaces({
    storage,
    clock,
    ids,
    cacheMs,
    countLiveKeys: apiKeys.countLive,
    contents: [
      apiKeys.deleteAll,
      (id) => budgetsOf(id).deleteAll(),
      (id) => guardrails(id).deleteAll(),
      async (id) => void (await credentials(id).deleteAll()),
      (id) => rateLimiter.forget(id),
      (id) => deleteRecords(storage, id),
      (id) => deleteStoredResponses(storage, id),
      (id) => deleteStoredConversations(storage, id),
      (id) => events.marks.forget(id),
    ],
    // Also forgets sums that are only counted here, which must not be booked later.
    forgetSpending: (id) => spending.forget(id),
  });
  return {
    workspaces,
    budgets: budgetsOf,
    credentials,
    apiKeys,
    guardrails,
    owners,
    auditLog:
      settings.audit.enabled || settings.onAudit !== undefined
        ? createAuditLog({ storage, clock, ...settings.audit })
        : null,
    spending,
    budgetWatch: watch,
    rateLimiter,
    hostApiKeys: hostApiKeys({ apiKeys, owners, workspaces }),
    defaultsOf: (id) => {
      const known = workspaces.known(id);
      return known instanceof Promise ? known.then(defaultsOf) : defaultsOf(known);
    },
    findApiKey: (hash) => {
      const found = apiKeys.known(hash);
      return found instanceof Promise ? found.then(forAuthentication) : forAuthentication(found);
    },
    healthRecords: healthRecords(storage),
    vault,
    recordStorage,
    async ping() {
      const at = { partition: defaultWorkspaceId, kind: 'probe', id: 'probe' };
      await Promise.all([storage.get(at), ledger.read(defaultWorkspaceId, []), writes.check(storage)]);
    },
    async rotateCredentials(further = []) {
      const named = workspaceIds(further);
      return rotateCredentials({
        storage,
        credentials: perWorkspace({ storage, kind: credentialKind, schema: storedCredentialSchema }),
        vault,
        workspaces: () => everyWorkspace(workspaces, named),
      });
    },
    async close() {
      await spending.close();
      await events.close();
      await rateLimiter.close();
      await storage.close();
    },
  };
}

/** @throws SettingsError */
function chosen({ store, ledger, budgets, redis, clock, storeTimeoutMs: timeoutMs, logger }: StoreSettings): Storage {
  const { onLostHold, onUnsharedStore } = budgets;
  try {
    return chooseStorage(store, {
      onLostHold,
      onUnsharedStore,
      onEviction: redis?.onEviction,
      clock,
      timeoutMs,
      logger: logger ?? null,
      ...(ledger ? { ledger } : {}),
    });
  } catch (error) {
    if (error instanceof TypeError) throw new SettingsError('store', error.message);
    throw error;
  }
}

/**
 * Tells whether money is held out of slices of budgets. Without the option: where a hold is a step over the network.
 * @throws SettingsError where slices cannot keep what the options promise
 */
function takesSlices({ budgets, logger }: StoreSettings, { kind, ledger, isShared }: Storage): boolean {
  const { escrow, onLostHold } = budgets;
  const isRemote = kind === 'redis' || kind === 'postgres';
  const isAble = isShared && ledger.draw !== undefined;
  if (escrow !== true) return escrow === undefined && isRemote && isAble && onLostHold === 'charge';
  if (onLostHold === 'release')
    throw new SettingsError(
      'budgets.escrow',
      "needs onLostHold: 'charge': the costs that a process has not reported when it dies would be free",
    );
  if (kind === 'memory' || isAble) return isShared;
  const what =
    'takes no slices of budgets on this store, or with a ledger without draw: each request is held by itself';
  logger?.warn({ option: 'budgets.escrow' }, what);
  return false;
}

/** The most workspaces whose handles are kept. */
const maxHandles = 1000;

/** Keeps the handles of workspaces, because every request needs them. */
function handles<T extends object>(make: (workspaceId: WorkspaceId) => T): (workspaceId: WorkspaceId) => T {
  const made = new LRUCache<WorkspaceId, T>({ max: maxHandles });
  return (workspaceId) => {
    const known = made.get(workspaceId);
    if (known) return known;
    const handle = make(workspaceId);
    made.set(workspaceId, handle);
    return handle;
  };
}

const noDefaults: WorkspaceDefaults = { textModel: null, imageModel: null, sort: null, isByokOnly: false };
const defaultsIn = new WeakMap<WorkspaceRecord, WorkspaceDefaults>();

function defaultsOf(record: WorkspaceRecord | null): WorkspaceDefaults {
  if (record === null) return noDefaults;
  let defaults = defaultsIn.get(record);
  if (!defaults) {
    const { settings } = record;
    const { io_logging_sampling_rate: samplingRate, io_logging_api_key_ids: apiKeyIds } = settings;
    defaults = {
      textModel: settings.default_text_model,
      imageModel: settings.default_image_model,
      sort: settings.default_provider_sort,
      isByokOnly: settings.is_byok_only,
      ioLogging: settings.is_observability_io_logging_enabled ? { samplingRate, apiKeyIds } : null,
      dataDiscountLogging: settings.is_data_discount_logging_enabled,
      broadcast: settings.is_observability_broadcast_enabled,
    };
    defaultsIn.set(record, defaults);
  }
  return defaults;
}

/** By record: the key that was made of it, because every request needs it. */
const madeOf = new WeakMap<ApiKeyRecord, StoredKey>();

function forAuthentication(record: ApiKeyRecord | null): StoredKey | null {
  if (record === null) return null;
  let made = madeOf.get(record);
  if (!made) {
    const { hash, permissions, workspaceId, disabled, expiresAtMs, limitNanoUsd, limitReset } = record;
    const limit =
      limitNanoUsd === null
        ? null
        : { limitNanoUsd, interval: limitReset ?? ('lifetime' as const), includesByok: record.includeByokInLimit };
    const { requestsPerMinute, tokensPerMinute, requestsInFlight } = record;
    const rateLimits = limitsOrNull({ requestsPerMinute, tokensPerMinute, requestsInFlight }) ?? undefined;
    const models = allowedModelsOf(record.allowedModels);
    const tags = record.tags.length > 0 ? record.tags : undefined;
    made = { hash, permissions, workspaceId, disabled, expiresAtMs, limit, rateLimits, models, tags };
    madeOf.set(record, made);
  }
  return made;
}

/** Checks the ids before anything is sealed anew. @throws GatewayError invalid_request (400) */
function workspaceIds(given: unknown): WorkspaceId[] {
  if (!Array.isArray(given)) throw wrongArgument('workspaces', 'expected array');
  return Array.from(given, (text: unknown, at) => {
    const id = typeof text === 'string' ? parseWorkspaceId(text) : null;
    if (id === null) throw wrongArgument(`workspaces[${at}]`, 'expected the id of a workspace');
    return id;
  });
}

async function* everyWorkspace({ list }: Workspaces, further: readonly WorkspaceId[]): AsyncIterable<WorkspaceId> {
  const seen = new Set<string>();
  for (const { id } of await readAll(list, (workspace) => workspace.id)) {
    seen.add(id);
    yield id;
  }
  for (const id of further) if (!seen.has(id)) yield id;
}

/** Opens the records. @returns null: the operator keeps no records */
export function openRecords(
  { recordStorage: storage, vault, spending }: Pick<Stores, 'recordStorage' | 'vault' | 'spending'>,
  { records: settings, logger = null }: { records: RecordSettings; logger?: Logger | null | undefined },
  clock: Clock,
  instance: () => string,
): Records | null {
  if (!settings.enabled) return null;
  const { bookLost, pending } = spending;
  const records = createRecords({ storage, vault, clock, logger, settings, instance, bookLost, pending });
  spending.recordLost(records.recordLost);
  return records;
}

/** Opens the kept responses. @returns null: the operator keeps no records, and no responses */
export function openResponses(
  { recordStorage: storage, vault }: Pick<Stores, 'recordStorage' | 'vault'>,
  { records: settings }: { records: RecordSettings },
  clock: Clock,
): StoredResponses | null {
  return settings.enabled ? createStoredResponses({ storage, vault, clock, settings }) : null;
}

/** Opens the conversations. @returns null: the operator keeps no records, and no conversations */
export function openConversations(
  { recordStorage: storage, vault }: Pick<Stores, 'recordStorage' | 'vault'>,
  { records: settings }: { records: RecordSettings },
  clock: Clock,
): StoredConversations | null {
  return settings.enabled ? createStoredConversations({ storage, vault, clock, settings }) : null;
}
