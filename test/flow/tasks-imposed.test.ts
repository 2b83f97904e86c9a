import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { testGateway, testKey, upstreamKeys } from '../support/gateway.ts';
import { completedEvent, ofOpenAi, partialEvent } from '../support/images/wire.ts';

const asCaller = { authorization: `Bearer ${testKey}` };
const secrets = { current: 'a master secret of the tests, which is long enough' };
const own = 'sk-own-credential-0123456789';

/** A request of each task, and the response of a provider. */
const tasks = {
  embeddings: {
    path: '/embeddings',
    request: { input: 'Alice' },
    answer: { data: [{ object: 'embedding', index: 0, embedding: [1, 0] }], usage: { prompt_tokens: 3 } },
    text: (body: Record<string, unknown>) => (body.input as string[])[0],
  },
  rerank: {
    path: '/rerank',
    request: { query: 'Alice', documents: ['b'] },
    answer: { results: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: 8 } },
    text: (body: Record<string, unknown>) => body.query,
  },
  images: {
    path: '/images/generations',
    request: { prompt: 'Alice' },
    answer: ofOpenAi(),
    text: (body: Record<string, unknown>) => body.prompt,
  },
} as const;

const each = Object.entries(tasks).map(([name, task]) => [name, task] as const);

function gateway(options: Partial<GatewayOptions> = {}) {
  const endpoint = (provider: string, task: string) => ({
    provider,
    model: `${provider}-${task}`,
    tasks: [task as 'images'],
    pricing: { prompt: '0.000001', completion: '0', imageOutput: '0.000001' },
  });
  return testGateway({
    secrets,
    providers: {
      up: { baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up, dataPolicy: { zeroRetention: false } },
      alt: { baseUrl: 'https://alt.test/v1', apiKey: upstreamKeys.alt, dataPolicy: { zeroRetention: true } },
      openai: { apiKey: upstreamKeys.up },
    },
    models: [
      ...Object.keys(tasks).map((task) => ({
        slug: `acme/${task}`,
        endpoints: [endpoint('up', task), endpoint('alt', task)],
      })),
      ...Object.keys(tasks).map((task) => ({ slug: `acme/own-${task}`, endpoints: [endpoint('openai', task)] })),
    ],
    ...options,
  });
}

