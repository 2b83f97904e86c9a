import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { blockedBy, defineGuardrail, type Guardrail } from '../../src/guardrails/guardrail.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { chatChunkSchema } from '../../src/schema/chat/chunk.ts';
import { type CallAnswer, hello, managementKey, testGateway } from '../support/gateway.ts';
import { chunk, completion, errorBody, type ScriptedAnswer, sse, textStream } from '../support/upstream.ts';
import { codeBlocks, quoted, readDoc, tableRows } from './markdown.ts';

const doc = readDoc('docs/errors.md');
const rows = tableRows(doc).filter(({ columns }) => columns[0] === 'Status');

/** How to get the error of a row: the request, and the provider's response to every attempt. */
interface Case {
  status: number;
  /** Words of the row's second column. */
  when: string;
  body?: object | string;
  headers?: Record<string, string>;
  upstream?: ScriptedAnswer;
  options?: Partial<GatewayOptions>;
  /** Members of `metadata` besides `error_type`. */
  metadata?: string[];
}

const ask = { model: 'acme/fast', messages: hello };
const refused = ['provider_name', 'provider_code', 'raw'];
const answered = (status: number, headers = {}): ScriptedAnswer => ({
  status,
  headers,
  body: errorBody('No', 'some_code'),
});

const words: Guardrail = defineGuardrail({
  id: 'words',
  before(_request, context) {
    throw blockedBy(words, ['greeting'], context);
  },
});

const cases: Case[] = [
  { status: 400, when: 'not JSON', body: '{', metadata: ['issues'] },
  { status: 400, when: 'not JSON', body: { ...ask, temperature: 3 }, metadata: ['issues'] },
  { status: 400, when: 'not JSON', body: `{"a":${'['.repeat(200)}${']'.repeat(200)}}`, metadata: ['issues'] },
  { status: 400, when: '`"required"`', body: { ...ask, tool_choice: 'required' }, metadata: ['issues'] },
  { status: 400, when: '`X-Session-Id`', headers: { 'x-session-id': 's'.repeat(257) }, metadata: ['issues'] },
  { status: 400, when: '`X-Session-Id`', headers: { 'x-service-timeout-ms': 'soon' }, metadata: ['issues'] },
  { status: 400, when: 'unknown model', body: { ...ask, model: 'acme/unheard-of' }, metadata: ['model'] },
  { status: 400, when: 'unknown model', body: { ...ask, model: 'acme/fsat' }, metadata: ['model', 'did_you_mean'] },
  { status: 400, when: 'unknown model', body: { ...ask, plugins: [{ id: 'web' }] }, metadata: ['plugin'] },
  { status: 400, when: 'the provider refused', upstream: answered(400), metadata: refused },
  { status: 401, when: 'no key', headers: { authorization: 'Bearer wrong' } },
  { status: 403, when: 'the key lacks', headers: { authorization: `Bearer ${managementKey}` } },
  {
    status: 403,
    when: 'has blocked',
    options: { guardrails: [words] },
    metadata: ['patterns'],
  },
  { status: 404, when: 'leave no endpoint', body: { ...ask, provider: { ignore: ['up'] } }, metadata: ['excluded'] },
  { status: 404, when: 'the provider does not know', upstream: answered(404), metadata: refused },
  { status: 408, when: 'took longer', headers: { 'x-service-timeout-ms': '50' }, upstream: { instead: 'hang' } },
  { status: 413, when: 'limits.bodyBytes', options: { limits: { bodyBytes: 10 } }, metadata: ['limit_bytes'] },
  { status: 413, when: 'limits.jsonValues', options: { limits: { jsonValues: 5 } }, metadata: ['limit_values'] },
  {
    status: 403,
    when: 'refused the content',
    upstream: { status: 403, body: errorBody('Content violates usage guidelines', 'safety') },
    // Its words may name the operator's account.
    metadata: ['provider_name', 'provider_code'],
  },
  {
    status: 413,
    when: 'needs more tokens',
    options: { rateLimits: { key: { tokensPerMinute: 5 } } },
    body: { ...ask, max_tokens: 10 },
    metadata: ['limit_name', 'limit', 'tokens'],
  },
  { status: 413, when: 'than the provider accepts', upstream: answered(413), metadata: refused },
  {
    status: 422,
    when: 'contradicts itself',
    body: { ...ask, reasoning_effort: 'low', reasoning: { effort: 'high' } },
    metadata: ['issues'],
  },
  { status: 422, when: 'server tool', body: { ...ask, tool_choice: { type: 'service:bash' } }, metadata: ['issues'] },
  { status: 422, when: 'the provider reports such', upstream: answered(422), metadata: refused },
  {
    status: 429,
    when: 'the provider of the last attempt',
    upstream: answered(429, { 'retry-after': '3' }),
    metadata: [...refused, 'previous_errors'],
  },
  { status: 502, when: 'the provider failed', upstream: answered(500), metadata: [...refused, 'previous_errors'] },
  {
    status: 502,
    when: 'the provider failed',
    upstream: { body: '<p>' },
    metadata: ['provider_name', 'previous_errors'],
  },
  { status: 502, when: "the gateway's own credentials", upstream: answered(401), metadata: ['provider_name'] },
  {
    status: 504,
    when: 'took longer than',
    options: { guardrails: [{ id: 'slow', before: () => new Promise(() => undefined) }] },
  },
  {
    status: 524,
    when: 'did not respond in time',
    upstream: { instead: 'hang' },
    // By default two such attempts take as long as a request may.
    options: { timeouts: { jsonHeadersMs: 60_000 } },
    metadata: ['provider_name', 'previous_errors'],
  },
  { status: 529, when: 'overloaded', upstream: answered(503), metadata: [...refused, 'previous_errors'] },
  { status: 529, when: 'overloaded', upstream: answered(529), metadata: [...refused, 'previous_errors'] },
];

