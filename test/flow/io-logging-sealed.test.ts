import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { randomIds } from '../../src/base/ids.ts';
import type { Sealer } from '../../src/entries/stores.ts';
import type { GatewayOptions } from '../../src/index.ts';
import { masterSecrets } from '../support/credentials.ts';
import { checkError, type TestGateway, testGateway } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const { first, second } = masterSecrets;
const ask = { model: 'acme/fast', messages: [{ role: 'user', content: 'Where is my parcel?' }] };
const shown = {
  input: { messages: ask.messages },
  output: { completion: 'On its way', reasoning: null, tool_calls: [] },
  is_truncated: false,
};

interface Kept extends TestGateway {
  /** Asks, and gives the id of the request. */
  ask(): Promise<string>;
  content(id: string): ReturnType<TestGateway['call']>;
}

/** A gateway on these bytes, whose default workspace keeps prompts and responses. */
async function keeping(bytes: Map<string, unknown>, options: Partial<GatewayOptions>): Promise<Kept> {
  const test = testGateway({
    records: { enabled: true },
    store: new Keyv({ store: bytes }),
    ids: randomIds,
    ...options,
  });
  test.upstream.always({ body: completion({}, { content: 'On its way' }) });
  await test.call('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: true });
  return {
    ...test,
    ask: async () => (await test.post(ask)).headers.get('x-generation-id') as string,
    content: (id) => test.call('GET', `/generation/content?id=${id}`),
  };
}

const textOf = (bytes: Map<string, unknown>) => JSON.stringify([...bytes]);

describe('prompts and responses that are kept where there is a master secret', () => {
  it('are sealed in the store, and shown as they were, also by another instance', async () => {
    const bytes = new Map<string, unknown>();
    const one = await keeping(bytes, { secrets: { current: first } });
    const id = await one.ask();
    expect((await one.content(id)).json.data).toEqual(shown);
    const text = textOf(bytes);
    expect(text).toContain('generation-content');
    expect(text).not.toMatch(/parcel|On its way/);
    const other = await keeping(bytes, { secrets: { current: first } });
    expect((await other.content(id)).json.data).toEqual(shown);
  });
  it('open with an earlier secret, and are a clear 404 without it', async () => {
    const bytes = new Map<string, unknown>();
    const before = await keeping(bytes, { secrets: { current: first } });
    const id = await before.ask();
    expect((await before.content(id)).status).toBe(200);
    const rotated = await keeping(bytes, { secrets: { current: second, previous: [first] } });
    expect((await rotated.content(id)).json.data).toEqual(shown);
    for (const options of [{ secrets: { current: second } }, {}]) {
      const { status, json, text } = await (await keeping(bytes, options)).content(id);
      checkError(404, json);
      expect([status, json.error.message]).toEqual([404, expect.stringContaining('a secret that is not configured')]);
      expect(text).not.toMatch(/parcel|provider key/);
    }
  });
  it('open for no other request', async () => {
    const bytes = new Map<string, unknown>();
    const test = await keeping(bytes, { secrets: { current: first } });
    const [one, other] = [await test.ask(), await test.ask()];
    expect((await test.content(other)).status).toBe(200);
    const placeOf = (id: string) =>
      [...bytes.keys()].find((key) => key.includes('content') && key.includes(id)) as string;
    bytes.set(placeOf(one), bytes.get(placeOf(other)));
    expect((await test.content(one)).status).toBe(404);
    expect((await test.content(other)).status).toBe(200);
  });
  it('that were kept before there was a secret are shown', async () => {
    const bytes = new Map<string, unknown>();
    const open = await keeping(bytes, {});
    const id = await open.ask();
    expect((await open.content(id)).status).toBe(200);
    expect(textOf(bytes)).toContain('parcel');
    expect((await (await keeping(bytes, { secrets: { current: first } })).content(id)).json.data).toEqual(shown);
  });
});

describe('a key service that does not respond', () => {
  const away: Sealer = {
    keyId: 'kms-1',
    seal: () => Promise.reject(new Error('kms is away')),
    open: () => Promise.reject(new Error('kms is away')),
  };

  it('leaves the content out and keeps the record: nothing is stored in clear', async () => {
    const bytes = new Map<string, unknown>();
    const warnings: string[] = [];
    const silent = () => undefined;
    const warn = (_: object, text: string) => void warnings.push(text);
    const test = await keeping(bytes, { sealer: away, logger: { info: silent, warn, error: silent } });
    const id = await test.ask();
    expect((await test.content(id)).json.error.message).toContain('were not kept');
    expect((await test.call('GET', `/generation?id=${id}`)).status).toBe(200);
    expect(warnings).toContain('The content of a request could not be kept');
    expect(textOf(bytes)).not.toContain('parcel');
  });
  it('is a 503 for who reads, and opens when it is back', async () => {
    const bytes = new Map<string, unknown>();
    let isAway = false;
    const sealer: Sealer = {
      keyId: 'kms-1',
      seal: async (key, context) => ({ keyId: 'kms-1', sealed: btoa(JSON.stringify({ key: [...key], context })) }),
      open: async ({ sealed }, context) => {
        const bound = JSON.parse(atob(sealed)) as { key: number[]; context: string };
        if (isAway || bound.context !== context) throw new Error('kms is away');
        return Uint8Array.from(bound.key);
      },
    };
    const test = await keeping(bytes, { sealer });
    const id = await test.ask();
    expect((await test.content(id)).json.data).toEqual(shown);
    isAway = true;
    const { status, json } = await test.content(id);
    checkError(503, json);
    expect(status).toBe(503);
    isAway = false;
    expect((await test.content(id)).status).toBe(200);
  });
});
