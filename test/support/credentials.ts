import { Keyv } from 'keyv';
import { randomIds } from '../../src/base/ids.ts';
import type { WorkspaceId } from '../../src/call/workspace.ts';
import type { StoredCredential } from '../../src/schema/tenants/credential.ts';
import { type Credentials, createCredentials } from '../../src/stores/credentials/index.ts';
import { memoryLedger } from '../../src/stores/ledger/memory.ts';
import { createOwners, type Owners } from '../../src/stores/owners.ts';
import { keyvStorage } from '../../src/stores/storage/keyv.ts';
import type { Storage } from '../../src/stores/storage/storage.ts';
import { createVault, type Sealer, type Vault } from '../../src/stores/vault/index.ts';
import { keyRing } from '../../src/stores/vault/key-ring.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';

export const randomBytes = (size: number) => crypto.getRandomValues(new Uint8Array(size));

export const masterSecrets = {
  first: 'first-master-secret-of-40-characters-abc',
  second: 'second-master-secret-of-40-characters-ab',
};

export const acme = '11111111-1111-4111-8111-111111111111' as WorkspaceId;
export const rival = '22222222-2222-4222-8222-222222222222' as WorkspaceId;

export const cacheMs = 5_000;

/** A storage in memory, and all that it holds, as texts. */
export interface MemoryStorage extends Storage {
  texts(): string[];
  /** The credential as it lies there. */
  credential(workspaceId: string, id: string): Promise<StoredCredential>;
  /** Puts another in its place, as somebody with access to the store would. */
  forge(workspaceId: string, id: string, record: object | string): Promise<void>;
}

export function memoryStorage(clock: ManualClock): MemoryStorage {
  const map = new Map<string, unknown>();
  const storage = keyvStorage(() => new Keyv({ store: map }), {
    kind: 'memory',
    ledger: memoryLedger({ onLostHold: 'charge' }),
    isShared: false,
    clock,
    timeoutMs: 250,
  });
  const at = (partition: string, id: string) => ({ partition, kind: 'credential', id });
  return {
    ...storage,
    texts: () => [...map].flatMap(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
    credential: async (workspaceId, id) => JSON.parse((await storage.get(at(workspaceId, id))) ?? 'null'),
    async forge(workspaceId, id, record) {
      const value = typeof record === 'string' ? record : JSON.stringify(record);
      await storage.commit([{ at: at(workspaceId, id), value, rank: 0 }]);
    },
  };
}

/**
 * A storage every call of which takes some turns of the event loop, as those of a server do: others come in between.
 */
export function interleaved(storage: Storage): Storage {
  let calls = 0;
  const turns = async () => {
    calls += 1;
    for (let turn = (calls * 7) % 5; turn >= 0; turn--) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    ...storage,
    get: async (...of) => turns().then(() => storage.get(...of)),
    list: async (...of) => turns().then(() => storage.list(...of)),
    commit: async (...of) => turns().then(() => storage.commit(...of)),
  };
}

/** One process on a store. */
export interface Instance {
  credentials: (workspaceId: WorkspaceId) => Credentials;
  owners: Owners;
  vault: Vault;
  warnings: { fields: object; message: string }[];
  /** How often the vault opened a secret. */
  opened: () => number;
}

export interface InstanceOptions {
  secrets?: { current: string; previous?: readonly string[] } | null;
  sealer?: Sealer;
  maxPerWorkspace?: number;
}

export function instance(storage: Storage, clock: ManualClock, options: InstanceOptions = {}): Instance {
  const { secrets = { current: masterSecrets.first }, maxPerWorkspace } = options;
  const sealer = options.sealer ?? (secrets ? keyRing(secrets, randomBytes) : null);
  const vault = createVault({ sealer, randomBytes });
  const owners = createOwners(storage);
  const warnings: Instance['warnings'] = [];
  let count = 0;
  const counted: Vault = {
    ...vault,
    open: (...of) => {
      count += 1;
      return vault.open(...of);
    },
  };
  return {
    owners,
    vault,
    warnings,
    opened: () => count,
    credentials: createCredentials({
      storage,
      vault: counted,
      owners,
      clock,
      ids: randomIds,
      cacheMs,
      maxPerWorkspace,
      warn: (fields, message) => warnings.push({ fields, message }),
    }),
  };
}

/** A store with one instance on it. */
export function setUp(options?: InstanceOptions) {
  const clock = manualClock();
  const storage = memoryStorage(clock);
  return { clock, storage, ...instance(storage, clock, options) };
}
