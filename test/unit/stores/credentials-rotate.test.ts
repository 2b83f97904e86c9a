import { describe, expect, it } from 'vitest';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import { storedCredentialSchema } from '../../../src/schema/tenants/credential.ts';
import { perWorkspace } from '../../../src/stores/collection.ts';
import { rotateCredentials } from '../../../src/stores/credentials/rotate.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';
import type { Vault } from '../../../src/stores/vault/index.ts';
import {
  acme,
  instance,
  interleaved,
  type MemoryStorage,
  masterSecrets,
  rival,
  setUp,
} from '../../support/credentials.ts';

const { first, second } = masterSecrets;
const onlyOld = { secrets: { current: first } };
const both = { secrets: { current: second, previous: [first] } };
const onlyNew = { secrets: { current: second } };
const empty = '44444444-4444-4444-8444-444444444444' as WorkspaceId;

function rotation(storage: Storage, vault: Vault, signal?: AbortSignal) {
  async function* workspaces() {
    yield* [acme, empty, rival];
  }
  const credentials = perWorkspace({ storage, kind: 'credential', schema: storedCredentialSchema });
  return rotateCredentials({ storage, vault, credentials, workspaces }, signal);
}

/** `count` in one workspace and one in another, sealed with the old secret. */
async function sealedBefore(count: number) {
  const { storage, clock, credentials } = setUp({ ...onlyOld, maxPerWorkspace: 1000 });
  const ids: string[] = [];
  for (let at = 0; at < count; at++)
    ids.push((await credentials(acme).create({ provider: 'openai', key: `key-${at}` })).id);
  const lone = (await credentials(rival).create({ provider: 'groq', key: 'lone' })).id;
  return { storage, clock, ids, lone, old: credentials };
}

async function keyIds(storage: MemoryStorage, ids: readonly string[]): Promise<Set<string>> {
  const records = await Promise.all(ids.map((id) => storage.credential(acme, id)));
  return new Set(records.map(({ sealed }) => sealed.keyId));
}

describe('a rotation', () => {
  it('seals all of all workspaces anew, after which the old secret is not needed', async () => {
    const { storage, clock, ids, lone } = await sealedBefore(230);
    expect(await rotation(storage, instance(storage, clock, both).vault)).toEqual({
      checked: 231,
      resealed: 231,
      failed: [],
    });
    const fresh = instance(storage, clock, onlyNew).credentials;
    for (const [at, id] of ids.entries()) expect(await fresh(acme).open(id)).toEqual({ secret: `key-${at}` });
    expect(await fresh(rival).open(lone)).toEqual({ secret: 'lone' });
    expect(await rotation(storage, instance(storage, clock, onlyNew).vault)).toEqual({
      checked: 231,
      resealed: 0,
      failed: [],
    });
  });

  it('names those that do not open, and goes on', async () => {
    const { storage, clock, ids, lone } = await sealedBefore(4);
    const [moved, damaged, misplaced, sound] = ids as [string, string, string, string];
    const other = await storage.credential(rival, lone);
    await storage.forge(acme, moved, { ...(await storage.credential(acme, moved)), sealed: other.sealed });
    await storage.forge(acme, damaged, '{"id":');
    await storage.forge(acme, misplaced, { ...(await storage.credential(acme, misplaced)), id: lone });
    const done = await rotation(storage, instance(storage, clock, both).vault);
    expect({ ...done, failed: done.failed.sort() }).toEqual({
      checked: 5,
      resealed: 2,
      failed: [moved, damaged, misplaced].sort(),
    });
    expect(await instance(storage, clock, onlyNew).credentials(rival).open(lone)).toEqual({ secret: 'lone' });
    expect((await storage.credential(acme, sound)).sealed.keyId).not.toBe(other.sealed.keyId);
  });

  it('that broke off for an outage is taken up again where it was', async () => {
    const { storage, clock, ids } = await sealedBefore(40);
    let left = 15;
    const failing: Storage = {
      ...storage,
      commit: (changes) => (left-- > 0 ? storage.commit(changes) : Promise.reject(new Error('away'))),
    };
    const { vault } = instance(storage, clock, both);
    await expect(rotation(failing, vault)).rejects.toThrow('away');
    expect((await keyIds(storage, ids)).size).toBe(2);
    expect(await rotation(storage, vault)).toEqual({ checked: 41, resealed: 41 - 15, failed: [] });
    expect((await keyIds(storage, ids)).size).toBe(1);
  });

  it('can be broken off', async () => {
    const { storage, clock, ids } = await sealedBefore(40);
    const controller = new AbortController();
    let commits = 0;
    const counting: Storage = {
      ...storage,
      commit(changes) {
        commits += 1;
        controller.abort(new Error('enough'));
        return storage.commit(changes);
      },
    };
    await expect(rotation(counting, instance(storage, clock, both).vault, controller.signal)).rejects.toThrow('enough');
    expect(commits).toBeLessThan(10);
    expect((await keyIds(storage, ids)).size).toBe(2);
  });

  it('by two processes at once, beside others that change, add and delete, loses nothing and fails nobody', async () => {
    const { storage, clock, ids } = await sealedBefore(120);
    const a = instance(interleaved(storage), clock, both);
    const b = instance(interleaved(storage), clock, both);
    const use = async (round: number) => {
      const at = (round * 7) % 100;
      const id = ids[at] as string;
      expect(await a.credentials(acme).open(id)).toEqual({ secret: `key-${at}` });
      await b.credentials(acme).update(id, { name: `named ${round}` });
      await a.credentials(acme).create({ provider: 'groq', key: `added-${round}` });
      await b.credentials(acme).delete(ids[100 + (round % 20)] as string);
    };
    const [one, two] = await Promise.all([
      rotation(storage, a.vault),
      rotation(storage, b.vault),
      ...Array.from({ length: 40 }, (_, round) => use(round)),
    ]);
    expect([one.failed, two.failed]).toEqual([[], []]);
    await rotation(storage, a.vault);
    const fresh = instance(storage, clock, onlyNew).credentials(acme);
    for (let at = 0; at < 100; at++) expect(await fresh.open(ids[at] as string)).toEqual({ secret: `key-${at}` });
    const { total, records } = await fresh.list({ offset: 0, limit: 500 });
    expect(total).toBe(140);
    for (let round = 0; round < 40; round++) {
      const { name } = records.find(({ id }) => id === ids[(round * 7) % 100]) as { name: string | null };
      expect(name).toMatch(/^named /);
    }
  });

  it('needs a master key', async () => {
    const { storage, clock } = await sealedBefore(1);
    await expect(rotation(storage, instance(storage, clock, { secrets: null }).vault)).rejects.toMatchObject({
      status: 503,
    });
  });
});
