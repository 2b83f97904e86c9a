import { describe, expect, it } from 'vitest';
import type { ByokCredential } from '../../../src/call/facts.ts';
import type { Credentials } from '../../../src/stores/credentials/index.ts';
import { deletionOf } from '../../../src/stores/deletion.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';
import { acme, cacheMs, type Instance, instance, interleaved, rival, setUp } from '../../support/credentials.ts';

const key = 'sk-first-key-0123456789abcdef';
const other = 'sk-other-key-fedcba9876543210';

type Pair = [Instance['credentials'], Instance['credentials']];

const usableIds = async (credentials: Credentials) => (await credentials.usable()).map(({ id }) => id);

describe('a credential that did not change', () => {
  it('is checked once, however often it is read', async () => {
    const { credentials } = setUp();
    const page = { offset: 0, limit: 10 };
    await credentials(acme).create({ provider: 'openai', key, allowed_models: ['acme/*'] });
    const [first] = (await credentials(acme).list(page)).records;
    const [again] = (await credentials(acme).list(page)).records;
    expect(again).toBe(first);
    await credentials(acme).update(first?.id as string, { allowed_models: ['other/*'] });
    expect((await credentials(acme).list(page)).records[0]?.allowed_models).toEqual(['other/*']);
  });
});

describe('a new credential', () => {
  it('has the defaults, a label, and the time it was made', async () => {
    const { credentials } = setUp();
    const made = await credentials(acme).create({ provider: 'openai', key });
    expect(made).toMatchObject({
      workspace_id: acme,
      provider: 'openai',
      name: null,
      label: 'sk-fi...cdef',
      disabled: false,
      is_fallback: false,
      sort_order: 0,
      allowed_models: null,
      allowed_user_ids: null,
      allowed_api_key_hashes: null,
      created_at: '2026-01-01T00:00:00.000Z',
      updated_at: null,
    });
    expect(await credentials(acme).get(made.id)).toEqual(made);
    expect(await credentials(acme).open(made.id)).toEqual({ secret: key });
  });

  it('shows nothing of a short key in its label', async () => {
    const { credentials } = setUp();
    for (const short of ['x', 'sk-0123456789abcdef']) {
      expect((await credentials(acme).create({ provider: 'groq', key: short })).label).toBe('...');
    }
  });

  it('has a label on one line, though its key be a file', async () => {
    const { credentials } = setUp();
    const file = '{\n\n  "type": "service_account",\n  "project_id": "p"\n}\n';
    const made = await credentials(acme).create({ provider: 'google-vertex', key: file });
    expect(made.label).toBe('{ "ty...p" }');
    expect(await credentials(acme).open(made.id)).toEqual({ secret: file });
  });

  it('is numbered per provider, in the order of creation', async () => {
    const { credentials } = setUp();
    const numbers: [string, number][] = [];
    for (const provider of ['openai', 'groq', 'openai', 'openai', 'groq'] as const) {
      const { sort_order } = await credentials(acme).create({ provider, key });
      numbers.push([provider, sort_order]);
    }
    expect(numbers).toEqual([
      ['openai', 0],
      ['groq', 0],
      ['openai', 1],
      ['openai', 2],
      ['groq', 1],
    ]);
    expect((await credentials(rival).create({ provider: 'openai', key })).sort_order).toBe(0);
  });

  it('gets a number and a place of its own, however many are made at once in two processes', async () => {
    const { storage, clock } = setUp();
    const [credentials, elsewhere] = [0, 1].map(() => instance(interleaved(storage), clock).credentials) as Pair;
    const made = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        (at % 2 ? credentials : elsewhere)(acme).create({ provider: 'openai', key }),
      ),
    );
    expect(made.map(({ sort_order }) => sort_order).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 60 }, (_, at) => at),
    );
    const { records, total } = await credentials(acme).list({ offset: 0, limit: 100 });
    expect(total).toBe(60);
    expect(records.map(({ sort_order }) => sort_order)).toEqual(Array.from({ length: 60 }, (_, at) => at));
  });

  it('is refused when there are as many as a workspace may have, also at the same moment in two processes', async () => {
    const { storage, clock, owners } = setUp();
    const [credentials, elsewhere] = [0, 1].map(
      () => instance(interleaved(storage), clock, { maxPerWorkspace: 5 }).credentials,
    ) as Pair;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, at) =>
        (at % 2 ? credentials : elsewhere)(acme).create({ provider: 'openai', key }),
      ),
    );
    const refused = outcomes.filter((one) => one.status === 'rejected');
    expect(refused).toHaveLength(7);
    for (const { reason } of refused) {
      expect(reason).toMatchObject({
        status: 400,
        message: 'This workspace has 5 provider credentials, which is as many as it may',
      });
    }
    // Of those refused nothing is left behind.
    expect(storage.texts().filter((text) => text.endsWith(':owner'))).toHaveLength(5);
    const [first] = (await credentials(acme).list({ offset: 0, limit: 1 })).records;
    expect(await owners.of('credential', first!.id)).toBe(acme);
    await credentials(acme).delete(first!.id);
    expect((await credentials(acme).create({ provider: 'openai', key })).sort_order).toBe(5);
  });

  it('is refused in a workspace that is being deleted', async () => {
    const { credentials, storage } = setUp();
    await storage.commit([{ at: deletionOf(acme), value: 'mark' }]);
    await expect(credentials(acme).create({ provider: 'openai', key })).rejects.toMatchObject({ status: 404 });
    expect(storage.texts().join('\n')).not.toContain('ciphertext');
  });

  it('can still be found by its id when the store failed after it was written', async () => {
    const { clock, storage } = setUp();
    let isLost = true;
    const lossy: Storage = {
      ...storage,
      async commit(changes) {
        const isDone = await storage.commit(changes);
        if (isLost && changes.some(({ at }) => at.kind === 'credential')) throw new Error('connection lost');
        return isDone;
      },
    };
    const { credentials, owners } = instance(lossy, clock);
    await expect(credentials(acme).create({ provider: 'openai', key })).rejects.toThrow('connection lost');
    isLost = false;
    const [written] = (await credentials(acme).list({ offset: 0, limit: 10 })).records;
    expect(await owners.of('credential', written!.id)).toBe(acme);
  });
});

