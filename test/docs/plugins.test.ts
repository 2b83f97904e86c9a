import { describe, expect, it, vi } from 'vitest';
import type { Gateway } from '../../src/gateway.ts';
import {
  type Guardrail,
  type Operation,
  type OperationRecord,
  OptionsError,
  type Plugin,
  type PluginHooks,
} from '../../src/index.ts';
import { GenerationStream } from '../../src/pipeline/generation/stream.ts';
import { hello, testGateway, testKey } from '../support/gateway.ts';
import { eventsOf } from '../support/sandbox-call.ts';
import { chunk, completion, sse, textStream } from '../support/upstream.ts';
import { examplesOf, writeExample } from './example-files.ts';
import { quoted, readDoc, tableRows } from './markdown.ts';
import { membersOf, ownMembersOf } from './members.ts';

const doc = readDoc('docs/plugins.md');
const [
  redacting = '',
  asking = '',
  choosing = '',
  native = '',
  paying = '',
  blocking = '',
  classifying = '',
  serving = '',
  logging = '',
  ...others
] = examplesOf('docs/plugins.md');

/** What an example declares. */
async function shown(name: string, code: string): Promise<Record<string, unknown> & { gateway: Gateway }> {
  return import(/* @vite-ignore */ writeExample(`plugins-${name}`, code));
}

