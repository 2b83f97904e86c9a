import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createClient } from '@keyv/redis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isGatewayError } from '../../../src/base/errors.ts';
import { intervals } from '../../../src/base/windows.ts';
import { defaultWorkspaceId } from '../../../src/call/workspace.ts';
import { childFlags } from '../../support/child-flags.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { askPostgres } from '../../support/postgres-client.ts';
import { describeWithPostgres, describeWithRedis } from '../../support/services.ts';
import { apiKeyInput, instanceOn, type TenantInstance, workspaceInput } from '../../support/tenants.ts';
import { type Claims, type OpenedStore, openAt, type Place, slugs, type Task } from './tenants-child.ts';

const everything = { offset: 0, limit: 100 };

/** What workspaces, budgets and keys need of a store that several processes work on. Its place is new. */
function testTenants(placeOf: () => Promise<Place>): void {
  const clock = manualClock();
  let place: Place;
  const opened: OpenedStore[] = [];
  let instances: TenantInstance[];
  const children = new Set<ChildProcess>();
  beforeAll(async () => {
    place = await placeOf();
    for (let at = 0; at < 2; at++) {
      const store = openAt(place);
      // One after the other: the first makes what the store needs.
      await store.storage.get({ partition: 'workspaces', kind: 'workspace', id: 'any' });
      opened.push(store);
    }
    instances = opened.map(({ storage }) => instanceOn(storage, { clock }));
  }, 30_000);
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
    children.clear();
  });
  afterAll(async () => {
    for (const { close } of opened) await close();
  });
  const [one, other] = [() => instances[0] as TenantInstance, () => instances[1] as TenantInstance];

  async function race<T>(task: Task): Promise<T[]> {
    const racers = await Promise.all([0, 1, 2].map(() => start(task, place, children)));
    const results = racers.map(resultOf);
    const startAtMs = Date.now() + 100;
    for (const racer of racers) racer.send(startAtMs);
    return Promise.all(results) as Promise<T[]>;
  }

  it('makes the default workspace once for three processes, and gives each slug to one of them', async () => {
    const claims = await race<Claims>('claim');
    expect(claims.flatMap(({ won }) => won).toSorted()).toEqual(slugs.toSorted());
    expect(new Set(claims.flatMap(({ refused }) => refused))).toEqual(new Set([400]));
    // They did meet.
    expect(claims.filter(({ won }) => won.length > 0).length).toBeGreaterThan(1);
    const { records, total } = await one().workspaces.list(everything);
    expect(total).toBe(slugs.length + 1);
    expect(records[0]).toMatchObject({ id: defaultWorkspaceId, settings: { slug: 'default' } });
    for (const record of records) expect((await other().workspaces.find(record.settings.slug))?.id).toBe(record.id);
  }, 60_000);

  it('makes each budget once, whoever of three processes puts it first, and loses none', async () => {
    const ids = await race<string[]>('put');
    const listed = await one().budgets(defaultWorkspaceId).list();
    expect(listed.map(({ interval }) => interval)).toEqual(intervals);
    for (const seen of ids) expect(seen).toEqual(listed.map(({ id }) => id).toSorted());
  }, 60_000);

  it('never leaves a key behind in a workspace that is deleted at the same time', async () => {
    const outcomes = { deleted: 0, refused: 0 };
    for (let round = 0; round < 40; round++) {
      const { id } = await one().workspaces.create(workspaceInput(`round-${round}`), 'me');
      const [deletion, creation] = await Promise.allSettled([
        later(round % 8, () => one().workspaces.delete(id)),
        later((round * 3) % 8, () => other().apiKeys.create(id, apiKeyInput())),
      ]);
      const isDeleted = deletion.status === 'fulfilled';
      outcomes[isDeleted ? 'deleted' : 'refused'] += 1;
      // Both may be refused, when the key comes while it is being found out that there is none; never do both succeed.
      expect(isDeleted && creation.status === 'fulfilled').toBe(false);
      for (const one of [deletion, creation]) {
        if (one.status === 'rejected') expect(isGatewayError(one.reason) && one.reason.status).toBe(400);
      }
      expect((await one().workspaces.find(id)) === null).toBe(isDeleted);
      const keys = await one().apiKeys.list(id, { ...everything, includeDisabled: true });
      expect(keys).toHaveLength(creation.status === 'fulfilled' ? 1 : 0);
      if (isDeleted) await expect(other().apiKeys.create(id, apiKeyInput())).rejects.toMatchObject({ status: 400 });
      else
        await one()
          .apiKeys.deleteAll(id)
          .then(() => other().workspaces.delete(id));
    }
    expect(outcomes.deleted).toBeGreaterThan(0);
    expect(outcomes.refused).toBeGreaterThan(0);
  }, 60_000);

  it('lists what was made in its order, of one workspace, whoever made it', async () => {
    const { id } = await one().workspaces.create(workspaceInput('listed'), 'me');
    const hashes: string[] = [];
    for (let at = 0; at < 6; at++) {
      const { apiKeys } = at % 2 === 0 ? one() : other();
      await clock.advance(10);
      const { record } = await apiKeys.create(id, apiKeyInput({ name: `${at}` }));
      hashes.push(record.hash);
    }
    const names = async (includeDisabled: boolean) =>
      (await other().apiKeys.list(id, { ...everything, includeDisabled })).map(({ name }) => name).join('');
    expect(await names(true)).toBe('012345');
    await other().apiKeys.update(id, hashes[2] as string, { disabled: true });
    expect([await names(true), await names(false)]).toEqual(['012345', '01345']);
    expect(await one().apiKeys.countLive(id)).toBe(5);
  });

  it('keeps every text as it was given', async () => {
    const texts = { name: '\u0000 é 漢 🦊 \ud800', description: '"\\u0000\\n\\' };
    const made = await one().workspaces.create(workspaceInput('texts', texts), 'o’Brien \u0000');
    expect(await other().workspaces.find('texts')).toEqual(made);
  });
}

