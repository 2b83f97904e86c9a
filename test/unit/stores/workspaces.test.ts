import { describe, expect, it } from 'vitest';
import { defaultWorkspaceId, type WorkspaceId } from '../../../src/call/workspace.ts';
import { countedIds } from '../../support/gateway.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  apiKeyInput,
  cacheMs,
  forge,
  type TenantInstance,
  tenantStores,
  workspaceInput,
} from '../../support/tenants.ts';

const everything = { offset: 0, limit: 100 };
const slugsOf = async ({ workspaces }: TenantInstance) =>
  (await workspaces.list(everything)).records.map(({ settings }) => settings.slug);
/** How many of them failed, and how. */
async function outcomes<T>(promises: Promise<T>[]) {
  const settled = await Promise.allSettled(promises);
  return {
    values: settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    errors: settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as { status: number }] : [])),
  };
}

describe('the default workspace', () => {
  it.each<[string, (instance: TenantInstance) => Promise<unknown>]>([
    ['by its slug', ({ workspaces }) => workspaces.find('default')],
    ['by its id', ({ workspaces }) => workspaces.find(defaultWorkspaceId)],
    ['in the list', async ({ workspaces }) => (await workspaces.list(everything)).records[0]],
  ])('is there from the start, %s', async (_, look) => {
    const { open, clock } = tenantStores();
    const settings = { name: 'Default', slug: 'default', is_data_discount_logging_enabled: true };
    const expected = { id: defaultWorkspaceId, createdBy: 'operator', createdAtMs: clock.now(), updatedAtMs: null };
    expect(await look(open())).toMatchObject({ ...expected, settings });
  });
  it('is not made by a look into the cache, which every request takes', async () => {
    const { open, storage } = tenantStores();
    expect(await open().workspaces.known(defaultWorkspaceId)).toBeNull();
    expect((await storage.list('workspaces', 'workspace', everything)).total).toBe(0);
  });
  it('is made once, however many instances need it first', async () => {
    const { open } = tenantStores();
    const instances = Array.from({ length: 20 }, () => open());
    const found = await Promise.all(
      instances.map(({ workspaces }, at) => workspaces.find(at % 2 ? 'default' : defaultWorkspaceId)),
    );
    expect(new Set(found.map((one) => one?.id))).toEqual(new Set([defaultWorkspaceId]));
    expect((await open().workspaces.list(everything)).total).toBe(1);
  });
  it('is the first of the list, also before what an instance made whose clock is behind', async () => {
    const { open } = tenantStores();
    const behind = open({ clock: manualClock(0) });
    await open().workspaces.find('default');
    await behind.workspaces.create(workspaceInput('early'), 'me');
    expect(await slugsOf(open())).toEqual(['default', 'early']);
  });
  it('has its slug before anybody else can take it', async () => {
    const { workspaces } = tenantStores().open();
    await expect(workspaces.create(workspaceInput('default'), 'me')).rejects.toMatchObject({ status: 400 });
  });
  it('may be renamed; its slug is then free, and it is not made a second time', async () => {
    const instance = tenantStores().open();
    await instance.workspaces.update(defaultWorkspaceId, { slug: 'main' });
    expect(await instance.workspaces.find('default')).toBeNull();
    const other = await instance.workspaces.create(workspaceInput('default'), 'me');
    expect((await instance.workspaces.find('default'))?.id).toBe(other.id);
    expect((await instance.workspaces.find('main'))?.id).toBe(defaultWorkspaceId);
    expect(await slugsOf(instance)).toEqual(['main', 'default']);
  });
  it('cannot be deleted', async () => {
    const { workspaces } = tenantStores().open();
    await expect(workspaces.delete(defaultWorkspaceId)).rejects.toMatchObject({
      status: 400,
      message: 'The default workspace cannot be deleted',
    });
    expect(await workspaces.find('default')).not.toBeNull();
  });
});

