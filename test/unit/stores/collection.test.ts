import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { GatewayError } from '../../../src/base/errors.ts';
import { parseWorkspaceId, type WorkspaceId } from '../../../src/call/workspace.ts';
import { ConflictError, createCollection, perWorkspace } from '../../../src/stores/collection.ts';
import type { Ledger } from '../../../src/stores/ledger/ledger.ts';
import { keyvStorage } from '../../../src/stores/storage/keyv.ts';
import type { Change, Storage } from '../../../src/stores/storage/storage.ts';
import { manualClock } from '../../support/manual-clock.ts';

const schema = z.object({ name: z.string(), count: z.int().default(0) });
type Thing = z.output<typeof schema>;

function inMemory(): Storage {
  const kv = new Keyv();
  const options = {
    kind: 'memory',
    ledger: {} as Ledger,
    isShared: false,
    clock: manualClock(),
    timeoutMs: 250,
  } as const;
  return keyvStorage(() => kv, options);
}

/** A collection, and a storage in which the test may do something before each commit of it, or instead. */
function scripted() {
  const storage = inMemory();
  const script = { beforeCommit: null as null | ((attempt: number) => Promise<unknown>), commits: 0 };
  const watched: Storage = {
    ...storage,
    async commit(changes) {
      script.commits++;
      await script.beforeCommit?.(script.commits);
      return storage.commit(changes);
    },
  };
  const things = createCollection('p', { storage: watched, kind: 'thing', schema: () => schema });
  const at = (id: string, kind = 'thing') => ({ partition: 'p', kind, id });
  const write = (id: string, value: string | null, kind?: string) => storage.commit([{ at: at(id, kind), value }]);
  const read = (id: string, kind?: string) => storage.get(at(id, kind));
  const claim = (name: string, value: string | null, expect: string | null): Change => ({
    at: at(name, 'name'),
    value,
    expect,
  });
  return { storage, script, things, at, write, read, claim };
}

const one: Thing = { name: 'one', count: 0 };

describe('a collection', () => {
  it('gives what was created, once', async () => {
    const { things } = scripted();
    expect(await things.get('a')).toBeNull();
    expect(await things.create('a', one)).toBe(true);
    expect(await things.create('a', { ...one, name: 'two' })).toBe(false);
    expect(await things.get('a')).toEqual(one);
  });
  it('fills in what the schema has a default for, and drops what it does not know', async () => {
    const { things, write } = scripted();
    await write('a', '{"name":"old","extra":1}');
    expect(await things.get('a')).toEqual({ name: 'old', count: 0 });
  });
  it('creates with further records or not at all', async () => {
    const { things, read, claim } = scripted();
    expect(await things.create('a', one, { rank: 1, also: [claim('shop', 'a', null)] })).toBe(true);
    expect(await things.create('b', one, { rank: 2, also: [claim('shop', 'b', null)] })).toBe(false);
    expect([await things.get('b'), await read('shop', 'name')]).toEqual([null, 'a']);
    expect(await things.list({ offset: 0, limit: 10 })).toEqual({ records: [one], total: 1 });
  });
  it('lists by rank, in pages, what was created with one', async () => {
    const { things } = scripted();
    for (const [n, name] of ['c', 'a', 'b'].entries()) await things.create(name, { name, count: n }, { rank: n });
    await things.create('unlisted', one);
    const page = await things.list({ offset: 1, limit: 1 });
    expect(page).toEqual({ records: [{ name: 'a', count: 1 }], total: 3 });
  });
  it('hands each workspace its own records alone', async () => {
    const of = perWorkspace({ storage: inMemory(), kind: 'thing', schema: () => schema });
    const [mine, theirs] = ['w1', 'w2'].map((id) => of(parseWorkspaceId(id) as WorkspaceId));
    await mine?.create('a', one, { rank: 1 });
    expect(await theirs?.get('a')).toBeNull();
    expect(await theirs?.update('a', (thing) => thing)).toBeNull();
    expect(await theirs?.delete('a')).toBeNull();
    expect((await theirs?.list({ offset: 0, limit: 10 }))?.total).toBe(0);
    expect(await mine?.get('a')).toEqual(one);
  });
});

