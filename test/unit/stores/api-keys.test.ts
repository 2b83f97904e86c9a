import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../../src/base/secrets.ts';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import { hostApiKeys } from '../../../src/stores/api-keys/host-api-keys.ts';
import { deletionOf } from '../../../src/stores/deletion.ts';
import { createOwners } from '../../../src/stores/owners.ts';
import { apiKeyInput, cacheMs, forge, tenantStores, workspaceInput } from '../../support/tenants.ts';

const acme = '11111111-1111-4111-8111-111111111111' as WorkspaceId;
const rival = '22222222-2222-4222-8222-222222222222' as WorkspaceId;
const everything = { offset: 0, limit: 100, includeDisabled: true };

describe('an api key', () => {
  it('is stored with all it was made with, by its hash, in its workspace', async () => {
    const { open, clock } = tenantStores();
    const input = apiKeyInput({
      name: 'App',
      permissions: ['inference', 'management', 'inference'],
      limitNanoUsd: 5,
      limitReset: 'weekly',
      includeByokInLimit: true,
      creatorUserId: 'user-1',
      expiresAtMs: clock.now() + 1,
    });
    const { key, record } = await open().apiKeys.create(acme, input);
    expect(key).toMatch(/^sk-gw-[0-9A-Za-z]{32}$/);
    expect(record).toEqual({
      ...input,
      permissions: ['inference', 'management'],
      hash: sha256Hex(key),
      label: `${key.slice(0, 5)}...${key.slice(-4)}`,
      workspaceId: acme,
      disabled: false,
      createdAtMs: clock.now(),
      updatedAtMs: null,
    });
    const { apiKeys, owners } = open();
    expect([await apiKeys.get(acme, record.hash), await apiKeys.known(record.hash)]).toEqual([record, record]);
    expect(await owners.of('api-key', record.hash)).toBe(acme);
  });
  it('is in no other workspace', async () => {
    const { apiKeys } = tenantStores().open();
    const { record } = await apiKeys.create(acme, apiKeyInput());
    expect(await apiKeys.get(rival, record.hash)).toBeNull();
    expect(await apiKeys.list(rival, everything)).toEqual([]);
    expect(await apiKeys.update(rival, record.hash, { disabled: true })).toBeNull();
    expect(await apiKeys.known(record.hash)).toEqual(record);
    expect([await apiKeys.countLive(acme), await apiKeys.countLive(rival)]).toEqual([1, 0]);
  });
  it('is known without a promise once it was read, and so is that it does not exist', async () => {
    const { open } = tenantStores();
    const { record } = await open().apiKeys.create(acme, apiKeyInput());
    const { apiKeys } = open();
    const unknown = 'f'.repeat(64);
    await Promise.all([apiKeys.known(record.hash), apiKeys.known(unknown)]);
    expect([apiKeys.known(record.hash), apiKeys.known(unknown)]).toEqual([record, null]);
  });
  it('stays known without a promise, however many keys are guessed', async () => {
    const { open } = tenantStores();
    const { record } = await open().apiKeys.create(acme, apiKeyInput());
    const { apiKeys } = open();
    await apiKeys.known(record.hash);
    for (let n = 0; n < 10_100; n++) await apiKeys.known(n.toString(16).padStart(64, '0'));
    expect(apiKeys.known(record.hash)).toEqual(record);
  });
  it.each<[string, object, object]>([
    ['a name', { name: 'New' }, { name: 'New' }],
    ['permissions', { permissions: ['management', 'management'] }, { permissions: ['management'] }],
    ['a limit', { limitNanoUsd: 7, limitReset: 'daily' }, { limitNanoUsd: 7, limitReset: 'daily' }],
    ['no limit', { limitNanoUsd: null, limitReset: null }, { limitNanoUsd: null, limitReset: null }],
    ['byok in the limit', { includeByokInLimit: true }, { includeByokInLimit: true }],
    ['being off', { disabled: true }, { disabled: true }],
  ])('is changed to %s, and keeps the rest', async (_, given, changed) => {
    const { open, clock } = tenantStores();
    const { apiKeys } = open();
    const { record } = await apiKeys.create(acme, apiKeyInput({ limitNanoUsd: 5, limitReset: 'weekly' }));
    await clock.advance(1000);
    const expected = { ...record, ...changed, updatedAtMs: clock.now() };
    expect(await apiKeys.update(acme, record.hash, given)).toEqual(expected);
    expect(await open().apiKeys.get(acme, record.hash)).toEqual(expected);
  });
  it('as version 0.1.0 first wrote it was limited and disabled by an operator, and is still written so', async () => {
    const { open, storage } = tenantStores();
    const { apiKeys } = open();
    const { record } = await apiKeys.create(acme, apiKeyInput({ limitNanoUsd: 5 }));
    await apiKeys.update(acme, record.hash, { disabled: true });
    const stored = async () =>
      JSON.parse((await storage.get({ partition: acme, kind: 'api-key', id: record.hash })) ?? '');
    expect(Object.keys(await stored())).not.toContain('operatorSet');
    for (const lifted of [{ limitNanoUsd: 6 }, { limitNanoUsd: null }, { disabled: false }])
      await expect(apiKeys.update(acme, record.hash, lifted, 'workspace')).rejects.toMatchObject({ status: 403 });
    await apiKeys.update(acme, record.hash, { limitNanoUsd: 4 }, 'workspace');
    expect((await stored()).operatorSet).toMatchObject({ limitNanoUsd: 5, disabled: true });
    await apiKeys.update(acme, record.hash, { limitNanoUsd: 5 }, 'workspace');
    expect(Object.keys(await stored())).not.toContain('operatorSet');
  });
  it('has a new time where nothing is given, and what is not there is not made by anything', async () => {
    const { open, clock } = tenantStores();
    const { apiKeys } = open();
    const { record } = await apiKeys.create(acme, apiKeyInput());
    await clock.advance(1000);
    expect(await apiKeys.update(acme, record.hash, {})).toEqual({ ...record, updatedAtMs: clock.now() });
    expect(await apiKeys.update(acme, 'f'.repeat(64), {})).toBeNull();
    expect(await apiKeys.update(acme, 'f'.repeat(64), { name: 'x' })).toBeNull();
    expect(await apiKeys.delete(acme, 'f'.repeat(64))).toBe(false);
  });
  it.each<[string, (stores: ReturnType<typeof tenantStores>, hash: string) => Promise<unknown>, unknown]>([
    ['switched off', (stores, hash) => stores.open().apiKeys.update(acme, hash, { disabled: true }), true],
    ['deleted', (stores, hash) => stores.open().apiKeys.delete(acme, hash), undefined],
  ])('that another instance has %s is seen to be so within the time of the cache', async (_, change, disabled) => {
    const stores = tenantStores();
    const there = stores.open().apiKeys;
    const { record } = await there.create(acme, apiKeyInput());
    await there.known(record.hash);
    await change(stores, record.hash);
    await stores.clock.advance(cacheMs - 1);
    expect((await there.known(record.hash))?.disabled).toBe(false);
    await stores.clock.advance(2);
    expect((await there.known(record.hash))?.disabled).toBe(disabled);
  });
  it('that is changed or deleted here is seen to be so at once', async () => {
    const { apiKeys, owners } = tenantStores().open();
    const { record } = await apiKeys.create(acme, apiKeyInput());
    await apiKeys.known(record.hash);
    await apiKeys.update(acme, record.hash, { disabled: true });
    expect((await apiKeys.known(record.hash))?.disabled).toBe(true);
    expect(await apiKeys.delete(acme, record.hash)).toBe(true);
    expect([await apiKeys.known(record.hash), await owners.of('api-key', record.hash)]).toEqual([null, null]);
  });
  it('that was switched off by a write whose answer was lost is not believed to be on', async () => {
    const { open, storage } = tenantStores();
    const { apiKeys } = open();
    const { record } = await apiKeys.create(acme, apiKeyInput());
    await apiKeys.known(record.hash);
    const { commit } = storage;
    storage.commit = async (changes) => {
      await commit(changes);
      throw new Error('no answer');
    };
    await expect(apiKeys.update(acme, record.hash, { disabled: true })).rejects.toThrow('no answer');
    expect((await apiKeys.known(record.hash))?.disabled).toBe(true);
    await expect(apiKeys.delete(acme, record.hash)).rejects.toThrow('no answer');
    expect(await apiKeys.known(record.hash)).toBeNull();
  });
  it('whose deletion was broken off in the middle can be deleted to the end', async () => {
    const { open, storage } = tenantStores();
    const { apiKeys, owners } = open();
    const { record } = await apiKeys.create(acme, apiKeyInput());
    await storage.commit([{ at: { partition: acme, kind: 'api-key', id: record.hash }, value: null }]);
    expect(await open().apiKeys.known(record.hash)).toBeNull();
    expect(await apiKeys.delete(acme, record.hash)).toBe(false);
    expect(await owners.of('api-key', record.hash)).toBeNull();
  });
  it.each<[string, (stores: ReturnType<typeof tenantStores>, hash: string) => Promise<unknown>]>([
    ['is damaged', ({ storage }, id) => forge(storage, { partition: acme, kind: 'api-key', id }, '{"hash":1}')],
    [
      'is of another workspace',
      async ({ storage }, id) => {
        const text = (await storage.get({ partition: acme, kind: 'api-key', id })) ?? '';
        await forge(storage, { partition: acme, kind: 'api-key', id }, text.replace(acme, rival));
      },
    ],
    [
      'is another key’s',
      async ({ storage, open }, id) => {
        const { record } = await open().apiKeys.create(acme, apiKeyInput());
        await forge(storage, { partition: acme, kind: 'api-key', id }, JSON.stringify(record));
      },
    ],
  ])('whose record %s lets nobody in', async (_, spoil) => {
    const stores = tenantStores();
    const { record } = await stores.open().apiKeys.create(acme, apiKeyInput());
    await spoil(stores, record.hash);
    await expect(stores.open().apiKeys.known(record.hash)).rejects.toMatchObject({ kind: 'internal', status: 500 });
  });
  it('is not made in a workspace that is being deleted, nor switched on there; it can be switched off', async () => {
    const { open, storage } = tenantStores();
    const { apiKeys, owners } = open();
    const [on, off] = [await apiKeys.create(acme, apiKeyInput()), await apiKeys.create(acme, apiKeyInput())];
    await apiKeys.update(acme, off.record.hash, { disabled: true });
    await storage.commit([{ at: deletionOf(acme), value: 'mark' }]);
    const claimed: string[] = [];
    const claim = owners.claim;
    owners.claim = async (kind, hash, workspaceId) => {
      claimed.push(hash);
      await claim(kind, hash, workspaceId);
    };
    const refusal = { kind: 'invalid_request', message: expect.stringContaining('is being deleted') };
    await expect(apiKeys.create(acme, apiKeyInput())).rejects.toMatchObject(refusal);
    await expect(apiKeys.update(acme, off.record.hash, { disabled: false })).rejects.toMatchObject(refusal);
    expect(await apiKeys.update(acme, on.record.hash, { disabled: true })).toMatchObject({ disabled: true });
    expect(await createOwners(storage).of('api-key', claimed[0] as string)).toBeNull();
    expect(claimed).toHaveLength(1);
  });
});

