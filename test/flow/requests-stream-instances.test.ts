import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { sqliteStore } from '../../adapters/sqlite/sqlite.ts';
import { randomIds } from '../../src/base/ids.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { hello, managementKey, type TestGateway, testGateway } from '../support/gateway.ts';
import { completion, errorBody } from '../support/upstream.ts';

const folder = mkdtempSync(join(tmpdir(), 'gateway-tail-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
let path = '';
beforeEach(() => {
  path = join(folder, `${++files}.db`);
});

const flushMs = 1_000;

/** An instance on the store of the test. */
function open(records: GatewayOptions['records'] = { enabled: true }): TestGateway {
  const tested = testGateway({ ids: randomIds, store: sqliteStore(path), records });
  tested.upstream.always({ body: completion() });
  return tested;
}

const watch = (tested: TestGateway, query = '', key = managementKey) =>
  tested.run(
    tested.gateway.fetch(`http://gateway.test/v1/requests/stream${query}`, {
      headers: { authorization: `Bearer ${key}` },
    }),
  );
const ask = { model: 'acme/fast', messages: hello, max_tokens: 100 };
const asked = async (tested: TestGateway, headers = {}) =>
  (await tested.post(ask, headers)).headers.get('x-generation-id');
const idsIn = (text: string) => [...text.matchAll(/"id":"(gen-[^"]+)"/g)].map(([, id]) => id);

/** What is left in the store of watching, as `kind`, one for each record. */
function left(): string[] {
  const database = new DatabaseSync(path);
  const rows = database.prepare("SELECT kind FROM gateway_records WHERE kind LIKE 'tail-%' ORDER BY kind").all();
  database.close();
  return rows.map(({ kind }) => String(kind));
}

describe('GET /requests/stream of one of several instances', () => {
  it('shows the requests of all, each once, and leaves nothing behind', async () => {
    const [first, second, third] = [open(), open(), open()];
    await asked(second);
    await second.clock.advance(flushMs);
    const response = await watch(first);
    await first.clock.advance(flushMs);
    const ids = [];
    for (const instance of [first, second, third, second]) {
      ids.push(await asked(instance));
      await instance.clock.advance(2 * flushMs);
      await first.clock.advance(2 * flushMs);
    }
    expect(left()).toEqual(['tail-watched']);
    await first.gateway.close();
    expect(idsIn(await first.run(response.text()))).toEqual(ids);
    expect(left()).toEqual([]);
    await second.gateway.close();
    await third.gateway.close();
  });

  it('shows a workspace its own requests alone, and no other request leaves its instance for it', async () => {
    const [first, second] = [open(), open()];
    const id = (await first.call('POST', '/workspaces', { name: 'N', slug: 'north' })).json.data.id;
    const { json } = await first.call('POST', '/keys', {
      name: 'K',
      workspace_id: id,
      permissions: ['inference', 'management'],
    });
    const response = await watch(first, '', json.key);
    await first.clock.advance(flushMs);
    await asked(second);
    await second.clock.advance(2 * flushMs);
    expect(left()).toEqual(['tail-watched']);
    const own = await asked(second, { authorization: `Bearer ${json.key}` });
    await second.clock.advance(2 * flushMs);
    expect(left()).toEqual(['tail-mail', 'tail-watched']);
    await first.clock.advance(2 * flushMs);
    await first.gateway.close();
    expect(idsIn(await first.run(response.text()))).toEqual([own]);
    await second.gateway.close();
  });

  it('says how many requests of another instance were dropped: its mailbox is bounded, and so is their queue', async () => {
    const [first, second] = [open(), open({ enabled: true, queueLength: 2 })];
    const response = await watch(first);
    await first.clock.advance(flushMs);
    for (let batch = 0; batch < 23; batch++) {
      await asked(second);
      await second.clock.advance(flushMs);
    }
    expect(left().filter((kind) => kind === 'tail-mail')).toHaveLength(20);
    await first.clock.advance(flushMs);
    // What costs nothing waits in the queue.
    second.upstream.always({ status: 400, body: errorBody('no') });
    for (let request = 0; request < 4; request++) await asked(second);
    await second.clock.advance(flushMs);
    await first.clock.advance(flushMs);
    await first.gateway.close();
    const text = await first.run(response.text());
    const dropped = [...text.matchAll(/"dropped":(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
    expect([idsIn(text).length, dropped]).toEqual([22, 5]);
    await second.gateway.close();
  });

  it('shows a client that reads all of a batch that is longer than what may wait for it', async () => {
    const [first, second] = [open({ enabled: true, tailLength: 4 }), open()];
    const response = await watch(first);
    const text = response.text();
    await first.clock.advance(flushMs);
    const ids = [];
    for (let request = 0; request < 20; request++) ids.push(await asked(second));
    await second.clock.advance(2 * flushMs);
    await first.clock.advance(2 * flushMs);
    await first.gateway.close();
    const all = await first.run(text);
    expect(idsIn(all)).toEqual(ids);
    expect(all).not.toContain('dropped');
    await second.gateway.close();
  });

  it('goes on after its client has left and another has come', async () => {
    const [first, second] = [open(), open()];
    const gone = await watch(first);
    await first.clock.advance(flushMs);
    await gone.body?.cancel();
    await first.clock.advance(2 * flushMs);
    expect(left()).toEqual([]);
    const response = await watch(first);
    await first.clock.advance(60_000);
    const id = await asked(second);
    await second.clock.advance(2 * flushMs);
    await first.clock.advance(2 * flushMs);
    await first.gateway.close();
    expect(idsIn(await first.run(response.text()))).toEqual([id]);
    await second.gateway.close();
  });

  it('ends in the store when the instance was killed', async () => {
    const [first, second] = [open(), open()];
    await watch(first);
    await first.clock.advance(flushMs);
    await asked(second);
    await second.clock.advance(2 * flushMs);
    expect(left()).toEqual(['tail-mail', 'tail-watched']);
    // The clock of the first stands still: it renews nothing, and reads nothing.
    await second.clock.advance(90_000);
    await asked(second);
    await second.clock.advance(2 * flushMs);
    expect(left()).toEqual([]);
    await second.gateway.close();
  });
});