describe.each(each)('what is imposed on a request for %s', (name, { path, request, answer, text }) => {
  const asked = { model: `acme/${name}`, ...request };

  it('a demand for zero retention leaves out the endpoints that may keep it', async () => {
    const t = gateway();
    t.upstream.always({ body: answer });
    const { status } = await t.call('POST', path, { ...asked, provider: { zdr: true } }, asCaller);
    expect([status, t.upstream.sent.map(({ url }) => new URL(url).host)]).toEqual([200, ['alt.test']]);
    const none = await t.call('POST', path, { ...asked, provider: { zdr: true, only: ['up'] } }, asCaller);
    expect(none.status).toBe(404);
  });

  it('a workspace’s own credential is used before the operator’s, and what it costs is not the operator’s', async () => {
    const t = gateway();
    t.upstream.always({ body: answer });
    const made = await t.call('POST', '/byok', { provider: 'openai', key: own });
    expect(made.status).toBe(201);
    await t.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 50 });
    const { status, json } = await t.call('POST', path, { ...asked, model: `acme/own-${name}` }, asCaller);
    expect([status, json.usage.is_byok, json.usage.cost > 0]).toEqual([200, true, true]);
    expect(t.upstream.sent[0]?.headers.authorization).toBe(`Bearer ${own}`);
    const budget = await t.call('GET', '/workspaces/default/budgets');
    expect(budget.json.data[0]).toMatchObject({ spent_usd: 0, held_usd: 0 });
    expect(t.records.at(-1)).toMatchObject({ attempts: [{ isByok: true }] });
  });

  it('a rate limit of requests refuses the next one', async () => {
    const t = gateway({ rateLimits: { key: { requestsPerMinute: 1 } } });
    t.upstream.always({ body: answer });
    const first = await t.call('POST', path, asked, asCaller);
    const second = await t.call('POST', path, asked, asCaller);
    expect([first.status, first.headers.get('x-ratelimit-remaining-requests')]).toEqual([200, '0']);
    expect([second.status, t.upstream.sent.length]).toEqual([429, 1]);
  });

  it('a guardrail sees the text before it leaves, and what it leaves is sent', async () => {
    const guardrails = [
      {
        id: 'names',
        before: (given: { messages: { content: string }[] }) => ({
          ...given,
          messages: given.messages.map((one) => ({ ...one, content: one.content.replace('Alice', '[name]') })),
        }),
      },
    ];
    const t = gateway({ guardrails } as unknown as Partial<GatewayOptions>);
    t.upstream.always({ body: answer });
    expect((await t.call('POST', path, asked, asCaller)).status).toBe(200);
    expect(text(t.upstream.sent[0]?.body as Record<string, unknown>)).toBe('[name]');
  });

  it('an error in a response that looks like a success counts as the status that it names, and costs nothing', async () => {
    const t = gateway();
    t.upstream.always({ body: { error: { message: `Too long: ${upstreamKeys.up}`, code: 400 } } });
    const refused = await t.call('POST', path, asked, asCaller);
    expect([refused.status, refused.json.error.message.includes('Too long')]).toEqual([400, true]);
    expect(refused.text).not.toContain(upstreamKeys.up);
    expect([t.upstream.sent.length, t.records[0]?.costNanoUsd]).toEqual([1, 0]);
    const busy = gateway();
    busy.upstream.answer({ body: { error: { message: 'Busy', code: 429 } } });
    busy.upstream.always({ body: answer });
    const served = await busy.call('POST', path, asked, asCaller);
    expect([served.status, served.json.usage.cost]).toEqual([200, (busy.records[0]?.costNanoUsd ?? 0) / 1e9]);
    expect(busy.records[0]).toMatchObject({ attempts: [{ status: 429, costNanoUsd: 0 }, { status: 200 }] });
  });

  it('a spent budget refuses it before anything is sent', async () => {
    const t = gateway();
    await t.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.0000001 });
    expect((await t.call('POST', path, asked, asCaller)).status).toBe(402);
    expect(t.upstream.sent).toEqual([]);
  });
});

describe('a stream of images', () => {
  const quirks = { images: { streams: true } };
  const streaming = (options: Partial<GatewayOptions> = {}) =>
    gateway({
      providers: { up: { baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up, quirks } },
      models: [
        {
          slug: 'acme/images',
          endpoints: [
            { provider: 'up', model: 'm', tasks: ['images'], pricing: { prompt: '0', imageOutput: '0.000001' } },
          ],
        },
      ],
      ...options,
    } as Partial<GatewayOptions>);
  const body = { model: 'acme/images', prompt: 'x', stream: true, partial_images: 1 };

  it('does not repeat a key of the provider, nor an error with one', async () => {
    const t = streaming();
    const echoed = partialEvent(0).replace('"opaque"', `"${upstreamKeys.up}"`);
    const failure = `data: ${JSON.stringify({ type: 'error', error: { message: `key ${upstreamKeys.up}` } })}\n\n`;
    t.upstream.answer({ body: [echoed, failure] });
    const response = await t.run(
      t.gateway.fetch(
        new Request('http://gateway.test/v1/images/generations', {
          method: 'POST',
          headers: { ...asCaller, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      ),
    );
    const text = await t.run(response.text());
    expect(text).toContain('partial_image');
    expect(text).toContain('"type":"error"');
    expect(text + JSON.stringify(t.records)).not.toContain(upstreamKeys.up);
  });

  it('gives its place in the limit of calls in flight back once it has ended', async () => {
    const t = streaming({ rateLimits: { key: { requestsInFlight: 1 } } });
    t.upstream.always({ body: [partialEvent(0), completedEvent()] });
    const post = () =>
      t.run(
        t.gateway.fetch(
          new Request('http://gateway.test/v1/images/generations', {
            method: 'POST',
            headers: { ...asCaller, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          }),
        ),
      );
    const first = await post();
    const refused = await post();
    expect([first.status, refused.status]).toEqual([200, 429]);
    await t.run(refused.text());
    await t.run(first.text());
    const third = await post();
    expect(third.status).toBe(200);
    await t.run(third.text());
  });
});