describe('a list', () => {
  it('is in the order of creation, in pages, with the number of all', async () => {
    const { credentials } = setUp();
    const ids: string[] = [];
    for (let at = 0; at < 7; at++) ids.push((await credentials(acme).create({ provider: 'openai', key })).id);
    const page = async (offset: number, limit: number) => {
      const { records, total } = await credentials(acme).list({ offset, limit });
      return [total, ...records.map(({ id }) => ids.indexOf(id))];
    };
    expect(await page(0, 3)).toEqual([7, 0, 1, 2]);
    expect(await page(3, 3)).toEqual([7, 3, 4, 5]);
    expect(await page(6, 3)).toEqual([7, 6]);
    expect(await page(7, 3)).toEqual([7]);
  });

  it('of one provider is counted and cut by itself', async () => {
    const { credentials } = setUp();
    for (let at = 0; at < 6; at++)
      await credentials(acme).create({ provider: at % 2 ? 'groq' : 'openai', key, name: `n${at}` });
    const { records, total } = await credentials(acme).list({ offset: 1, limit: 1, provider: 'groq' });
    expect(total).toBe(3);
    expect(records.map(({ name }) => name)).toEqual(['n3']);
    expect(await credentials(acme).list({ offset: 0, limit: 10, provider: 'azure' })).toEqual({
      records: [],
      total: 0,
    });
  });

  it('shows nothing of another workspace', async () => {
    const { credentials } = setUp();
    const made = await credentials(acme).create({ provider: 'openai', key });
    expect(await credentials(rival).list({ offset: 0, limit: 10 })).toEqual({ records: [], total: 0 });
    expect(await credentials(rival).get(made.id)).toBeNull();
    expect(await credentials(rival).update(made.id, { disabled: true })).toBeNull();
    expect(await credentials(rival).delete(made.id)).toBe(false);
    expect(await credentials(rival).usable()).toEqual([]);
    await expect(credentials(rival).open(made.id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('a change', () => {
  it('keeps what is left out, clears what is null, and replaces lists', async () => {
    const { credentials, clock } = setUp();
    const made = await credentials(acme).create({
      provider: 'openai',
      key,
      name: 'Mine',
      is_fallback: true,
      allowed_models: ['a', 'b'],
      allowed_user_ids: ['u'],
    });
    await clock.advance(1000);
    const changed = await credentials(acme).update(made.id, {
      allowed_models: ['c'],
      allowed_user_ids: null,
      name: undefined,
    });
    expect(changed).toEqual({
      ...made,
      allowed_models: ['c'],
      allowed_user_ids: null,
      updated_at: '2026-01-01T00:00:01.000Z',
    });
    expect(await credentials(acme).get(made.id)).toEqual(changed);
    expect((await credentials(acme).update(made.id, { name: null, is_fallback: false }))!).toMatchObject({
      name: null,
      is_fallback: false,
    });
  });

  it('of the key replaces secret and label, and leaves no byte of the old', async () => {
    const { credentials, storage } = setUp();
    const made = await credentials(acme).create({ provider: 'openai', key });
    expect(await credentials(acme).open(made.id)).toEqual({ secret: key });
    const changed = await credentials(acme).update(made.id, { key: other });
    expect(changed!.label).toBe('sk-ot...3210');
    expect(await credentials(acme).open(made.id)).toEqual({ secret: other });
    expect(storage.texts().join('\n')).not.toContain(made.sealed.ciphertext);
  });

  it('is seen here at once, elsewhere when the cache has run out', async () => {
    const { credentials, storage, clock } = setUp();
    const elsewhere = instance(storage, clock).credentials;
    const made = await credentials(acme).create({ provider: 'openai', key });
    expect(await usableIds(credentials(acme))).toEqual([made.id]);
    expect(await usableIds(elsewhere(acme))).toEqual([made.id]);
    expect(await elsewhere(acme).open(made.id)).toEqual({ secret: key });

    await credentials(acme).update(made.id, { key: other });
    expect(await credentials(acme).open(made.id)).toEqual({ secret: other });
    await clock.advance(cacheMs - 1);
    expect(await elsewhere(acme).open(made.id)).toEqual({ secret: key });
    await clock.advance(2);
    expect(await elsewhere(acme).open(made.id)).toEqual({ secret: other });

    await credentials(acme).update(made.id, { disabled: true });
    expect(await usableIds(credentials(acme))).toEqual([]);
    expect(await usableIds(elsewhere(acme))).toEqual([made.id]);
    await clock.advance(cacheMs + 1);
    expect(await usableIds(elsewhere(acme))).toEqual([]);
  });

  it('of what is not there is null', async () => {
    const { credentials } = setUp();
    expect(await credentials(acme).update('33333333-3333-4333-8333-333333333333', { disabled: true })).toBeNull();
  });

  it('and another at the same moment both take effect', async () => {
    const { storage, clock } = setUp();
    const [credentials, elsewhere] = [0, 1].map(() => instance(interleaved(storage), clock).credentials) as Pair;
    const made = await credentials(acme).create({ provider: 'openai', key });
    await Promise.all([
      credentials(acme).update(made.id, { name: 'Mine' }),
      elsewhere(acme).update(made.id, { key: other }),
      elsewhere(acme).update(made.id, { is_fallback: true }),
    ]);
    expect(await credentials(acme).get(made.id)).toMatchObject({
      name: 'Mine',
      label: 'sk-ot...3210',
      is_fallback: true,
    });
  });
});

describe('a deletion', () => {
  it('wipes all of it', async () => {
    const { credentials, storage, owners } = setUp();
    const made = await credentials(acme).create({ provider: 'openai', key, name: 'Mine' });
    expect(await credentials(acme).open(made.id)).toEqual({ secret: key });
    expect(await credentials(acme).delete(made.id)).toBe(true);
    expect(storage.texts().join('\n')).not.toMatch(new RegExp(`ciphertext|Mine|${made.id}`));
    expect(await owners.of('credential', made.id)).toBeNull();
    expect(await credentials(acme).get(made.id)).toBeNull();
    expect(await credentials(acme).usable()).toEqual([]);
    await expect(credentials(acme).open(made.id)).rejects.toMatchObject({ status: 404 });
    expect(await credentials(acme).delete(made.id)).toBe(false);
  });

  it('done twice at once happens once', async () => {
    const { storage, clock } = setUp();
    const [credentials, elsewhere] = [0, 1].map(() => instance(interleaved(storage), clock).credentials) as Pair;
    const made = await credentials(acme).create({ provider: 'openai', key });
    const done = await Promise.all([credentials(acme).delete(made.id), elsewhere(acme).delete(made.id)]);
    expect(done.sort()).toEqual([false, true]);
  });

  it('goes through for a record that is damaged', async () => {
    const { credentials, storage } = setUp();
    const made = await credentials(acme).create({ provider: 'openai', key });
    await storage.forge(acme, made.id, '{"half":');
    await expect(credentials(acme).get(made.id)).rejects.toMatchObject({ status: 500 });
    expect(await credentials(acme).delete(made.id)).toBe(true);
    expect(await credentials(acme).list({ offset: 0, limit: 10 })).toEqual({ records: [], total: 0 });
  });

  it('of all leaves nothing, and may be done twice', async () => {
    const { credentials, storage } = setUp({ maxPerWorkspace: 1000 });
    await Promise.all(Array.from({ length: 130 }, () => credentials(acme).create({ provider: 'openai', key })));
    const kept = await credentials(rival).create({ provider: 'openai', key });
    await credentials(acme).deleteAll();
    expect(await credentials(acme).list({ offset: 0, limit: 10 })).toEqual({ records: [], total: 0 });
    expect(await credentials(acme).usable()).toEqual([]);
    expect(storage.texts().filter((text) => text.includes(acme))).toEqual([]);
    await credentials(acme).deleteAll();
    expect(await usableIds(credentials(rival))).toEqual([kept.id]);
  });
});

describe('usable credentials', () => {
  it('come in the order they are tried: fallbacks last, then by number, then by age', async () => {
    const { credentials, storage, clock } = setUp();
    const make = async (name: string, provider: 'openai' | 'groq', more: object = {}) => {
      await clock.advance(1000);
      return [name, (await credentials(acme).create({ provider, key, ...more })).id] as const;
    };
    const made = new Map([
      await make('fallback 0', 'openai', { is_fallback: true }),
      await make('openai 1', 'openai'),
      await make('groq 0', 'groq'),
      await make('off', 'openai', { disabled: true }),
      await make('groq 1', 'groq'),
      await make('openai 3', 'openai'),
    ]);
    // As an earlier version may have left them.
    const id = made.get('openai 3')!;
    await storage.forge(acme, id, { ...(await storage.credential(acme, id)), sort_order: 0 });
    await clock.advance(cacheMs + 1);
    const names = new Map([...made].map(([name, ownId]) => [ownId, name]));
    expect((await usableIds(credentials(acme))).map((one) => names.get(one))).toEqual([
      'groq 0',
      'openai 3',
      'openai 1',
      'groq 1',
      'fallback 0',
    ]);
  });

  it('tell what the plan needs, and hold no secret, sealed or not', async () => {
    const { credentials } = setUp();
    const hash = 'a'.repeat(64);
    const made = await credentials(acme).create({
      provider: 'openai',
      key,
      name: 'Mine',
      is_fallback: true,
      allowed_models: ['openai/*'],
      allowed_user_ids: ['ann'],
      allowed_api_key_hashes: [hash],
    });
    expect(await credentials(acme).usable()).toEqual<ByokCredential[]>([
      {
        id: made.id,
        provider: 'openai',
        isFallback: true,
        allowedModels: ['openai/*'],
        allowedUserIds: ['ann'],
        allowedApiKeyHashes: [hash],
      },
    ]);
  });

  it('are read once for all who ask at the same time, and then need no promise', async () => {
    const { clock, storage } = setUp();
    let lists = 0;
    const counting: Storage = {
      ...storage,
      list: (...of) => {
        lists += 1;
        return storage.list(...of);
      },
    };
    const { credentials } = instance(counting, clock);
    const made = await credentials(acme).create({ provider: 'openai', key });
    lists = 0;
    await Promise.all(Array.from({ length: 50 }, () => credentials(acme).usable()));
    expect(lists).toBe(1);
    expect(credentials(acme).usable()).toBeInstanceOf(Array);
    await credentials(acme).open(made.id);
    const [a, b] = [credentials(acme).open(made.id), credentials(acme).open(made.id)];
    expect(a).toEqual({ secret: key });
    expect(a).toBe(b);
    expect(lists).toBe(1);
  });

  it('are all read, though there are more than a page, and some are deleted while they are read', async () => {
    const { clock, storage, credentials: writer } = setUp();
    const ids: string[] = [];
    for (let at = 0; at < 250; at++) ids.push((await writer(acme).create({ provider: 'openai', key: 'x' })).id);
    const early = ids.slice(0, 3);
    const shifting: Storage = {
      ...storage,
      async list(...of) {
        const page = await storage.list(...of);
        // Between two pages, one of the first page goes, and everything behind it moves up.
        const gone = early.pop();
        if (gone) await writer(acme).delete(gone);
        return page;
      },
    };
    const { credentials } = instance(shifting, clock);
    const found = await usableIds(credentials(acme));
    expect(new Set(found)).toEqual(new Set(ids.slice(3)));
    expect(found).toHaveLength(247);
  });

  it('are not "none" while the store is away: that is an outage', async () => {
    const { clock, storage } = setUp();
    let isAway = false;
    const failing: Storage = {
      ...storage,
      list: (...of) => (isAway ? Promise.reject(new Error('away')) : storage.list(...of)),
    };
    const { credentials } = instance(failing, clock);
    const made = await credentials(acme).create({ provider: 'openai', key });
    isAway = true;
    await expect(credentials(acme).usable()).rejects.toThrow('away');
    await expect(credentials(acme).open(made.id)).rejects.toThrow('away');
    isAway = false;
    expect(await usableIds(credentials(acme))).toEqual([made.id]);
  });
});
