import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { chatRequest, hello, managementKey, testGateway, testKey } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const body = { model: 'acme/fast', messages: hello };
const keys = [{ key: testKey }, { key: managementKey, permissions: ['management' as const] }];
const user = { permissions: ['inference' as const], workspaceId: 'team-1', userId: 'ada' };

describe('with keys and users of the host app', () => {
  const asked: string[] = [];
  const both = (options: object = {}) => {
    const tested = testGateway({
      apiKeys: keys,
      store: new Keyv({ store: new Map() }),
      authenticate: (request) => {
        asked.push(request.headers.get('x-user') ?? '');
        return request.headers.get('x-user') === 'ada' ? user : null;
      },
      ...options,
    });
    tested.upstream.always({ body: completion() });
    asked.length = 0;
    return tested;
  };

  it('a key of the options, and one of the store, is tried first', async () => {
    const { post, records, gateway } = both();
    const { key, record } = await gateway.apiKeys.create({});
    expect((await post(body, { 'x-user': 'ada' })).status).toBe(200);
    expect((await post(body, { 'x-user': 'ada', authorization: `Bearer ${key}` })).status).toBe(200);
    expect(records.map(({ userId }) => userId)).toEqual([null, null]);
    expect(records[1]?.apiKeyHash).toBe(record.hash);
    expect(asked).toEqual([]);
  });
  it('everybody else is whom the host app finds: without a key, or with a token of its own', async () => {
    const { post, records } = both();
    for (const authorization of ['', 'Bearer eyJhbGciOi.a.jwt', 'Basic YTpi', 'Bearer sk-gw-unknown'])
      expect((await post(body, { 'x-user': 'ada', authorization })).status).toBe(200);
    expect(records.map(({ userId, workspaceId }) => [userId, workspaceId])).toEqual(Array(4).fill(['ada', 'team-1']));
    expect((await post(body, { 'x-user': 'eve', authorization: '' })).status).toBe(401);
  });
  it('a key that was disabled is refused, whoever sends it', async () => {
    const { post, gateway } = both();
    const { key, record } = await gateway.apiKeys.create({});
    await gateway.apiKeys.setDisabled(record.hash, true);
    const { status, json } = await post(body, { 'x-user': 'ada', authorization: `Bearer ${key}` });
    expect([status, json.error.message]).toEqual([401, 'The API key is disabled']);
    expect(asked).toEqual([]);
  });
  it('a token of the host app is not looked up in the store', async () => {
    let reads = 0;
    const map = new Map();
    const store = new Keyv({ store: map });
    const get = store.get.bind(store);
    store.get = ((name: string) => {
      if (String(name).includes('key')) reads++;
      return get(name);
    }) as typeof store.get;
    const { post } = both({ store });
    expect((await post(body, { 'x-user': 'ada', authorization: 'Bearer eyJhbGciOi.a.jwt' })).status).toBe(200);
    expect(reads).toBe(0);
  });
});

describe('a caller whom the host app names', () => {
  const named = () => {
    const tested = testGateway({ authenticate: 'host', apiKeys: keys });
    tested.upstream.always({ body: completion() });
    return tested;
  };
  const unkeyed = () => {
    const request = chatRequest(body);
    request.headers.delete('authorization');
    return request;
  };

  it('needs no key, in process', async () => {
    const { gateway, run, records } = named();
    const response = await run(gateway.as(user).fetch(unkeyed()));
    expect([response.status, records[0]?.userId, records[0]?.workspaceId]).toEqual([200, 'ada', 'team-1']);
    expect((await run(gateway.fetch(unkeyed()))).status).toBe(401);
  });
  it('counts before a key that the request holds', async () => {
    const { gateway, run, records } = named();
    await run(gateway.handle(chatRequest(body), { caller: user }));
    expect(records[0]?.userId).toBe('ada');
  });
  it('has the permissions that were named, and no other', async () => {
    const { gateway, run } = named();
    const response = await run(gateway.as(user).fetch('http://gateway.test/v1/workspaces'));
    expect(response.status).toBe(403);
  });
  it('may be found by a function, which is asked where there is no known key', async () => {
    const { gateway, run, records } = named();
    let asked = 0;
    const caller = async () => {
      asked++;
      return user;
    };
    await run(gateway.handle(chatRequest(body), { caller }));
    await run(gateway.handle(unkeyed(), { caller }));
    expect([asked, records.map(({ userId }) => userId)]).toEqual([1, [null, 'ada']]);
    expect((await run(gateway.handle(unkeyed(), { caller: () => null }))).status).toBe(401);
  });
  it('is refused with 500 where the function throws, or finds what is no caller', async () => {
    const { gateway, run } = named();
    const failing = () => {
      throw new Error('The database sk-secret is down');
    };
    const found = (caller: unknown) => () => caller as typeof user;
    for (const caller of [
      failing,
      found({ ...user, workspaceId: 'not an id' }),
      found({ workspaceId: 'team-1' }),
      found({ permissions: ['everything'] }),
      found('ada'),
    ]) {
      const response = await run(gateway.handle(unkeyed(), { caller }));
      expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('secret')]);
    }
  });
});