describe('an update', () => {
  it('gives what it made of what was there, and stays in its place in the list', async () => {
    const { things } = scripted();
    await things.create('a', one, { rank: 1 });
    await things.create('b', one, { rank: 2 });
    expect(await things.update('a', (thing) => ({ ...thing, count: 7 }))).toEqual({ name: 'one', count: 7 });
    expect((await things.list({ offset: 0, limit: 1 })).records).toEqual([{ name: 'one', count: 7 }]);
  });
  it('of nothing writes nothing', async () => {
    const { things, script } = scripted();
    expect(await things.update('a', () => one)).toBeNull();
    expect([script.commits, await things.get('a')]).toEqual([0, null]);
  });
  it('starts anew from what somebody else wrote in between', async () => {
    const { things, script, write } = scripted();
    await things.create('a', one);
    script.commits = 0;
    script.beforeCommit = async (attempt) => {
      if (attempt <= 3) await write('a', JSON.stringify({ name: `other ${attempt}`, count: attempt * 10 }));
    };
    const changed = await things.update('a', async ({ name, count }) => ({ name, count: count + 1 }));
    expect(changed).toEqual({ name: 'other 3', count: 31 });
    expect(await things.get('a')).toEqual(changed);
    expect(script.commits).toBe(4);
  });
  it('loses no count among many at once', async () => {
    const { things } = scripted();
    await things.create('a', one);
    const add = () => things.update('a', ({ name, count }) => ({ name, count: count + 1 }));
    await Promise.all(Array.from({ length: 15 }, add));
    expect((await things.get('a'))?.count).toBe(15);
  });
  it('gives null when the record is deleted in between, and does not bring it back', async () => {
    const { things, script, write } = scripted();
    await things.create('a', one);
    script.beforeCommit = () => write('a', null);
    expect(await things.update('a', (thing) => thing)).toBeNull();
    expect(await things.get('a')).toBeNull();
  });
  it('gives up when others never stop, with a 503 and nothing written', async () => {
    const { things, script, write } = scripted();
    await things.create('a', one);
    script.commits = 0;
    script.beforeCommit = (attempt) => write('a', JSON.stringify({ name: 'theirs', count: attempt }));
    await expect(things.update('a', () => one)).rejects.toMatchObject({ kind: 'unavailable', retryAfterMs: 1000 });
    expect(script.commits).toBe(20);
    expect((await things.get('a'))?.name).toBe('theirs');
  });
  it('writes nothing when the change throws', async () => {
    const { things, script } = scripted();
    await things.create('a', one);
    script.commits = 0;
    const refuse = () => {
      throw new GatewayError('invalid_request', 'no');
    };
    await expect(things.update('a', refuse)).rejects.toMatchObject({ kind: 'invalid_request' });
    expect(script.commits).toBe(0);
  });
  it('writes further records with it, made from what was there and what will be', async () => {
    const { things, read, claim } = scripted();
    await things.create('a', one, { also: [claim('one', 'a', null)] });
    await things.update(
      'a',
      (thing) => ({ ...thing, name: 'two' }),
      (before, after) => [claim(before.name, null, 'a'), claim(after.name, 'a', null)],
    );
    expect([await read('one', 'name'), await read('two', 'name')]).toEqual([null, 'a']);
  });
});

describe('a conflict with a further record', () => {
  const take = (claim: ReturnType<typeof scripted>['claim']) => () => [claim('shop', 'a', null)];

  it.each(['update', 'delete'] as const)('ends the %s: nothing is written', async (method) => {
    const { things, script, write, read, claim } = scripted();
    await things.create('a', one, { rank: 1 });
    await write('shop', 'b', 'name');
    script.commits = 0;
    const attempt =
      method === 'update'
        ? things.update('a', (thing) => ({ ...thing, count: 9 }), take(claim))
        : things.delete('a', take(claim));
    await expect(attempt).rejects.toBeInstanceOf(ConflictError);
    expect(script.commits).toBe(1);
    expect([await things.get('a'), await read('shop', 'name')]).toEqual([one, 'b']);
  });
  it('is none when the record itself was changed in between, and the name came free', async () => {
    const { things, script, write, read, claim } = scripted();
    await things.create('a', one);
    await write('shop', 'b', 'name');
    script.commits = 0;
    script.beforeCommit = async (attempt) => {
      if (attempt > 1) return;
      await write('a', JSON.stringify({ name: 'theirs', count: 5 }));
      await write('shop', null, 'name');
    };
    expect(await things.update('a', (thing) => ({ ...thing, count: 6 }), take(claim))).toEqual({
      name: 'theirs',
      count: 6,
    });
    expect(await read('shop', 'name')).toBe('a');
  });
  it('is none when the record was changed and changed back, with or without further records', async () => {
    const { storage, claim, at } = scripted();
    const text = JSON.stringify(one);
    // Another text at the moment of the commit, the same before and after.
    let races = 0;
    const things = createCollection('p', {
      storage: { ...storage, commit: async (changes) => (++races % 3 !== 0 ? false : storage.commit(changes)) },
      kind: 'thing',
      schema: () => schema,
    });
    await storage.commit([{ at: at('a'), value: text }]);
    expect(await things.update('a', (thing) => ({ ...thing, count: 1 }), take(claim))).toEqual({
      name: 'one',
      count: 1,
    });
    expect(await things.update('a', (thing) => ({ ...thing, count: 2 }))).toEqual({ name: 'one', count: 2 });
    expect(await things.delete('a')).toEqual({ name: 'one', count: 2 });
    expect(races).toBe(9);
  });
  it('is still seen after the record was changed by somebody else', async () => {
    const { things, script, write, claim } = scripted();
    await things.create('a', one);
    await write('shop', 'b', 'name');
    script.commits = 0;
    script.beforeCommit = async (attempt) => {
      if (attempt === 1) await write('a', JSON.stringify({ name: 'theirs', count: 5 }));
    };
    await expect(things.update('a', (thing) => thing, take(claim))).rejects.toBeInstanceOf(ConflictError);
    expect([script.commits, (await things.get('a'))?.name]).toEqual([2, 'theirs']);
  });
});

