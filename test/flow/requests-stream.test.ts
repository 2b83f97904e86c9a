import { describe, expect, it } from 'vitest';
import { randomIds } from '../../src/base/ids.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { hello, managementKey, type TestGateway, testGateway, testKey } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello, max_tokens: 100 };

function open(options: Partial<GatewayOptions> = {}): TestGateway {
  const tested = testGateway({ ids: randomIds, records: { enabled: true }, ...options });
  tested.upstream.always({ body: completion() });
  return tested;
}

const watch = (tested: TestGateway, query = '', key = managementKey, method = 'GET') =>
  tested.run(
    tested.gateway.fetch(`http://gateway.test/v1/requests/stream${query}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
    }),
  );
async function keyOf(tested: TestGateway, slug: string): Promise<string> {
  const id = (await tested.call('POST', '/workspaces', { name: slug, slug })).json.data.id;
  const permissions = ['inference', 'management'];
  return (await tested.call('POST', '/keys', { name: 'K', workspace_id: id, permissions })).json.key;
}

const idsIn = (text: string) => [...text.matchAll(/"id":"(gen-[^"]+)"/g)].map(([, id]) => id);

describe('GET /requests/stream', () => {
  it('shows requests as they end, and ends after the limit', async () => {
    const tested = open();
    const response = await watch(tested, '?limit=2');
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const ids = [];
    for (let at = 0; at < 3; at++) ids.push((await tested.post(ask)).headers.get('x-generation-id'));
    const text = await tested.run(response.text());
    expect(idsIn(text)).toEqual(ids.slice(0, 2));
    expect(text).not.toContain('Hello');
    await tested.gateway.close();
  });
  it('is bounded, and says how many records a slow reader has missed', async () => {
    const tested = open({ records: { enabled: true, tailLength: 2, tailWatchers: 1 } });
    const response = await watch(tested);
    expect((await watch(tested)).status).toBe(429);
    for (let at = 0; at < 5; at++) await tested.post(ask);
    await tested.gateway.close();
    const text = await tested.run(response.text());
    expect(idsIn(text)).toHaveLength(2);
    expect(text).toContain('event: dropped\ndata: {"dropped":3}');
  });
  it('shows a workspace its own requests alone', async () => {
    const tested = open();
    const id = (await tested.call('POST', '/workspaces', { name: 'N', slug: 'north' })).json.data.id;
    const { json } = await tested.call('POST', '/keys', {
      name: 'K',
      workspace_id: id,
      permissions: ['inference', 'management'],
    });
    const response = await watch(tested, '', json.key);
    await tested.post(ask);
    const own = (await tested.post(ask, { authorization: `Bearer ${json.key}` })).headers.get('x-generation-id');
    await tested.gateway.close();
    expect(idsIn(await tested.run(response.text()))).toEqual([own]);
    expect((await watch(open(), '', testKey)).status).toBe(403);
  });
  it('holds few characters for a slow reader', async () => {
    const tested = open({ records: { enabled: true, tailChars: 5_000 } });
    const response = await watch(tested);
    for (let at = 0; at < 9; at++) await tested.post(ask);
    await tested.gateway.close();
    const text = await tested.run(response.text());
    expect(text.length).toBeLessThan(5_200);
    const shown = idsIn(text).length;
    expect(shown).toBeGreaterThan(0);
    expect(text).toContain(`{"dropped":${9 - shown}}`);
  });
  it('refuses the clients of one workspace beyond its own bound, with 429 and Retry-After', async () => {
    const tested = open({ records: { enabled: true, tailWatchersOfWorkspace: 1 } });
    const [north, south] = [await keyOf(tested, 'north'), await keyOf(tested, 'south')];
    expect((await watch(tested, '', north)).status).toBe(200);
    const refused = await watch(tested, '', north);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await refused.json()).error.code).toBe(429);
    expect((await watch(tested, '', south)).status).toBe(200);
    expect((await watch(tested, '', managementKey)).status).toBe(200);
    await tested.gateway.close();
  });
  it('never lets one workspace take the places of another', async () => {
    const tested = open({ records: { enabled: true, tailWatchers: 4, tailWatchersOfWorkspace: 4 } });
    const [north, south] = [await keyOf(tested, 'north'), await keyOf(tested, 'south')];
    const ofNorth = [];
    for (let at = 0; at < 4; at++) ofNorth.push(await watch(tested, '', north));
    expect((await watch(tested, '', south)).status).toBe(200);
    expect(await tested.run(ofNorth[3]?.text() as Promise<string>)).toContain(
      'event: error\ndata: {"error":{"code":429',
    );
    expect((await watch(tested, '', south)).status).toBe(200);
    // Each has its share now.
    expect((await watch(tested, '', south)).status).toBe(429);
    expect((await watch(tested, '', north)).status).toBe(429);
    expect((await watch(tested, '', managementKey)).status).toBe(200);
    expect((await watch(tested, '', managementKey)).status).toBe(429);
    await tested.gateway.close();
  });
  it('makes room when its client leaves, and holds no place for a HEAD', async () => {
    const tested = open({ records: { enabled: true, tailWatchers: 1 } });
    const first = await watch(tested);
    await first.body?.cancel();
    expect((await watch(tested, '', managementKey, 'HEAD')).body).toBeNull();
    expect((await watch(tested)).status).toBe(200);
    expect((await watch(tested, '?limit=0')).status).toBe(400);
  });
  it('sends a comment in silence', async () => {
    const tested = open();
    const reader = (await watch(tested)).body?.getReader();
    const read = async () =>
      new TextDecoder().decode(((await tested.run(reader?.read() as never)) as { value: Uint8Array }).value);
    expect(await read()).toBe(': watching\n\n');
    expect(await read()).toBe(': silence\n\n');
    await reader?.cancel();
  });
});