describe('a workspace', () => {
  it('is found by its id, in either case, and by its slug, by every instance', async () => {
    const { open } = tenantStores();
    const made = await open().workspaces.create(workspaceInput('acme'), 'key:01234567');
    const { workspaces } = open();
    expect(made).toMatchObject({ createdBy: 'key:01234567', updatedAtMs: null, settings: { slug: 'acme' } });
    for (const name of [made.id, made.id.toUpperCase(), 'acme']) expect(await workspaces.find(name)).toEqual(made);
  });
  it.each(['acme2', 'ACME', '', 'a:b', '../x', '{acme}', 'x'.repeat(200), crypto.randomUUID(), '\u0000'])(
    'is not found by %j',
    async (name) => {
      const { workspaces } = tenantStores().open();
      await workspaces.create(workspaceInput('acme'), 'me');
      expect(await workspaces.find(name)).toBeNull();
    },
  );
  it('gets another id where the first is one that is there', async () => {
    // Its first id is that of the default workspace.
    const { workspaces } = tenantStores().open({ ids: countedIds() });
    const made = await workspaces.create(workspaceInput('acme'), 'me');
    expect(made.id).not.toBe(defaultWorkspaceId);
    expect((await workspaces.find(defaultWorkspaceId))?.settings.slug).toBe('default');
  });
  it('is listed in the order of creation, page by page', async () => {
    const { open, clock } = tenantStores();
    const { workspaces } = open();
    for (const slug of ['c', 'a', 'b']) {
      await clock.advance(1);
      await workspaces.create(workspaceInput(slug), 'me');
    }
    const page = await workspaces.list({ offset: 1, limit: 2 });
    expect([page.records.map(({ settings }) => settings.slug), page.total]).toEqual([['c', 'a'], 4]);
    expect((await workspaces.list({ offset: 3, limit: 2 })).records.map(({ settings }) => settings.slug)).toEqual([
      'b',
    ]);
    expect((await workspaces.list({ offset: 4, limit: 2 })).records).toEqual([]);
  });
  it('is not read where its record is damaged', async () => {
    const { open, storage } = tenantStores();
    const { workspaces } = open();
    const { id } = await workspaces.create(workspaceInput('acme'), 'me');
    await forge(storage, { partition: 'workspaces', kind: 'workspace', id }, '{"id":"x"}');
    await expect(workspaces.find('acme')).rejects.toMatchObject({ kind: 'internal', status: 500 });
  });
});

describe('a slug', () => {
  it('goes to exactly one of many creations at once, of several instances', async () => {
    const { open } = tenantStores();
    const instances = Array.from({ length: 4 }, () => open());
    const creations = Array.from({ length: 40 }, (_, at) =>
      (instances[at % 4] as TenantInstance).workspaces.create(workspaceInput('acme'), `user ${at}`),
    );
    const { values, errors } = await outcomes(creations);
    expect(values).toHaveLength(1);
    expect(errors).toHaveLength(39);
    for (const error of errors) {
      expect(error).toMatchObject({
        status: 400,
        message: 'slug: "acme" is the slug of another workspace',
        metadata: { issues: [{ path: 'slug', message: '"acme" is the slug of another workspace' }] },
      });
    }
    const found = await open().workspaces.find('acme');
    expect(found).toEqual(values[0]);
    expect(await slugsOf(open())).toEqual(['default', 'acme']);
  });
  it('moves with a change, in one step: the old one is free, the new one taken', async () => {
    const instance = tenantStores().open();
    const { workspaces } = instance;
    const made = await workspaces.create(workspaceInput('old'), 'me');
    await workspaces.update(made.id, { slug: 'new' });
    expect(await workspaces.find('old')).toBeNull();
    expect((await workspaces.find('new'))?.id).toBe(made.id);
    await expect(workspaces.create(workspaceInput('new'), 'me')).rejects.toMatchObject({ status: 400 });
    await workspaces.create(workspaceInput('old'), 'me');
    expect((await slugsOf(instance)).sort()).toEqual(['default', 'new', 'old']);
  });
  it('is not given to a second by a change; nothing of the change is then made', async () => {
    const { workspaces } = tenantStores().open();
    await workspaces.create(workspaceInput('taken'), 'me');
    const made = await workspaces.create(workspaceInput('mine'), 'me');
    await expect(workspaces.update(made.id, { slug: 'taken', name: 'New' })).rejects.toMatchObject({
      status: 400,
      message: 'slug: "taken" is the slug of another workspace',
    });
    expect(await workspaces.find('mine')).toEqual(made);
  });
  it('goes to exactly one of many changes and creations at once', async () => {
    const { open } = tenantStores();
    const first = open();
    const made = await Promise.all(
      ['a', 'b', 'c', 'd'].map((slug) => first.workspaces.create(workspaceInput(slug), 'me')),
    );
    const { values, errors } = await outcomes([
      ...made.map(({ id }) => open().workspaces.update(id, { slug: 'prize' })),
      ...[1, 2].map(() => open().workspaces.create(workspaceInput('prize'), 'me')),
    ]);
    expect([values.length, errors.map(({ status }) => status)]).toEqual([1, [400, 400, 400, 400, 400]]);
    expect((await first.workspaces.find('prize'))?.id).toBe(values[0]?.id);
    expect((await slugsOf(first)).filter((slug) => slug === 'prize')).toHaveLength(1);
  });
  it('may be changed to what it is', async () => {
    const { workspaces } = tenantStores().open();
    const made = await workspaces.create(workspaceInput('acme'), 'me');
    expect((await workspaces.update(made.id, { slug: 'acme' })).settings.slug).toBe('acme');
    expect((await workspaces.find('acme'))?.id).toBe(made.id);
  });
});

