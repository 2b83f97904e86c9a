import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { hello, testGateway } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** Two gateways, or one, over a store whose bytes and behaviour the test has in hand. */
function overStore(options: { storeCacheMs?: number } = {}) {
  const bytes = new Map<string, unknown>();
  const faults: { get?: () => unknown; set?: () => unknown } = {};
  const adapter = {
    opts: {},
    get: async (key: string) => (faults.get ? faults.get() : bytes.get(key)),
    set: async (key: string, value: unknown) => {
      if (faults.set) return faults.set();
      bytes.set(key, value);
      return true;
    },
    delete: async (key: string) => bytes.delete(key),
    clear: async () => bytes.clear(),
    on: () => undefined,
  };
  const open = () => {
    const tested = testGateway({ apiKeys: undefined, store: new Keyv({ store: adapter as never }), ...options });
    tested.upstream.always({ body: completion() });
    return tested;
  };
  return { bytes, faults, open };
}

describe('an api key in the store', () => {
  it('lets in who has it, until it is switched off, has expired or is deleted', async () => {
    const { open } = overStore();
    const { gateway, post, clock } = open();
    const { key, record } = await gateway.apiKeys.create({ name: 'App', expiresAtMs: clock.now() + 60_000 });
    expect((await post(ask, bearer(key))).status).toBe(200);
    await gateway.apiKeys.setDisabled(record.hash, true);
    expect((await post(ask, bearer(key))).json.error.message).toBe('The API key is disabled');
    await gateway.apiKeys.setDisabled(record.hash, false);
    expect((await post(ask, bearer(key))).status).toBe(200);
    await clock.advance(60_000);
    expect((await post(ask, bearer(key))).json.error.message).toBe('The API key has expired');
    expect(await gateway.apiKeys.delete(record.hash)).toBe(true);
    expect((await post(ask, bearer(key))).json.error.message).toBe('The API key is not valid');
    expect([await gateway.apiKeys.delete(record.hash), await gateway.apiKeys.setDisabled(record.hash, true)]).toEqual([
      false,
      null,
    ]);
  });
  it('has the permissions it was made with', async () => {
    const { gateway, post } = overStore().open();
    const { key } = await gateway.apiKeys.create({ permissions: ['management'] });
    expect((await post(ask, bearer(key))).status).toBe(403);
    await expect(gateway.apiKeys.create({ permissions: [] })).rejects.toThrow();
  });
  it('is stored as its hash alone, and shown once', async () => {
    const { open, bytes } = overStore();
    const { gateway } = open();
    const { key, record } = await gateway.apiKeys.create();
    expect(key).toMatch(/^sk-gw-[0-9A-Za-z]{32}$/);
    const stored = JSON.stringify([...bytes]);
    expect(stored).toContain(record.hash);
    expect(stored).not.toContain(key.slice(6));
    expect(JSON.stringify(await gateway.apiKeys.find(record.hash))).not.toContain(key.slice(6));
  });
  it('that another instance switched off works no longer than the cache believes it', async () => {
    const { open } = overStore({ storeCacheMs: 5000 });
    const [here, there] = [open(), open()];
    const { key, record } = await here.gateway.apiKeys.create();
    expect((await there.post(ask, bearer(key))).status).toBe(200);
    await here.gateway.apiKeys.setDisabled(record.hash, true);
    expect((await here.post(ask, bearer(key))).status).toBe(401);
    await there.clock.advance(4900);
    expect((await there.post(ask, bearer(key))).status).toBe(200);
    await there.clock.advance(200);
    expect((await there.post(ask, bearer(key))).status).toBe(401);
  });
});

describe('a store that fails', () => {
  it.each<[string, () => unknown]>([
    ['refuses to read', () => Promise.reject(new Error('connection to redis://user:secret@10.0.0.1 lost'))],
    [
      'throws at once',
      () => {
        throw new Error('secret');
      },
    ],
    ['never answers', () => new Promise(() => undefined)],
  ])('because it %s is no key: 503 in time, without its words, and the key works when it is back', async (_, get) => {
    const { open, faults } = overStore();
    const { key } = await open().gateway.apiKeys.create();
    const { post, clock, upstream } = open();
    const from = clock.now();
    faults.get = get;
    const refused = await post(ask, bearer(key));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(clock.now() - from).toBeLessThanOrEqual(250);
    expect(refused.text).not.toMatch(/secret|redis/);
    expect(upstream.sent).toEqual([]);
    faults.get = undefined;
    expect((await post(ask, bearer(key))).status).toBe(200);
  });
  it.each<[string, () => unknown]>([
    ['refuses to write', () => Promise.reject(new Error('read only'))],
    ['says that it did not', () => false],
  ])('because it %s makes no key', async (_, set) => {
    const { open, faults } = overStore();
    faults.set = set;
    await expect(open().gateway.apiKeys.create()).rejects.toMatchObject({ kind: 'unavailable', status: 503 });
  });
  it('because a record in it is damaged lets nobody in', async () => {
    const { open, bytes } = overStore();
    const { key, record } = await open().gateway.apiKeys.create();
    const [name] = [...bytes.keys()];
    bytes.set(name as string, JSON.stringify({ value: { ...record, permissions: 'all' } }));
    const { post, upstream } = open();
    expect((await post(ask, bearer(key))).status).toBe(500);
    expect(upstream.sent).toEqual([]);
  });
});