function later<T>(ms: number, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve) => setTimeout(resolve, ms)).then(work);
}

async function start(task: Task, place: Place, children: Set<ChildProcess>): Promise<ChildProcess> {
  const script = join(import.meta.dirname, 'tenants-child.ts');
  const child = spawn(process.execPath, [...childFlags, script, task, JSON.stringify(place)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: {},
  });
  children.add(child);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The process ended with ${code} before it was ready`);
  });
  await Promise.race([once(child, 'message'), ended]);
  ended.catch(() => undefined);
  return child;
}

function resultOf(child: ChildProcess): Promise<unknown> {
  const result = new Promise((resolve, reject) => {
    child.on('message', (message) => {
      if (typeof message === 'object' && 'result' in message) resolve(message.result);
    });
    child.once('exit', (code, signal) => reject(new Error(`The process ended with ${signal ?? code}`)));
  });
  // A test that has failed before it looks at this has told enough.
  result.catch(() => undefined);
  return result;
}

describe('tenants on SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-tenants-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  testTenants(async () => ({ kind: 'sqlite', path: join(folder, 'tenants.db') }));
});

describeWithRedis('tenants on Redis', (url) => {
  const namespace = `model-gateway-test-${randomUUID()}`;
  afterAll(async () => {
    const client = await createClient({ url: await url() }).connect();
    for await (const keys of client.scanIterator({ MATCH: `${namespace}*`, COUNT: 1000 })) {
      if (keys.length > 0) await client.unlink(keys);
    }
    client.destroy();
  });
  testTenants(async () => ({ kind: 'redis', url: await url(), namespace }));
});

describeWithPostgres('tenants on PostgreSQL', (url) => {
  const schema = `gateway_test_${randomUUID().slice(0, 8)}`;
  afterAll(async () => void (await askPostgres(await url(), `DROP SCHEMA IF EXISTS "${schema}" CASCADE`)));
  testTenants(async () => ({ kind: 'postgres', url: await url(), schema }));
});
