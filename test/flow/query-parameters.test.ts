import { describe, expect, it } from 'vitest';
import { operations } from '../../src/operations/index.ts';
import { hello, testGateway, testKey } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const all = operations({ brand: 'service', pipeline: { plugins: [] } } as never);
const isChat = (path: string) =>
  /^\/(?:chat|completions|responses|messages|conversations|embeddings|rerank|moderations|decisions|images|audio)\b|\[:\]/.test(
    path,
  );
const pathOf = (path: string) => path.replace(':interval', 'daily').replace(/:\w+/g, 'x');

describe('a query parameter that the operation does not have', () => {
  it.each(all.filter(({ path }) => !isChat(path)).map(({ method, path }) => [method, pathOf(path)]))(
    'is a 400 that names it: %s %s',
    async (method, path) => {
      const { call } = testGateway();
      const body = method === 'GET' || method === 'DELETE' ? undefined : {};
      const required = path.startsWith('/generation/') || path === '/generation' ? 'id=gen-1&' : '';
      const { status, json } = await call(method, `${path}?${required}surprise=1`, body);
      expect([status, json.error.message]).toEqual([400, 'surprise: unknown key "surprise"']);
      expect(json.error.metadata.issues).toHaveLength(1);
    },
  );
  it.each(['/models', '/models/user', '/models/count', '/providers', '/workspaces', '/keys'])(
    'is no fault where clients add it to every address: %s',
    async (path) => {
      const { call } = testGateway();
      for (const query of ['client_version=0.1.2', 'api-version=2026-01-01'])
        expect((await call('GET', `${path}?${query}`)).status).toBe(200);
    },
  );
  it('changes nothing of the list of models for an agent that asks with its version', async () => {
    const { call } = testGateway();
    const plain = (await call('GET', '/models')).json;
    const asked = (await call('GET', '/models?client_version=0.156.0')).json;
    expect(asked).toEqual(plain);
    expect(Object.keys(asked)).toEqual(['object', 'data']);
  });
  it('is not looked at in chat, whose fields are all in the body', async () => {
    const { call, upstream } = testGateway();
    upstream.always({ body: completion() });
    const headers = { authorization: `Bearer ${testKey}` };
    const chat = { model: 'acme/fast', messages: hello };
    expect((await call('POST', '/chat/completions?beta=true', chat, headers)).status).toBe(200);
    expect((await call('POST', '/chat/completions/explain?beta=true', chat, headers)).status).toBe(200);
  });
});