/** The row of a status that holds the words. */
function rowOf({ status, when }: Pick<Case, 'status' | 'when'>): (typeof rows)[number] {
  const found = rows.filter(({ cells }) => cells[0] === String(status) && cells[1]?.includes(when));
  expect([when, found.length]).toEqual([when, 1]);
  return found[0] as (typeof rows)[number];
}

describe('docs/errors.md', () => {
  it('has every status that the gateway can respond with, and no other', () => {
    const known = [...readDoc('src/base/errors.ts').matchAll(/\bstatus: (\d{3}), errorType/g)].map(
      ([, status]) => status,
    );
    expect(known.length).toBeGreaterThan(10);
    expect(new Set(rows.map(({ cells }) => cells[0]))).toEqual(new Set(known));
  });
  it.each(cases)('is right about $status: $when', async (one) => {
    const { post, upstream } = testGateway(one.options);
    upstream.always(one.upstream ?? { status: 500 });
    const { status, json, headers } = await post(one.body ?? ask, one.headers);
    expect([status, json.error.message]).toEqual([one.status, expect.any(String)]);
    expect(headers.get('x-generation-id')).toMatch(/^gen-/);
    const { error_type: _, ...metadata } = json.error.metadata ?? {};
    const names = one.metadata ?? [];
    expect(Object.keys(metadata).sort()).toEqual([...names].sort());
    const documented = rowOf(one).cells[2] as string;
    const same = rowOf({ status: 400, when: 'the provider refused' }).cells[2] as string;
    expect(quoted(documented.includes('as for a refused request') ? same : documented)).toEqual(
      expect.arrayContaining(names),
    );
    if (one.status === 429) expect(headers.get('retry-after')).toBe('3');
  });
  it('is right about 404 and 405 of paths', async () => {
    const { gateway } = testGateway();
    expect((await gateway.fetch('http://gateway.test/v1/gone')).status).toBe(404);
    const response = await gateway.fetch('http://gateway.test/v1/chat/completions');
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });
  describe('of tenants', () => {
    const secrets = { current: 'a master secret of the tests, which is long enough' };
    const credential = { provider: 'groq', key: 'gsk-0123456789' };
    const metadataOf = ({ json }: CallAnswer) =>
      Object.keys(json.error.metadata ?? {}).filter((one) => one !== 'error_type');
    const said = (status: number, when: string) => quoted(rowOf({ status, when }).cells[2] as string);
    const put = (limit_usd: number) => ['PUT', '/workspaces/default/budgets/daily', { limit_usd }] as const;

    it('is right about 402: of a workspace and of a key', async () => {
      const { call, post, upstream } = testGateway();
      upstream.always({ body: completion() });
      await call(...put(0.0001));
      const refused = await post(ask);
      expect([refused.status, refused.json.error.metadata]).toEqual([
        402,
        expect.objectContaining({ scope: 'workspace', interval: 'daily' }),
      ]);
      const names = said(402, 'may cost more');
      for (const name of Object.keys(refused.json.error.metadata ?? {}))
        if (name !== 'error_type') expect(names).toContain(name);
      await call('PUT', '/workspaces/default/budgets/lifetime', { limit_usd: 0.0001 });
      expect((await post(ask)).json.error.metadata).toMatchObject({ interval: 'lifetime', resets_at: null });
      await call(...put(1));
      await call('DELETE', '/workspaces/default/budgets/lifetime');
      const { json } = await call('POST', '/keys', { name: 'k', limit: 0.0001 });
      const limited = await post(ask, { authorization: `Bearer ${json.key}` });
      expect([limited.status, limited.json.error.metadata]).toEqual([402, expect.objectContaining({ scope: 'key' })]);
    });
    it('is right about 429 of a limit of ours, and who may not lift it', async () => {
      const { call, post, upstream } = testGateway({ rateLimits: { key: { requestsPerMinute: 1 } } });
      upstream.always({ body: completion() });
      await post(ask);
      const refused = await post(ask);
      const { error_type: _, ...metadata } = refused.json.error.metadata ?? {};
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
      expect(said(429, 'is reached')).toEqual(expect.arrayContaining(Object.keys(metadata)));
      const { json } = await call('POST', '/keys', { name: 'k', permissions: ['management'] });
      const headers = { authorization: `Bearer ${json.key}` };
      const lifted = await call('POST', '/keys', { name: 'x', requests_per_minute: 2 }, headers);
      expect(lifted.status).toBe(403);
      expect(said(403, 'limit that an operator set')).toEqual(metadataOf(lifted));
    });
    it('is right about 400 for a price that is not known', async () => {
      const { call, post } = testGateway();
      await call(...put(1));
      const refused = await post({ ...ask, model: 'acme/free' });
      expect([refused.status, Object.keys(refused.json.error.metadata ?? {})]).toEqual([
        400,
        ['error_type', 'unpriced'],
      ]);
      expect(said(400, 'has a known price')).toEqual(['unpriced']);
      const unknown = await post({ ...ask, connectors: [{ id: 'web-search' }] });
      expect([unknown.status, metadataOf(unknown)]).toEqual([400, said(400, 'a field of the request may cost')]);
    });
    it('is right about what a workspace may not be or hold', async () => {
      const { call } = testGateway();
      const made = await call('POST', '/workspaces', { name: 'x', slug: 'x' });
      const taken = await call('POST', '/workspaces', { name: 'x', slug: 'x' });
      expect([taken.status, metadataOf(taken)]).toEqual([400, said(400, 'slug')]);
      await call('POST', '/keys', { name: 'k', workspace_id: made.json.data.id });
      const live = await call('DELETE', '/workspaces/x');
      expect([live.status, metadataOf(live)]).toEqual([400, said(400, 'live keys')]);
      expect((await call('DELETE', '/workspaces/default')).status).toBe(400);
      rowOf({ status: 400, when: 'is the default one' });
    });
    it('is right about 403 and 404 for keys of one workspace', async () => {
      const { call } = testGateway();
      const { json } = await call('POST', '/workspaces', { name: 'x', slug: 'x' });
      const key = await call('POST', '/keys', { name: 'k', workspace_id: json.data.id, permissions: ['management'] });
      const headers = { authorization: `Bearer ${key.json.key}` };
      expect((await call('POST', '/workspaces', { name: 'y', slug: 'y' }, headers)).status).toBe(403);
      rowOf({ status: 403, when: 'cannot create another' });
      await call('PUT', '/workspaces/x/budgets/daily', { limit_usd: 1 });
      const raised = await call('PUT', '/workspaces/x/budgets/daily', { limit_usd: 2 }, headers);
      expect([raised.status, metadataOf(raised)]).toEqual([403, said(403, 'that an operator set')]);
      const renamed = await call('PATCH', '/workspaces/x', { slug: 'z' }, headers);
      expect([renamed.status, metadataOf(renamed)]).toEqual([403, said(403, 'would change the slug')]);
      const [foreign, unknown] = [
        await call('GET', '/workspaces/default', undefined, headers),
        await call('GET', '/workspaces/nobody', undefined, headers),
      ];
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
      rowOf({ status: 404, when: 'the message is the same' });
    });
    it('is right about 503: the store, the key service, and no secrets', async () => {
      const silent = new Keyv();
      Object.assign(silent.store, { get: () => new Promise(() => undefined) });
      const stuck = testGateway({ store: silent });
      const lost = await stuck.post(ask);
      expect([lost.status, lost.headers.get('retry-after')]).toEqual([503, '1']);
      const sealer = {
        keyId: 'k',
        seal: () => Promise.reject(new Error('away')),
        open: () => Promise.reject(new Error('away')),
      };
      const away = await testGateway({ sealer }).call('POST', '/byok', credential);
      expect([away.status, away.headers.get('retry-after')]).toEqual([503, '1']);
      rowOf({ status: 503, when: 'the store or the key service' });
      const unsealed = await testGateway().call('POST', '/byok', credential);
      expect([unsealed.status, unsealed.headers.get('retry-after')]).toEqual([503, null]);
      expect(unsealed.json.error.message).toContain('`secrets`');
      rowOf({ status: 503, when: 'without `Retry-After`' });
      expect((await testGateway({ secrets }).call('POST', '/byok', credential)).status).toBe(201);
    });
    it('is right about BYOK credentials: the next at once, and 502 for the last', async () => {
      const retried = tableRows(doc).find(({ cells }) => cells[0]?.endsWith('a BYOK credential'));
      for (const status of (retried?.cells[0]?.match(/\d+/g) ?? []).map(Number)) {
        const { call, post, upstream, clock } = testGateway({ secrets });
        for (let n = 0; n < 2; n++) expect((await call('POST', '/byok', credential)).status).toBe(201);
        upstream.answer({ status, body: errorBody('No') }, { body: completion() });
        const from = clock.now();
        expect((await post({ ...ask, model: 'groq/llama' })).status).toBe(200);
        expect([upstream.sent.length, clock.now() - from]).toEqual([2, 0]);
      }
      const { call, post, upstream } = testGateway({ secrets });
      await call('POST', '/byok', credential);
      upstream.always({ status: 401, body: errorBody('No') });
      expect((await post({ ...ask, model: 'groq/llama' })).status).toBe(502);
      rowOf({ status: 502, when: 'the last BYOK credential' });
    });
  });
  it('is right about 500: neither metadata nor details', async () => {
    const authenticate = () => {
      throw new Error('secret detail');
    };
    const { post } = testGateway({ authenticate });
    const { status, json } = await post(ask, { 'x-service-metadata': 'enabled' });
    expect([status, Object.keys(json), Object.keys(json.error)]).toEqual([500, ['error'], ['code', 'message']]);
    expect(json.error.message).not.toContain('secret');
  });
  it('is right about 503: in cooldown, and with Retry-After', async () => {
    const { post, upstream, gateway, send } = testGateway();
    upstream.always(answered(401));
    await post(ask);
    const coolingDown = await post(ask);
    expect([coolingDown.status, coolingDown.headers.get('retry-after')]).toEqual([503, '60']);
    await gateway.close();
    const closed = await send(ask);
    expect([closed.status, closed.headers.get('retry-after')]).toEqual([503, '1']);
  });
  it('shows the envelope as it comes', async () => {
    const { post } = testGateway();
    const [, body = ''] = /-d '([^']*)'/.exec(codeBlocks(doc, 'sh')[0] as string) ?? [];
    const { json } = await post(JSON.parse(body));
    expect(JSON.parse(codeBlocks(doc, 'json')[0] as string)).toEqual(json);
  });
  it('is right about the type and the message of that chunk, by who ended the stream', async () => {
    const refuse = defineGuardrail({
      id: 'refuse',
      steps: (context) => [
        {
          push() {
            throw blockedBy(refuse, ['greeting'], context);
          },
        },
      ],
    });
    const broken = async (upstream: ScriptedAnswer, options: Partial<GatewayOptions> = {}) => {
      const { post, upstream: provider } = testGateway(options);
      provider.always(upstream);
      const error = (await post({ ...ask, stream: true })).chunks.at(-1)?.error;
      return [error?.type, error?.message.startsWith('Provider returned error: ')];
    };
    expect(await broken({ body: [sse(chunk({ content: 'Hel' }))] })).toEqual(['server_error', true]);
    expect(await broken({ body: textStream('a') }, { guardrails: [refuse] })).toEqual(['permission_denied', false]);
  });
  it('is right about `streams.onCut`', async () => {
    const { send, run, upstream, records } = testGateway({ streams: { onCut: 'close' } });
    upstream.always({ body: [sse(chunk({ content: 'Hel' }))] });
    const response = await run(send({ ...ask, stream: true }));
    await expect(run(response.text())).rejects.toThrow();
    expect(records).toMatchObject([{ outcome: 'cut', status: 502 }]);
  });
  it('shows the chunk that ends a broken stream as it comes', async () => {
    const { post, upstream } = testGateway();
    upstream.always({ body: [sse(chunk({ content: 'Hel' }))] });
    const { chunks, text } = await post({ ...ask, stream: true });
    const [shown = ''] = codeBlocks(doc, '');
    const line = /^ *data: (.*)$/m
      .exec(shown)?.[1]
      ?.replace('"usage":{…}', `"usage":${JSON.stringify(chunks.at(-1)?.usage)}`);
    const documented = JSON.parse(line as string);
    chatChunkSchema().parse(documented);
    expect(documented).toEqual({ ...chunks.at(-1), id: 'gen-…', created: expect.any(Number), provider: 'local' });
    expect(Object.keys(documented)).toEqual(Object.keys(chunks.at(-1) as object));
    expect(text.endsWith('}\n\ndata: [DONE]\n\n')).toBe(true);
  });
});