describe('a change of a workspace', () => {
  it('keeps what is left out, clears what is null, replaces an array, and says when', async () => {
    const { open, clock } = tenantStores();
    const { workspaces } = open();
    const input = workspaceInput('acme', {
      description: 'x',
      default_text_model: 'a/b',
      io_logging_api_key_ids: [1, 2],
    });
    const made = await workspaces.create(input, 'me');
    await clock.advance(1000);
    const changed = await workspaces.update(made.id, { description: null, io_logging_api_key_ids: [3] });
    expect(changed).toEqual({
      ...made,
      settings: { ...input, description: null, io_logging_api_key_ids: [3] },
      updatedAtMs: clock.now(),
    });
    expect(await open().workspaces.find('acme')).toEqual(changed);
  });
  it('that holds nothing, or what a host gave as undefined, changes only the time', async () => {
    const { open, clock } = tenantStores();
    const { workspaces } = open();
    const made = await workspaces.create(workspaceInput('acme'), 'me');
    await clock.advance(1000);
    const touched = { ...made, updatedAtMs: clock.now() };
    expect(await workspaces.update(made.id, {})).toEqual(touched);
    expect(await workspaces.update(made.id, { name: undefined })).toEqual(touched);
    expect((await workspaces.update(made.id, { name: undefined, description: 'x' })).settings.name).toBe('acme');
  });
  it('loses nothing to another at the same time', async () => {
    const { open } = tenantStores();
    const made = await open().workspaces.create(workspaceInput('acme'), 'me');
    await Promise.all([
      open().workspaces.update(made.id, { name: 'New' }),
      open().workspaces.update(made.id, { description: 'text' }),
      open().workspaces.update(made.id, { slug: 'moved' }),
    ]);
    expect((await open().workspaces.find('moved'))?.settings).toMatchObject({ name: 'New', description: 'text' });
  });
  it('of one that is not there is refused', async () => {
    const { workspaces } = tenantStores().open();
    const id = crypto.randomUUID() as WorkspaceId;
    await expect(workspaces.update(id, { name: 'x' })).rejects.toMatchObject({ status: 404 });
    await expect(workspaces.update(id, {})).rejects.toMatchObject({ status: 404 });
  });
  it('is seen at once here, and elsewhere within the time of the cache', async () => {
    const { open, clock } = tenantStores();
    const [here, there] = [open(), open()];
    const made = await here.workspaces.create(workspaceInput('acme'), 'me');
    await Promise.all([here.workspaces.known(made.id), there.workspaces.known(made.id)]);
    await here.workspaces.update(made.id, { name: 'New' });
    const nameIn = async ({ workspaces }: TenantInstance) => (await workspaces.known(made.id))?.settings.name;
    expect([await nameIn(here), await nameIn(there)]).toEqual(['New', 'acme']);
    await clock.advance(cacheMs + 1);
    expect(await nameIn(there)).toBe('New');
  });
});

