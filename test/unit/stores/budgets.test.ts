import { describe, expect, it } from 'vitest';
import { type Interval, intervals } from '../../../src/base/windows.ts';
import { deletionOf } from '../../../src/stores/deletion.ts';
import { cacheMs, forge, tenantStores, workspaceInput } from '../../support/tenants.ts';

async function setUp() {
  const stores = tenantStores();
  const here = stores.open();
  const [acme, rival] = await Promise.all(
    ['acme', 'rival'].map((slug) => here.workspaces.create(workspaceInput(slug), 'me')),
  );
  if (!acme || !rival) throw new Error('unreachable');
  return { ...stores, here, there: stores.open(), acme: acme.id, rival: rival.id };
}

describe('the budgets of a workspace', () => {
  it('are none at first', async () => {
    const { here, acme } = await setUp();
    const budgets = here.budgets(acme);
    expect([await budgets.list(), await budgets.get('daily'), await budgets.limits()]).toEqual([[], null, []]);
  });
  it('are one per interval, listed from the narrowest to the broadest', async () => {
    const { here, there, acme } = await setUp();
    for (const [at, interval] of (['lifetime', 'weekly', 'daily', 'monthly'] as const).entries())
      await here.budgets(acme).put(interval, at + 1);
    const listed = await there.budgets(acme).list();
    expect(listed.map(({ interval, limitNanoUsd }) => [interval, limitNanoUsd])).toEqual([
      ['daily', 3],
      ['weekly', 2],
      ['monthly', 4],
      ['lifetime', 1],
    ]);
    expect(new Set(listed.map(({ id }) => id)).size).toBe(4);
    expect(await there.budgets(acme).get('weekly')).toEqual(listed[1]);
  });
  it('keep id and creation when their limit changes, and say when', async () => {
    const { here, there, acme, clock } = await setUp();
    const made = await here.budgets(acme).put('daily', 5);
    expect([made.createdAtMs, made.updatedAtMs]).toEqual([clock.now(), clock.now()]);
    await here.budgets(acme).put('weekly', 9);
    await clock.advance(1000);
    const changed = await there.budgets(acme).put('daily', 7);
    expect(changed).toEqual({ ...made, limitNanoUsd: 7, updatedAtMs: clock.now() });
    expect(await here.budgets(acme).get('daily')).toEqual(changed);
  });
  it('go one by one, also where there is none', async () => {
    const { here, acme } = await setUp();
    const budgets = here.budgets(acme);
    await budgets.delete('daily');
    await budgets.put('daily', 1);
    await budgets.put('weekly', 2);
    await budgets.delete('daily');
    await budgets.delete('monthly');
    expect((await budgets.list()).map(({ interval }) => interval)).toEqual(['weekly']);
    await budgets.delete('weekly');
    expect(await budgets.list()).toEqual([]);
    expect((await budgets.put('daily', 3)).limitNanoUsd).toBe(3);
  });
  it('are nobody else’s', async () => {
    const { here, acme, rival } = await setUp();
    await here.budgets(acme).put('daily', 1);
    await here.budgets(rival).delete('daily');
    expect([await here.budgets(rival).list(), await here.budgets(rival).limits()]).toEqual([[], []]);
    expect(await here.budgets(acme).list()).toHaveLength(1);
    await here.budgets(rival).deleteAll();
    expect(await here.budgets(acme).list()).toHaveLength(1);
  });
  it('lose nothing to one another when they are made at once, by several instances', async () => {
    for (let round = 0; round < 10; round++) {
      const { open, acme } = await setUp();
      await Promise.all(
        intervals.map((interval, at) =>
          open()
            .budgets(acme)
            .put(interval, at + 1),
        ),
      );
      expect((await open().budgets(acme).list()).map(({ limitNanoUsd }) => limitNanoUsd)).toEqual([1, 2, 3, 4]);
    }
  });
  it('survive the first one being made, and the record being removed, between two steps', async () => {
    const { open, acme, interpose, here } = await setUp();
    interpose('budgets', () => open().budgets(acme).put('weekly', 2));
    await here.budgets(acme).put('daily', 1);
    expect(await here.budgets(acme).list()).toHaveLength(2);
    interpose('budgets', () => open().budgets(acme).deleteAll());
    await here.budgets(acme).put('daily', 3);
    expect((await here.budgets(acme).list()).map(({ limitNanoUsd }) => limitNanoUsd)).toEqual([3]);
  });
  it.each<[string, (interval: Interval) => [Interval, number][]]>([
    [
      'the same interval: one of the limits holds',
      () => [
        ['daily', 11],
        ['daily', 12],
      ],
    ],
    ['a deletion of another', (interval) => [[interval, 11]]],
  ])('put at once: %s', async (_, puts) => {
    const { open, here, acme } = await setUp();
    await here.budgets(acme).put('weekly', 5);
    const given = puts('daily');
    await Promise.all([
      ...given.map(([interval, limit]) => open().budgets(acme).put(interval, limit)),
      open().budgets(acme).delete('weekly'),
    ]);
    const listed = await here.budgets(acme).list();
    expect(listed.map(({ interval }) => interval)).toEqual(['daily']);
    expect(given.map(([, limit]) => limit)).toContain(listed[0]?.limitNanoUsd);
  });
  it('are refused in a workspace that is being deleted', async () => {
    const { here, storage, acme } = await setUp();
    await here.budgets(acme).put('daily', 1);
    await storage.commit([{ at: deletionOf(acme), value: 'mark' }]);
    const refusal = { kind: 'invalid_request', message: expect.stringContaining('is being deleted') };
    await expect(here.budgets(acme).put('daily', 2)).rejects.toMatchObject(refusal);
    await here.budgets(acme).deleteAll();
    await expect(here.budgets(acme).put('daily', 2)).rejects.toMatchObject(refusal);
  });
  it('are not read where their record is damaged: no budget is not what a damaged one says', async () => {
    const { here, storage, acme } = await setUp();
    await forge(storage, { partition: acme, kind: 'budgets', id: 'all' }, '{}');
    await expect(here.budgets(acme).limits()).rejects.toMatchObject({ status: 500 });
    await expect(here.budgets(acme).list()).rejects.toMatchObject({ status: 500 });
    await expect(here.budgets(acme).put('daily', 1)).rejects.toMatchObject({ status: 500 });
  });
});

