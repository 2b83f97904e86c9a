import { describe, expect, it } from 'vitest';
import type { StoredCredential } from '../../../src/schema/tenants/credential.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';
import { keyRing } from '../../../src/stores/vault/key-ring.ts';
import { acme, cacheMs, instance, masterSecrets, randomBytes, rival, setUp } from '../../support/credentials.ts';
import { settle } from '../../support/manual-clock.ts';

const key = 'sk-first-key-0123456789abcdef';
const other = 'sk-other-key-fedcba9876543210';
const { first, second } = masterSecrets;
const onlyOld = { secrets: { current: first } };
const both = { secrets: { current: second, previous: [first] } };
const onlyNew = { secrets: { current: second } };

/** Until the condition holds; what is waited for is encryption on another thread, which knows no clock of ours. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + 20_000; performance.now() < endMs; ) {
    if (await condition()) return;
    await settle();
  }
  throw new Error('It did not come about');
}

describe('what lies in the store', () => {
  it('holds no byte of a key, in any of the usual spellings', async () => {
    const { credentials, storage } = setUp();
    const made = await credentials(acme).create({ provider: 'openai', key, name: 'Mine' });
    await credentials(acme).update(made.id, { key: other });
    await credentials(acme).open(made.id);
    const bytes = storage.texts().join('\n');
    expect(bytes).toContain('ciphertext');
    for (const secret of [key, other]) {
      // The label shows the first five characters and the last four.
      const middle = secret.slice(5, -4);
      for (const encoding of ['utf8', 'base64', 'base64url', 'hex'] as const) {
        expect(bytes).not.toContain(Buffer.from(middle).toString(encoding).replaceAll('=', ''));
      }
    }
  });

  it('is encrypted anew when the same key is stored again', async () => {
    const { credentials } = setUp();
    const a = await credentials(acme).create({ provider: 'openai', key });
    const b = await credentials(acme).create({ provider: 'openai', key });
    expect(a.sealed.ciphertext).not.toBe(b.sealed.ciphertext);
  });
});

describe('a record that was tampered with does not open, and is left out with a warning:', () => {
  type Tamper = (mine: StoredCredential, others: StoredCredential) => StoredCredential;
  it.each<[string, Tamper]>([
    ['another’s secret in its place', (mine, others) => ({ ...mine, sealed: others.sealed })],
    ['another’s, under its own id', (mine, others) => ({ ...others, id: mine.id, workspace_id: acme })],
    ['another provider, to which the key would be sent', (mine) => ({ ...mine, provider: 'azure' })],
    [
      'a changed byte',
      (mine) => ({ ...mine, sealed: { ...mine.sealed, ciphertext: `AAAA${mine.sealed.ciphertext.slice(4)}` } }),
    ],
  ])('%s', async (_, tamper) => {
    const { credentials, storage, warnings, clock } = setUp();
    const mine = await credentials(acme).create({ provider: 'openai', key });
    const others = await credentials(rival).create({ provider: 'openai', key: other });
    const sound = await credentials(acme).create({ provider: 'openai', key: other });
    await storage.forge(acme, mine.id, tamper(mine, others));
    await clock.advance(cacheMs + 1);
    const usable = async () => (await credentials(acme).usable()).map(({ id }) => id);
    expect(await usable()).toContain(mine.id);
    await expect(credentials(acme).open(mine.id)).rejects.toMatchObject({ status: 500 });
    expect(await usable()).toEqual([sound.id]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({
      fields: { workspaceId: acme, credentialId: mine.id },
      message: 'A provider credential is left out: its key cannot be opened',
    });
    expect(JSON.stringify(warnings)).not.toMatch(/sk-first|sk-other|ciphertext|master-secret/);
    expect(await credentials(acme).open(sound.id)).toEqual({ secret: other });
  });

  it('a whole record of another workspace, which also cannot be read', async () => {
    const { credentials, storage, clock } = setUp();
    const others = await credentials(rival).create({ provider: 'openai', key: other, name: 'Secret project' });
    await storage.forge(acme, others.id, others);
    await clock.advance(cacheMs + 1);
    await expect(credentials(acme).open(others.id)).rejects.toMatchObject({ status: 500 });
    await expect(credentials(acme).get(others.id)).rejects.toMatchObject({ status: 500 });
    await expect(credentials(acme).update(others.id, { name: 'x' })).rejects.toMatchObject({ status: 500 });
  });
});

describe('a key that does not open', () => {
  it('is tried once a minute, and warned about as often, not with every request', async () => {
    const { credentials, storage, clock } = setUp(onlyOld);
    const made = await credentials(acme).create({ provider: 'openai', key });
    const stranger = instance(storage, clock, onlyNew);
    const open = () => expect(stranger.credentials(acme).open(made.id)).rejects.toMatchObject({ status: 500 });
    for (let request = 0; request < 5; request++) await open();
    expect([stranger.opened(), stranger.warnings.length]).toEqual([1, 1]);
    await clock.advance(60_000);
    expect((await stranger.credentials(acme).usable()).map(({ id }) => id)).toEqual([made.id]);
    await open();
    expect([stranger.opened(), stranger.warnings.length]).toEqual([2, 2]);
  });

  it('is used again as soon as it was replaced', async () => {
    const { credentials, storage, clock } = setUp(onlyOld);
    const made = await credentials(acme).create({ provider: 'openai', key });
    const stranger = instance(storage, clock, onlyNew).credentials(acme);
    await expect(stranger.open(made.id)).rejects.toMatchObject({ status: 500 });
    expect(await stranger.usable()).toEqual([]);
    await stranger.update(made.id, { key: other });
    expect(await stranger.usable()).toHaveLength(1);
    expect(await stranger.open(made.id)).toEqual({ secret: other });
  });

  it('is not one whose key service is out of reach: that one stays usable', async () => {
    const { storage, clock } = setUp();
    const ring = keyRing({ current: first }, randomBytes);
    let isAway = false;
    const sealer = {
      ...ring,
      open: (...of: Parameters<typeof ring.open>) => (isAway ? Promise.reject(new Error('away')) : ring.open(...of)),
    };
    const { credentials, warnings } = instance(storage, clock, { sealer });
    const made = await credentials(acme).create({ provider: 'openai', key });
    isAway = true;
    await expect(credentials(acme).open(made.id)).rejects.toMatchObject({ status: 503 });
    expect(await credentials(acme).usable()).toHaveLength(1);
    expect(warnings).toEqual([]);
    isAway = false;
    expect(await credentials(acme).open(made.id)).toEqual({ secret: key });
  });
});

describe('without a master key', () => {
  it('nothing can be stored, and the answer says what to set', async () => {
    const { credentials, storage } = setUp({ secrets: null });
    await expect(credentials(acme).create({ provider: 'openai', key })).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('`secrets`'),
    });
    expect(storage.texts()).toEqual([]);
  });

  it('what there is can still be listed, changed and deleted, but no key replaced', async () => {
    const { credentials, storage, clock } = setUp();
    const made = await credentials(acme).create({ provider: 'openai', key });
    const closed = instance(storage, clock, { secrets: null }).credentials(acme);
    expect((await closed.list({ offset: 0, limit: 10 })).total).toBe(1);
    expect(await closed.update(made.id, { disabled: true })).toMatchObject({ disabled: true });
    await expect(closed.update(made.id, { key: other })).rejects.toMatchObject({ status: 503 });
    expect(await closed.get(made.id)).toMatchObject({ label: 'sk-fi...cdef', disabled: true });
    expect(await closed.delete(made.id)).toBe(true);
  });
});

describe('opened keys', () => {
  it('are opened once for all who ask at the same time, and not again until they change', async () => {
    const { credentials, opened, clock } = setUp();
    const made = await credentials(acme).create({ provider: 'openai', key });
    const found = await Promise.all(Array.from({ length: 20 }, () => credentials(acme).open(made.id)));
    expect(new Set(found).size).toBe(1);
    await clock.advance(cacheMs + 1);
    expect(await credentials(acme).open(made.id)).toBe(found[0]);
    await credentials(acme).update(made.id, { name: 'Mine' });
    expect(await credentials(acme).open(made.id)).toBe(found[0]);
    expect(opened()).toBe(1);
    await credentials(acme).update(made.id, { key: other });
    expect(await credentials(acme).open(made.id)).toEqual({ secret: other });
    expect(opened()).toBe(2);
  });

  it('are forgotten when nobody asked for ten minutes', async () => {
    const { credentials, opened, clock } = setUp();
    const made = await credentials(acme).create({ provider: 'openai', key });
    await credentials(acme).open(made.id);
    await clock.advance(600_000);
    await credentials(acme).open(made.id);
    expect(opened()).toBe(1);
    await clock.advance(600_001);
    await credentials(acme).open(made.id);
    expect(opened()).toBe(2);
  });

  it('that were being opened when the key was replaced are not remembered', async () => {
    const { storage, clock } = setUp();
    const ring = keyRing({ current: first }, randomBytes);
    let release: () => void = () => undefined;
    let isHeld = false;
    const sealer = {
      ...ring,
      async open(...of: Parameters<typeof ring.open>) {
        const opened = await ring.open(...of);
        if (isHeld) {
          isHeld = false;
          await new Promise<void>((resolve) => {
            release = resolve;
          });
        }
        return opened;
      },
    };
    const { credentials } = instance(storage, clock, { sealer });
    const made = await credentials(acme).create({ provider: 'openai', key });
    isHeld = true;
    const opening = credentials(acme).open(made.id);
    await until(() => !isHeld);
    await credentials(acme).update(made.id, { key: other });
    release();
    expect(await opening).toEqual({ secret: key });
    expect(await credentials(acme).open(made.id)).toEqual({ secret: other });
    expect(await credentials(acme).open(made.id)).toEqual({ secret: other });
  });
});

describe('after a change of master secrets', () => {
  it('a key is sealed anew when it is first opened, and then needs the old secret no more', async () => {
    const { credentials, storage, clock } = setUp(onlyOld);
    const made = await credentials(acme).create({ provider: 'openai', key });
    const rotated = instance(storage, clock, both);
    expect(await rotated.credentials(acme).open(made.id)).toEqual({ secret: key });
    await until(async () => !rotated.vault.needsReseal((await storage.credential(acme, made.id)).sealed));
    const stored = await storage.credential(acme, made.id);
    expect(stored.sealed.ciphertext).toBe(made.sealed.ciphertext);
    expect({ ...stored, sealed: null }).toEqual({ ...made, sealed: null });
    expect(await instance(storage, clock, onlyNew).credentials(acme).open(made.id)).toEqual({ secret: key });
    // It was the same key all along.
    await clock.advance(cacheMs + 1);
    await rotated.credentials(acme).open(made.id);
    expect(rotated.opened()).toBe(1);
  });

  it('a change made while it is sealed anew is kept, whichever it is', async () => {
    for (const patch of [{ name: 'Mine', disabled: true }, { key: other }]) {
      const { credentials, storage, clock } = setUp(onlyOld);
      const made = await credentials(acme).create({ provider: 'openai', key });
      const elsewhere = instance(storage, clock, both).credentials(acme);
      let patched: StoredCredential | null = null;
      const racing: Storage = {
        ...storage,
        async commit(changes) {
          // Right before the resealed record would be written, somebody else writes.
          if (!patched) patched = await elsewhere.update(made.id, patch);
          return storage.commit(changes);
        },
      };
      const rotated = instance(racing, clock, both);
      expect(await rotated.credentials(acme).open(made.id)).toEqual({ secret: key });
      await until(async () => !rotated.vault.needsReseal((await storage.credential(acme, made.id)).sealed));
      const now = await storage.credential(acme, made.id);
      expect({ ...now, sealed: null }).toEqual({ ...(patched as StoredCredential | null), sealed: null });
      const fresh = instance(storage, clock, onlyNew).credentials(acme);
      expect(await fresh.open(made.id)).toEqual({ secret: 'key' in patch ? other : key });
    }
  });

  it('one that was deleted while it is sealed anew stays deleted', async () => {
    const { credentials, storage, clock } = setUp(onlyOld);
    const made = await credentials(acme).create({ provider: 'openai', key });
    let attempts = 0;
    const racing: Storage = {
      ...storage,
      async commit(changes) {
        attempts += 1;
        await credentials(acme).delete(made.id);
        return storage.commit(changes);
      },
    };
    await instance(racing, clock, both).credentials(acme).open(made.id);
    await until(() => attempts === 1);
    await settle();
    expect(await storage.credential(acme, made.id)).toBeNull();
  });

  it('nobody notices a store that cannot be written to', async () => {
    const { credentials, storage, clock } = setUp(onlyOld);
    const made = await credentials(acme).create({ provider: 'openai', key });
    let attempts = 0;
    const readOnly: Storage = {
      ...storage,
      commit: () => {
        attempts += 1;
        return Promise.reject(new Error('read-only'));
      },
    };
    const { credentials: reader, warnings } = instance(readOnly, clock, both);
    expect(await reader(acme).open(made.id)).toEqual({ secret: key });
    await until(() => attempts > 0);
    expect(await reader(acme).open(made.id)).toEqual({ secret: key });
    expect(warnings).toEqual([]);
  });
});
