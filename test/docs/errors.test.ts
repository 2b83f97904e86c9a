import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { chatChunkSchema } from '../../src/schema/chunk.ts';
import { hello, managementKey, testGateway } from '../support/gateway.ts';
import { chunk, errorBody, type ScriptedAnswer, sse } from '../support/upstream.ts';
import { codeBlocks, quoted, readDoc, tableRows } from './markdown.ts';

const doc = readDoc('docs/errors.md');
const rows = tableRows(doc).filter(({ columns }) => columns[0] === 'Status');

/** How to come by a row: what is asked, and what the provider answers to every attempt. */
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
const refused = ['provider_name', 'provider_code'];
const answered = (status: number, headers = {}): ScriptedAnswer => ({
  status,
  headers,
  body: errorBody('No', 'some_code'),
});

const cases: Case[] = [
  { status: 400, when: 'not JSON', body: '{', metadata: ['issues'] },
  { status: 400, when: 'not JSON', body: { ...ask, temperature: 3 }, metadata: ['issues'] },
  { status: 400, when: 'not JSON', body: `{"a":${'['.repeat(200)}${']'.repeat(200)}}`, metadata: ['issues'] },
  { status: 400, when: 'unknown model', body: { ...ask, model: 'acme/gone' }, metadata: ['model'] },
  { status: 400, when: 'unknown model', body: { ...ask, plugins: [{ id: 'web' }] }, metadata: ['plugin'] },
  { status: 400, when: 'the provider refused', upstream: answered(400), metadata: refused },
  { status: 401, when: 'no key', headers: { authorization: 'Bearer wrong' } },
  { status: 403, when: 'the key lacks', headers: { authorization: `Bearer ${managementKey}` } },
  { status: 404, when: 'leave no endpoint', body: { ...ask, provider: { ignore: ['up'] } }, metadata: ['excluded'] },
  { status: 404, when: 'the provider does not know', upstream: answered(404), metadata: refused },
  { status: 408, when: 'took longer', headers: { 'x-service-timeout-ms': '50' }, upstream: { instead: 'hang' } },
  { status: 413, when: 'limits.bodyBytes', options: { limits: { bodyBytes: 10 } }, metadata: ['limit_bytes'] },
  { status: 413, when: 'than the provider takes', upstream: answered(413), metadata: refused },
  {
    status: 422,
    when: 'contradicts itself',
    body: { ...ask, reasoning_effort: 'low', reasoning: { effort: 'high' } },
    metadata: ['issues'],
  },
  { status: 422, when: 'the provider says so', upstream: answered(422), metadata: refused },
  {
    status: 429,
    when: 'rate limited',
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
    status: 524,
    when: 'did not answer in time',
    upstream: { instead: 'hang' },
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
  it('has every status that the gateway can answer, and no other', () => {
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
  it('is right about 500: neither metadata nor details', async () => {
    const authenticate = () => {
      throw new Error('secret detail');
    };
    const { post } = testGateway({ authenticate });
    const { status, json } = await post(ask, { 'x-service-metadata': 'enabled' });
    expect([status, Object.keys(json), Object.keys(json.error)]).toEqual([500, ['error'], ['code', 'message']]);
    expect(json.error.message).not.toContain('secret');
  });
  it('is right about 503: set aside, and with Retry-After', async () => {
    const { post, upstream, gateway, send } = testGateway();
    upstream.always(answered(401));
    await post(ask);
    const resting = await post(ask);
    expect([resting.status, resting.headers.get('retry-after')]).toEqual([503, '60']);
    await gateway.close();
    const closed = await send(ask);
    expect([closed.status, closed.headers.get('retry-after')]).toEqual([503, '1']);
  });
  it('shows the envelope as it comes', async () => {
    const { post } = testGateway();
    const { json } = await post({ model: 'acme/fast', messages: [{ role: 'user', content: 5 }] });
    expect(JSON.parse(codeBlocks(doc, 'json')[0] as string)).toEqual(json);
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
    chatChunkSchema.parse(documented);
    expect(documented).toEqual({ ...chunks.at(-1), id: 'gen-…', created: expect.any(Number), provider: 'local' });
    expect(Object.keys(documented)).toEqual(Object.keys(chunks.at(-1) as object));
    expect(text.endsWith('}\n\ndata: [DONE]\n\n')).toBe(true);
  });
});