describe('the keys of a workspace', () => {
  async function five() {
    const { open, clock } = tenantStores();
    const { apiKeys } = open();
    const hashes = [];
    for (let at = 0; at < 5; at++) {
      await clock.advance(1);
      hashes.push((await apiKeys.create(acme, apiKeyInput({ name: `${at}` }))).record.hash);
    }
    for (const at of [0, 3]) await apiKeys.update(acme, hashes[at] as string, { disabled: true });
    const names = async (page: Parameters<typeof apiKeys.list>[1]) =>
      (await apiKeys.list(acme, page)).map(({ name }) => name).join('');
    return { apiKeys, clock, names };
  }
  it.each<[number, number, boolean, string]>([
    [0, 100, true, '01234'],
    [0, 100, false, '124'],
    [1, 2, true, '12'],
    [1, 2, false, '24'],
    [1, 1, false, '2'],
    [2, 2, false, '4'],
    [3, 2, false, ''],
    [5, 2, true, ''],
  ])('from %i, at most %i, with the disabled ones: %s', async (offset, limit, includeDisabled, expected) => {
    const { names } = await five();
    expect(await names({ offset, limit, includeDisabled })).toBe(expected);
  });
  it('are live when they are neither disabled, nor expired, nor damaged', async () => {
    const { open, clock, storage } = tenantStores();
    const { apiKeys } = open();
    await apiKeys.create(acme, apiKeyInput());
    await apiKeys.create(acme, apiKeyInput({ expiresAtMs: clock.now() + 1 }));
    await apiKeys.create(acme, apiKeyInput({ expiresAtMs: clock.now() }));
    const { record } = await apiKeys.create(acme, apiKeyInput());
    await apiKeys.update(acme, record.hash, { disabled: true });
    await forge(storage, { partition: acme, kind: 'api-key', id: 'a'.repeat(64) }, 'null');
    expect(await apiKeys.countLive(acme)).toBe(2);
  });
  it('all go at once, and nobody else’s', async () => {
    const { apiKeys } = tenantStores().open();
    const made = [];
    for (let at = 0; at < 130; at++) made.push((await apiKeys.create(acme, apiKeyInput())).record.hash);
    const { record } = await apiKeys.create(rival, apiKeyInput());
    await apiKeys.known(made[0] as string);
    await apiKeys.deleteAll(acme);
    expect(await apiKeys.list(acme, everything)).toEqual([]);
    expect(await apiKeys.known(made[0] as string)).toBeNull();
    expect(await apiKeys.known(record.hash)).toEqual(record);
  });
});