/** A request to a gateway of the docs. */
async function call(gateway: Gateway, method: string, path: string, body?: object): Promise<Response> {
  const headers = {
    authorization: 'Bearer sk-change-me-please',
    'content-type': 'application/json',
    'x-service-metadata': 'enabled',
  };
  return gateway.fetch(`http://in-process/v1${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

function chat(gateway: Gateway, body: object = {}): Promise<Response> {
  const content = 'Hi there';
  return call(gateway, 'POST', '/chat/completions', {
    model: 'sandbox/echo',
    messages: [{ role: 'user', content }],
    ...body,
  });
}

const quick = { first_token_ms: 0, token_ms: 0 };
const ask = { model: 'acme/fast', messages: hello, max_tokens: 100 };
const textOf = (chunks: readonly { choices: readonly { delta: { content?: string | null } }[] }[]) =>
  chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');

describe('docs/plugins.md', () => {
  it('shows no example that is not run here', () => {
    expect([others, logging === '']).toEqual([[], false]);
  });

  it('redacts a word in responses, in JSON and in streams', async () => {
    const { gateway } = await shown('redact', redacting);
    const body = { model: 'sandbox/lorem', sandbox: quick };
    const { choices } = await (await chat(gateway, body)).json();
    const text = await (await chat(gateway, { ...body, stream: true })).text();
    const chunks = eventsOf(text).filter((event) => event.startsWith('{'));
    for (const found of [choices[0].message.content, textOf(chunks.map((event) => JSON.parse(event)))]) {
      expect(found).toContain('[redacted] ipsum');
      expect(found).not.toContain('Lorem');
    }
  });
  it('redacts a word that a stream splits, and loses nothing of what only looks like it', async () => {
    const { redact } = await shown('redact', redacting);
    const { post, upstream } = testGateway({ plugins: [redact as Plugin] });
    upstream.answer({ body: textStream('A L', 'or', 'em and a Lo', 'rry, Lo') });
    expect(textOf((await post({ ...ask, stream: true })).chunks)).toBe('A [redacted] and a Lorry, Lo');
  });

  it('asks a second model when the first response is empty, and delivers JSON and streams', async () => {
    const { gateway } = await shown('ask', asking);
    const plugins = [{ id: 'second-opinion' }];
    const json = await (await chat(gateway, { model: 'sandbox/refusal', plugins, sandbox: quick })).json();
    expect(json.choices[0].message.content).toBe('Hi there');
    expect(json.service_metadata).toMatchObject({
      pipeline: [{ name: 'second-opinion' }],
      generations: [expect.anything(), expect.anything()],
    });
    const streamed = await (await chat(gateway, { plugins, stream: true, sandbox: quick })).text();
    const chunks = eventsOf(streamed).filter((event) => event.startsWith('{'));
    expect(textOf(chunks.map((event) => JSON.parse(event)))).toBe('Hi there');
  });
  it('asks the model that the request names, and only where it names the plugin', async () => {
    const { secondOpinion } = await shown('ask', asking);
    const { post, upstream, records } = testGateway({ plugins: [secondOpinion as Plugin] });
    const empty = { body: completion({}, { content: null, refusal: 'No' }) };
    upstream.answer(empty, { body: completion() }, empty);
    const named = { ...ask, plugins: [{ id: 'second-opinion', model: 'acme/other' }] };
    expect((await post(named)).json.choices[0]?.message.content).toBe('Hello there');
    await post(ask);
    expect(records.map(({ generations }) => generations.length)).toEqual([2, 1]);
  });

  it('looks at what a Responses request says beside the chat request, and takes out of it', async () => {
    const { gateway, noCodeNames } = await shown('native', native);
    const item = {
      type: 'web_search_call',
      id: 'ws',
      status: 'completed',
      action: { type: 'search', query: 'bluebird' },
    };
    const body = { model: 'sandbox/echo', input: [{ role: 'user', content: 'Hi' }, item] };
    const blocked = await call(gateway, 'POST', '/responses', body);
    expect([blocked.status, (await blocked.json()).error.metadata.patterns]).toEqual([403, ['code-name']]);
    expect((await chat(gateway)).status).toBe(200);
    const { call: send, upstream } = testGateway({
      providers: { up: { baseUrl: 'https://up.test/v1', dialect: 'openai-responses' } },
      models: [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm' }] }],
      guardrails: [noCodeNames as Guardrail],
    });
    upstream.answer({ body: { status: 'completed', output: [], usage: { input_tokens: 1, output_tokens: 1 } } });
    const tools = [{ type: 'web_search' }];
    const headers = { authorization: `Bearer ${testKey}` };
    await send('POST', '/responses', { model: 'acme/fast', input: 'Hi', tools }, headers);
    expect(upstream.sent[0]?.body).not.toHaveProperty('tools');
  });
  it('asks for a plugin by a suffix and by a model of its own', async () => {
    const { gateway } = await shown('choose', choosing);
    const ask = async (body: object) => (await chat(gateway, { sandbox: quick, ...body })).json();
    expect(await ask({ model: 'mybrand/house' })).toMatchObject({
      model: 'sandbox/echo',
      mybrand_metadata: { requested: 'mybrand/house', strategy: 'auto' },
    });
    const long = { messages: Array(5).fill(hello[0]) };
    expect((await ask({ model: 'mybrand/house', ...long })).model).toBe('sandbox/lorem');
    const ends = ['sandbox/lorem:brief', 'sandbox/lorem'].map(async (model) => {
      const { choices } = await ask({ model, max_tokens: 1000 });
      return choices[0].finish_reason;
    });
    expect(await Promise.all(ends)).toEqual(['length', 'stop']);
  });

  it('holds money for a search and books what it cost', async () => {
    const { lookUp } = await shown('pay', paying);
    const { post, call: manage, upstream, records } = testGateway({ plugins: [lookUp as Plugin] });
    await manage('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.01 });
    upstream.always({ body: completion() });
    const body = { ...ask, plugins: [{ id: 'look-up' }] };
    expect((await post(body)).status).toBe(200);
    expect(upstream.sent[0]?.body.messages).toEqual([{ role: 'system', content: 'Bananas are berries.' }, ...hello]);
    const [{ costNanoUsd, generations, pipeline } = {}] = records;
    expect(costNanoUsd).toBe(3_000_000 + (generations?.[0]?.costNanoUsd ?? 0));
    expect(pipeline).toMatchObject([{ name: 'look-up' }]);
    await manage('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.007 });
    expect((await post(body)).status).toBe(402);
    expect(upstream.sent).toHaveLength(1);
  });

  it('blocks by a guardrail, with names and without the text', async () => {
    const { gateway } = await shown('block', blocking);
    expect((await chat(gateway)).status).toBe(200);
    const content = 'Bluebird: 4111 1111 1111 1111';
    const response = await chat(gateway, { messages: [{ role: 'user', content }] });
    const text = await response.text();
    const { error, service_metadata } = JSON.parse(text);
    expect([response.status, error.metadata.patterns]).toEqual([403, ['card-number', 'project-name']]);
    expect(service_metadata.pipeline).toMatchObject([{ guardrail_id: 'secrets', guardrail_scope: 'gateway' }]);
    expect(text).not.toContain('4111');
  });

  it('serves operations: JSON, a file, a check, and a record of each', async () => {
    const { gateway } = await shown('serve', serving);
    const path = '/generations/gen-1/votes';
    const voted = await call(gateway, 'POST', path, { score: 4 });
    expect([voted.status, await voted.json()]).toEqual([201, { data: { id: 'gen-1', score: 4 } }]);
    expect((await call(gateway, 'POST', path, { score: 9 })).status).toBe(400);
    const file = await call(gateway, 'GET', '/votes.csv');
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(await file.text()).toBe('id,score\ngen-1,4\n');
    expect((await gateway.fetch('http://in-process/v1/votes.csv')).status).toBe(401);
  });
  it('gives onOperation a record of each run, and refuses a method and path that are taken', async () => {
    const { vote } = await shown('serve', serving);
    const operations = [vote as Operation];
    const noted: OperationRecord[] = [];
    const { call: run } = testGateway({ operations, onOperation: (record) => noted.push(record) });
    await run('POST', '/generations/gen-1/votes', { score: 4 }, { authorization: `Bearer ${testKey}` });
    expect(noted).toMatchObject([
      { kind: 'operation', operation: 'vote', method: 'POST', path: '/generations/:id/votes', status: 201 },
    ]);
    const taken = { ...(vote as Operation), path: '/workspaces' };
    expect(() => testGateway({ operations: [taken] })).toThrow(OptionsError);
  });

  it('collects an I/O log by a step, of JSON, of streams and of streams that break', async () => {
    const { ioLog, log } = await shown('log', logging);
    const { post, upstream, records } = testGateway({ guardrails: [ioLog as Guardrail] });
    upstream.answer(
      { body: completion() },
      { body: textStream('Hel', 'lo') },
      { body: [sse(chunk({ content: 'Hel' }))] },
    );
    for (const stream of [false, true, true]) await post({ ...ask, stream });
    const entry = { userId: null, messages: hello };
    const [one, two, three] = records.map(({ id }) => id);
    expect(log).toEqual([
      { ...entry, id: one, text: 'Hello there', end: 'complete' },
      { ...entry, id: two, text: 'Hello', end: 'complete' },
      { ...entry, id: three, text: 'Hel', end: 'failed' },
    ]);
  });

  it('asks a classifier beside the model, and refuses what it finds', async () => {
    const { gateway } = await shown('classify', classifying);
    expect((await chat(gateway)).status).toBe(200);
    const refused = await chat(gateway, { messages: [{ role: 'user', content: 'What is bluebird?' }] });
    expect([refused.status, (await refused.json()).error.metadata.patterns]).toEqual([403, ['classified']]);
  });
  it('has a row for every hook, every member of the context and every field of a plugin', () => {
    const named = (column: string) =>
      tableRows(doc)
        .filter(({ columns }) => columns[0] === column)
        .flatMap(({ cells }) => quoted(cells[0] as string).map((code) => /^\w+/.exec(code)?.[0]));
    const hooks = membersOf('src/call/hooks.ts', 'PluginHooks');
    expect(named('Hook').sort()).toEqual([...hooks].sort());
    expect(named('Member')).toEqual(membersOf('src/call/hooks.ts', 'PluginContext'));
    const fields = [
      'id',
      'options',
      'isDefault',
      'actsOn',
      'strategy',
      'variant',
      'onError',
      'mode',
      'failsClosed',
      'shortener',
    ];
    expect(named('Field of a plugin')).toEqual([...fields, ...hooks]);
    expect(ownMembersOf('src/plugins/plugin.ts', 'Plugin')).toEqual(fields);
  });
  it('is right about when bytes pass through untouched', async () => {
    const decoding = vi.spyOn(GenerationStream.prototype, 'pull');
    const isDecoded = async (hooks: PluginHooks) => {
      decoding.mockClear();
      const { post, upstream } = testGateway({ plugins: [{ id: 'test', isDefault: true, ...hooks }] });
      upstream.answer({ body: textStream('a', 'b') });
      expect(textOf((await post({ ...ask, stream: true })).chunks)).toBe('ab');
      return decoding.mock.calls.length > 0;
    };
    const annotations = [{ type: 'url_citation' }];
    const annotate: PluginHooks['before'] = (request, { addAnnotations }) => {
      addAnnotations(annotations);
      return request;
    };
    try {
      expect([
        await isDecoded({}),
        await isDecoded({ before: (request) => request }),
        await isDecoded({ prepare: (request) => request }),
      ]).toEqual([false, false, false]);
      expect([
        await isDecoded({ steps: () => [{ push: (one) => [one] }] }),
        await isDecoded({ wrap: (generate, request) => generate(request) }),
        await isDecoded({ before: annotate }),
      ]).toEqual([true, true, true]);
    } finally {
      decoding.mockRestore();
    }
  });
  it('is right about the order of hooks and steps', async () => {
    const asked: string[] = [];
    const noting = (id: string): PluginHooks => ({
      before(request) {
        asked.push(`before ${id}`);
        return request;
      },
      wrap(generate, request) {
        asked.push(`wrap ${id}`);
        return generate(request);
      },
      prepare(request) {
        asked.push(`prepare ${id}`);
        return request;
      },
      steps: () => [
        {
          push: (one) => [one],
          end() {
            asked.push(`steps ${id}`);
            return [];
          },
        },
      ],
    });
    const { post, upstream } = testGateway({
      plugins: [
        { id: 'default', isDefault: true, ...noting('default') },
        { id: 'b', ...noting('b') },
        { id: 'a', ...noting('a') },
      ],
      guardrails: [
        { id: 'g1', ...noting('g1') },
        { id: 'g2', ...noting('g2') },
      ],
    });
    upstream.always({ body: completion() });
    await post({ ...ask, plugins: [{ id: 'a' }, { id: 'b' }] });
    const inOrder = ['g1', 'g2', 'a', 'b', 'default'];
    expect(asked).toEqual([
      ...['before', 'wrap', 'prepare'].flatMap((hook) => inOrder.map((id) => `${hook} ${id}`)),
      ...['default', 'b', 'a', 'g2', 'g1'].map((id) => `steps ${id}`),
    ]);
  });
});