describe('the limits of a workspace', () => {
  it('are known without a promise once they were read', async () => {
    const { here, acme } = await setUp();
    await here.budgets(acme).put('daily', 5);
    await here.budgets(acme).limits();
    expect(here.budgets(acme).limits()).toEqual([{ interval: 'daily', limitNanoUsd: 5 }]);
  });
  it('are seen at once here when they change, and elsewhere within the time of the cache', async () => {
    const { here, there, acme, clock } = await setUp();
    const seen = async () =>
      (await Promise.all([here, there].map(({ budgets }) => budgets(acme).limits()))).map((limits) =>
        limits.map(({ limitNanoUsd }) => limitNanoUsd),
      );
    expect(await seen()).toEqual([[], []]);
    await here.budgets(acme).put('daily', 5);
    expect(await seen()).toEqual([[5], []]);
    await clock.advance(cacheMs + 1);
    expect(await seen()).toEqual([[5], [5]]);
    await here.budgets(acme).delete('daily');
    expect(await seen()).toEqual([[], [5]]);
    await here.budgets(acme).put('weekly', 6);
    await seen();
    await here.budgets(acme).deleteAll();
    expect((await seen())[0]).toEqual([]);
  });
  it('are not those from before a change that was in flight while they were read', async () => {
    const { here, open, acme, interpose } = await setUp();
    await here.budgets(acme).put('daily', 5);
    let early: unknown;
    interpose('budgets', async () => {
      // Read after the change began and before it is written.
      early = await here.budgets(acme).limits();
    });
    await here.budgets(acme).put('daily', 6);
    expect(early).toEqual([{ interval: 'daily', limitNanoUsd: 5 }]);
    expect(await here.budgets(acme).limits()).toEqual([{ interval: 'daily', limitNanoUsd: 6 }]);
    expect(await open().budgets(acme).limits()).toEqual([{ interval: 'daily', limitNanoUsd: 6 }]);
  });
});

describe('a budget as version 0.1.0 first wrote it', () => {
  const at = (id: string) => ({ partition: id, kind: 'budgets', id: 'all' });
  it('was set by an operator', async () => {
    const { here, storage, acme } = await setUp();
    const budget = { id: crypto.randomUUID(), interval: 'daily', limitNanoUsd: 5, createdAtMs: 1, updatedAtMs: 1 };
    await forge(storage, at(acme), JSON.stringify({ budgets: [budget] }));
    const budgets = here.budgets(acme);
    await expect(budgets.put('daily', 6, 'workspace')).rejects.toMatchObject({ status: 403 });
    await expect(budgets.delete('daily', 'workspace')).rejects.toMatchObject({ status: 403 });
    await budgets.put('daily', 4, 'workspace');
    expect(await budgets.limits()).toEqual([{ interval: 'daily', limitNanoUsd: 4 }]);
    await budgets.delete('daily', 'workspace');
    expect(await budgets.limits()).toEqual([{ interval: 'daily', limitNanoUsd: 5 }]);
  });
  it('is what an operator’s still looks like, also after a workspace had its own', async () => {
    const { here, storage, acme } = await setUp();
    await here.budgets(acme).put('daily', 3, 'workspace');
    await here.budgets(acme).put('daily', 5);
    await here.budgets(acme).put('daily', 5, 'workspace');
    const { budgets } = JSON.parse((await storage.get(at(acme))) ?? '');
    expect(budgets.map(Object.keys)).toEqual([['id', 'interval', 'limitNanoUsd', 'createdAtMs', 'updatedAtMs']]);
  });
  it('keeps its limit while several change it at once', async () => {
    const { here, there, acme, interpose } = await setUp();
    await here.budgets(acme).put('daily', 5);
    interpose('budgets', () => there.budgets(acme).put('daily', 2));
    await expect(here.budgets(acme).put('daily', 4, 'workspace')).rejects.toMatchObject({ status: 403 });
    expect((await here.budgets(acme).get('daily'))?.limitNanoUsd).toBe(2);
  });
});