describe('the deletion of a workspace', () => {
  it('takes its budgets, dead keys, further contents and money with it, and frees its slug', async () => {
    const { open, clock, storage } = tenantStores();
    const deleted: string[] = [];
    const { workspaces, budgets, apiKeys, owners } = open({ contents: [async (id) => void deleted.push(id)] });
    const { id } = await workspaces.create(workspaceInput('acme'), 'me');
    await workspaces.known(id);
    await budgets(id).put('daily', 5);
    const expired = await apiKeys.create(id, apiKeyInput({ expiresAtMs: clock.now() + 1000 }));
    const disabled = await apiKeys.create(id, apiKeyInput());
    await apiKeys.update(id, disabled.record.hash, { disabled: true });
    await clock.advance(1000);
    const window = { account: 'workspace', interval: 'lifetime', startMs: 0, endMs: null } as const;
    await storage.ledger.add(id, crypto.randomUUID(), [{ window, nanoUsd: 7 }]);

    await workspaces.delete(id);
    expect(deleted).toEqual([id]);
    expect([await workspaces.find('acme'), await workspaces.find(id), await workspaces.known(id)]).toEqual([
      null,
      null,
      null,
    ]);
    expect(await budgets(id).list()).toEqual([]);
    for (const { record } of [expired, disabled]) {
      expect([await apiKeys.known(record.hash), await owners.of('api-key', record.hash)]).toEqual([null, null]);
    }
    // Other instances may hold its budgets in their caches, and what was spent of them must still count there.
    await clock.advance(cacheMs);
    expect(await storage.ledger.read(id, [window])).toEqual([{ spentNanoUsd: 7, heldNanoUsd: 0 }]);
    await clock.advance(5_000);
    expect(await storage.ledger.read(id, [window])).toEqual([{ spentNanoUsd: 0, heldNanoUsd: 0 }]);
    expect((await workspaces.list(everything)).total).toBe(1);
    expect((await workspaces.create(workspaceInput('acme'), 'me')).id).not.toBe(id);
    await expect(workspaces.delete(id)).rejects.toMatchObject({ status: 404 });
  });
  it.each([
    [1, 'The workspace has 1 live API key; delete or disable it first'],
    [3, 'The workspace has 3 live API keys; delete or disable them first'],
    [250, 'The workspace has 250 live API keys; delete or disable them first'],
  ])('is refused while it has %i live keys, and changes nothing', async (count, message) => {
    const { workspaces, apiKeys, budgets } = tenantStores().open();
    const { id } = await workspaces.create(workspaceInput('acme'), 'me');
    await budgets(id).put('daily', 5);
    const made = [];
    for (let at = 0; at < count; at++) made.push(await apiKeys.create(id, apiKeyInput()));
    await expect(workspaces.delete(id)).rejects.toMatchObject({
      status: 400,
      message,
      metadata: { live_api_keys: count },
    });
    expect(await workspaces.find('acme')).not.toBeNull();
    expect(await budgets(id).list()).toHaveLength(1);
    // It takes new things again.
    await apiKeys.create(id, apiKeyInput());
    for (const { record } of made) expect(await apiKeys.get(id, record.hash)).toEqual(record);
  });
  it('lets no key and no budget come in between that would be left behind', async () => {
    const { open, interpose } = tenantStores();
    const { workspaces, apiKeys, budgets } = open();
    const { id } = await workspaces.create(workspaceInput('acme'), 'me');
    const { record } = await apiKeys.create(id, apiKeyInput());
    await apiKeys.update(id, record.hash, { disabled: true });
    const late: Promise<unknown>[] = [];
    // The keys are counted by then.
    interpose('api-key', async () => {
      late.push(open().apiKeys.create(id, apiKeyInput()));
      late.push(open().apiKeys.update(id, record.hash, { disabled: false }));
      late.push(open().budgets(id).put('daily', 5));
      await Promise.allSettled(late);
    });
    await workspaces.delete(id);
    const { errors } = await outcomes(late);
    expect(errors.map(({ status }) => status)).toEqual([400, 400, 400]);
    expect(await apiKeys.list(id, { ...everything, includeDisabled: true })).toEqual([]);
    expect(await budgets(id).list()).toEqual([]);
  });
  it('counts a key that was made while it began', async () => {
    const { open, interpose } = tenantStores();
    const { workspaces, apiKeys } = open();
    const { id } = await workspaces.create(workspaceInput('acme'), 'me');
    interpose('deletion', () => open().apiKeys.create(id, apiKeyInput()));
    await expect(workspaces.delete(id)).rejects.toMatchObject({ metadata: { live_api_keys: 1 } });
    expect(await apiKeys.countLive(id)).toBe(1);
  });
  it('that was broken off takes nothing new, still lets a key be switched off, and is ended by the next', async () => {
    const { open } = tenantStores();
    let isDown = true;
    const { workspaces, apiKeys, budgets } = open({
      contents: [async () => (isDown ? Promise.reject(new Error('down')) : undefined)],
    });
    const { id } = await workspaces.create(workspaceInput('acme'), 'me');
    await expect(workspaces.delete(id)).rejects.toThrow('down');
    expect(await workspaces.find('acme')).not.toBeNull();
    const refusal = { status: 400, message: expect.stringContaining('is being deleted') };
    await expect(apiKeys.create(id, apiKeyInput())).rejects.toMatchObject(refusal);
    await expect(budgets(id).put('daily', 5)).rejects.toMatchObject(refusal);
    isDown = false;
    await workspaces.delete(id);
    expect(await workspaces.find(id)).toBeNull();
  });
  it('that finds live keys does not undo what a later one has begun', async () => {
    const { open, interpose, storage } = tenantStores();
    const [first, second] = [open(), open()];
    const { id } = await first.workspaces.create(workspaceInput('acme'), 'me');
    let late: Promise<unknown> | undefined;
    interpose('deletion', async () => {
      // There was none when the first looked before it began.
      const { record } = await first.apiKeys.create(id, apiKeyInput());
      // The next write of this kind is the first's taking back: by then the key is gone, and the second is done.
      interpose('deletion', async () => {
        await second.apiKeys.delete(id, record.hash);
        interpose('workspace', async () => {
          late = open().apiKeys.create(id, apiKeyInput());
          await Promise.allSettled([late]);
        });
        await second.workspaces.delete(id);
      });
    });
    await expect(first.workspaces.delete(id)).rejects.toMatchObject({ metadata: { live_api_keys: 1 } });
    await expect(late).rejects.toMatchObject({ status: 400 });
    expect(await first.workspaces.find(id)).toBeNull();
    // What is deleted takes nothing new, ever.
    await expect(first.apiKeys.create(id, apiKeyInput())).rejects.toMatchObject({ status: 400 });
    expect((await storage.list(id, 'api-key', everything)).total).toBe(0);
  });
  it('works though records of it are damaged', async () => {
    const { open, storage } = tenantStores();
    const { workspaces } = open();
    const { id } = await workspaces.create(workspaceInput('acme'), 'me');
    await forge(storage, { partition: id, kind: 'api-key', id: 'a'.repeat(64) }, 'not JSON');
    await forge(storage, { partition: id, kind: 'budgets', id: 'all' }, '{"budgets":1}');
    await workspaces.delete(id);
    expect((await storage.list(id, 'api-key', everything)).total).toBe(0);
    expect(await storage.get({ partition: id, kind: 'budgets', id: 'all' })).toBeNull();
  });
});