describe('the host app', () => {
  function setUp() {
    const stores = tenantStores();
    const instance = stores.open();
    return { ...stores, ...instance, keys: hostApiKeys(instance) };
  }
  it('makes keys in a workspace named by id or by slug, with a limit in nano-USD', async () => {
    const { keys, workspaces } = setUp();
    const { id } = await workspaces.create(workspaceInput('acme'), 'me');
    for (const workspaceId of ['acme', id]) {
      const { record } = await keys.create({
        workspaceId,
        limitNanoUsd: 300_000_000,
        limitReset: 'daily',
        includeByokInLimit: true,
      });
      expect(record).toMatchObject({
        workspaceId: id,
        name: 'API key',
        limitNanoUsd: 300_000_000,
        limitReset: 'daily',
        includeByokInLimit: true,
      });
    }
    await expect(keys.create({ workspaceId: 'rival' })).rejects.toMatchObject({ status: 404 });
  });
  it.each([
    { limitNanoUsd: -1 },
    { limitNanoUsd: 0.5 },
    { limitNanoUsd: 9_000_001e9 },
    { limitUsd: 1 },
    { limitReset: 'yearly' },
    { permissions: [] },
    { name: '' },
    { x: 1 },
  ])('makes no key from %j', async (input) => {
    await expect(setUp().keys.create(input as never)).rejects.toThrow();
  });
  it('finds, switches and deletes keys of every workspace', async () => {
    const { keys, workspaces } = setUp();
    await workspaces.create(workspaceInput('acme'), 'me');
    const { record } = await keys.create({ workspaceId: 'acme' });
    expect(await keys.setDisabled(record.hash, true)).toMatchObject({ disabled: true });
    expect(await keys.find(record.hash)).toMatchObject({ disabled: true });
    expect([await keys.delete(record.hash), await keys.find(record.hash)]).toEqual([true, null]);
  });
  it.each(['', 'x', '../..', 'A'.repeat(64), 'f'.repeat(64)])('finds nothing under %j', async (hash) => {
    const { keys } = setUp();
    expect([await keys.find(hash), await keys.setDisabled(hash, true), await keys.delete(hash)]).toEqual([
      null,
      null,
      false,
    ]);
  });
});