describe('a deletion', () => {
  it('gives what was there, removes it from the list and further records with it', async () => {
    const { things, read, write, claim } = scripted();
    await write('one', 'a', 'name');
    await things.create('a', one, { rank: 1 });
    expect(await things.delete('a', (thing) => [claim(thing.name, null, 'a')])).toEqual(one);
    expect([await things.get('a'), await read('one', 'name')]).toEqual([null, null]);
    expect((await things.list({ offset: 0, limit: 1 })).total).toBe(0);
    expect(await things.delete('a')).toBeNull();
  });
  it('of many at once is one', async () => {
    const { things } = scripted();
    await things.create('a', one);
    const all = await Promise.all(Array.from({ length: 10 }, () => things.delete('a')));
    expect(all.filter(Boolean)).toEqual([one]);
  });
  it('gives what it removed, not what it had read before somebody changed it', async () => {
    const { things, script, write, read, claim } = scripted();
    await things.create('a', one);
    await write('two', 'a', 'name');
    script.commits = 0;
    script.beforeCommit = async (attempt) => {
      if (attempt === 1) await write('a', JSON.stringify({ name: 'two', count: 1 }));
    };
    expect(await things.delete('a', (thing) => [claim(thing.name, null, 'a')])).toEqual({ name: 'two', count: 1 });
    expect(await read('two', 'name')).toBeNull();
  });
  it('gives up when others never stop', async () => {
    const { things, script, write } = scripted();
    await things.create('a', one);
    script.beforeCommit = (attempt) => write('a', JSON.stringify({ name: 'theirs', count: attempt }));
    await expect(things.delete('a')).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await things.get('a')).not.toBeNull();
  });
});

describe('a damaged record', () => {
  it.each<[string, string]>([
    ['no JSON', '{"name":"sk-secret'],
    ['nothing', ''],
    ['JSON of something else', '"sk-secret"'],
    ['null', 'null'],
    ['a field of another type', '{"name":"sk-secret","count":"1"}'],
    ['no name', '{"count":1}'],
  ])('(%s) fails whatever is asked of it, says nothing of what it holds, and is left as it is', async (_, text) => {
    const { things, storage, at, read } = scripted();
    await storage.commit([{ at: at('a'), value: text, rank: 1 }]);
    const attempts = [
      () => things.get('a'),
      () => things.update('a', () => one),
      () => things.delete('a'),
      () => things.list({ offset: 0, limit: 10 }),
    ];
    for (const attempt of attempts) {
      const error: GatewayError = await attempt().then(
        () => expect.unreachable(),
        (reason: GatewayError) => reason,
      );
      expect([error.kind, error.message]).toEqual(['internal', 'A stored record is damaged']);
      expect(`${error.message} ${error.cause} ${JSON.stringify(error.metadata)}`).not.toContain('sk-secret');
    }
    expect(await things.create('a', one)).toBe(false);
    expect(await read('a')).toBe(text);
  });
});

describe('a store that is away', () => {
  it.each(['get', 'commit', 'getMany', 'list'] as const)(
    'is never taken for one that has nothing: %s',
    async (method) => {
      const { storage, claim } = scripted();
      const down = new GatewayError('unavailable', 'down');
      const things = createCollection('p', {
        storage: { ...storage, [method]: () => Promise.reject(down) },
        kind: 'thing',
        schema: () => schema,
      });
      const all = scriptedCalls(things, claim);
      if (method !== 'commit' && method !== 'getMany')
        await storage.commit([{ at: { partition: 'p', kind: 'thing', id: 'a' }, value: '{"name":"one"}' }]);
      const ends = await Promise.allSettled(all[method].map((call) => call()));
      expect(ends.map((end) => end.status === 'rejected' && end.reason)).toEqual(ends.map(() => down));
    },
  );

  function scriptedCalls(
    things: ReturnType<typeof createCollection<Thing>>,
    claim: ReturnType<typeof scripted>['claim'],
  ) {
    return {
      get: [() => things.get('a'), () => things.update('a', (thing) => thing), () => things.delete('a')],
      commit: [() => things.create('a', one)],
      getMany: [
        async () => {
          await things.create('b', one, { also: [claim('shop', 'b', null)] });
          return things.update(
            'b',
            (thing) => thing,
            () => [claim('shop', 'b', null)],
          );
        },
      ],
      list: [() => things.list({ offset: 0, limit: 1 })],
    };
  }
});
