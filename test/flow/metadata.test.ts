import { describe, expect, it } from 'vitest';
import { serviceMetadataSchema } from '../../src/schema/envelope.ts';
import { hello, testGateway } from '../support/gateway.ts';
import { sharedAvailable, validateAgainstReference } from '../support/reference.ts';
import { chunk, completion, errorBody, sse, textStream } from '../support/upstream.ts';

const enabled = { 'x-service-metadata': 'enabled' };
const direct = { model: 'acme/fast', messages: hello };

/** Checks the shape, then returns it. */
function checked(metadata: unknown) {
  if (sharedAvailable) expect(validateAgainstReference('ServiceMetadata', metadata)).toEqual([]);
  return serviceMetadataSchema.parse(metadata);
}

describe('routing metadata', () => {
  it('is absent unless asked for', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: completion() }, { body: textStream('Hi') }, { status: 400, body: errorBody('No') });
    for (const [body, headers] of [
      [direct, {}],
      [{ ...direct, stream: true }, { 'x-service-metadata': 'disabled' }],
      [direct, { 'x-service-metadata': 'true' }],
    ] as const) {
      expect((await post(body, headers as Record<string, string>)).text).not.toContain('service_metadata');
    }
  });
  it.each(['x-service-metadata', 'X-Service-Metadata', 'X-SERVICE-EXPERIMENTAL-METADATA'])(
    'is asked for by %s',
    async (name) => {
      const { post, upstream } = testGateway();
      for (const value of ['enabled', 'Enabled', ' ENABLED ']) {
        upstream.answer({ body: completion() });
        expect((await post(direct, { [name]: value })).json.service_metadata).toBeDefined();
      }
    },
  );
  it('says on JSON who was asked and who served', async () => {
    const { post, upstream } = testGateway({ region: 'eu-1' });
    upstream.answer(
      { status: 500, body: errorBody('Oops') },
      { status: 429, body: errorBody('Slow') },
      { body: completion() },
    );
    const { json } = await post({ model: 'acme/pair', models: ['acme/other'], messages: hello }, enabled);
    expect(checked(json.service_metadata)).toEqual({
      requested: 'acme/pair',
      strategy: 'fallback',
      region: 'eu-1',
      summary: 'available=3, selected=Alt',
      attempt: 3,
      is_byok: false,
      endpoints: {
        total: 3,
        available: [
          { provider: 'Up', model: 'acme/pair', selected: false },
          { provider: 'Alt', model: 'acme/pair', selected: true },
          { provider: 'Alt', model: 'acme/other', selected: false },
        ],
      },
      attempts: [
        { provider: 'Up', model: 'acme/pair', status: 500 },
        { provider: 'Up', model: 'acme/pair', status: 429 },
        { provider: 'Alt', model: 'acme/pair', status: 200 },
      ],
    });
  });
  it('is short where the first try won', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: completion() });
    expect(checked((await post(direct, enabled)).json.service_metadata)).toEqual({
      requested: 'acme/fast',
      strategy: 'direct',
      region: null,
      summary: 'available=1, selected=Up',
      attempt: 1,
      is_byok: false,
      endpoints: { total: 1, available: [{ provider: 'Up', model: 'acme/fast', selected: true }] },
    });
  });
  it('rides on the last chunk of a stream only', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: textStream('Hel', 'lo', '!') });
    const { chunks } = await post({ ...direct, stream: true }, enabled);
    expect(chunks.filter(({ service_metadata: metadata }) => metadata !== undefined)).toHaveLength(1);
    expect(checked(chunks.at(-1)?.service_metadata)).toMatchObject({ attempt: 1, summary: 'available=1, selected=Up' });
  });
  it('rides on the error chunk of a stream that broke', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: [sse(chunk({ content: 'Hi' }))] });
    const { chunks } = await post({ ...direct, stream: true }, enabled);
    expect(chunks.at(-1)?.error).toBeDefined();
    expect(checked(chunks.at(-1)?.service_metadata).attempt).toBe(1);
  });
  it.each<[string, object, object[], number, object]>([
    [
      'an unknown model',
      { model: 'no/model' },
      [],
      400,
      { requested: 'no/model', attempt: 0, endpoints: { total: 0, available: [] } },
    ],
    [
      'no endpoint left',
      { provider: { only: ['nobody'] } },
      [],
      404,
      { requested: 'acme/fast', attempt: 0, endpoints: { total: 1, available: [] } },
    ],
    [
      "a provider's 400",
      {},
      [{ status: 400, body: errorBody('No') }],
      400,
      { attempt: 1, attempts: [{ provider: 'Up', model: 'acme/fast', status: 400 }] },
    ],
    [
      'rate limits',
      {},
      [
        { status: 429, body: errorBody('Slow') },
        { status: 429, body: errorBody('Slow') },
      ],
      429,
      { attempt: 2 },
    ],
    [
      "a provider's failure",
      {},
      [{ status: 500, body: errorBody('No') }, { instead: 'refuse' }],
      502,
      { attempt: 2, summary: 'available=1, selected=none' },
    ],
    ['an overload', {}, [{ status: 529 }, { status: 529 }], 529, { attempt: 2 }],
    ['a time-out', {}, [{ instead: 'hang' }, { instead: 'hang' }], 524, { attempt: 2 }],
  ])('sits beside the error of %s', async (_, fields, answers, status, expected) => {
    const { post, upstream } = testGateway();
    upstream.answer(...answers);
    const answer = await post({ ...direct, ...fields }, enabled);
    expect(answer.status).toBe(status);
    expect(checked(answer.json.service_metadata)).toMatchObject(expected);
    expect(answer.json.service_metadata?.endpoints.available.some(({ selected }) => selected)).toBe(false);
    expect(answer.json.error.metadata).not.toHaveProperty('service_metadata');
  });
  it('sits beside the error when all that could serve has to rest', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ status: 401, body: errorBody('No') });
    await post(direct);
    const { status, json } = await post(direct, enabled);
    expect(status).toBe(503);
    expect(checked(json.service_metadata)).toMatchObject({ attempt: 0, endpoints: { total: 1 } });
  });
  it('is left out of 401 and 500', async () => {
    const { post } = testGateway();
    expect((await post(direct, { ...enabled, authorization: 'Bearer nobody' })).json).not.toHaveProperty(
      'service_metadata',
    );
    const failing = testGateway({
      random: () => {
        throw new Error('no dice');
      },
    });
    failing.upstream.answer({ status: 500, body: errorBody('Oops') });
    const { status, json } = await failing.post(direct, enabled);
    expect([status, Object.keys(json)]).toEqual([500, ['error']]);
  });
  it('is never what a provider says', async () => {
    for (const brand of ['service', 'acme']) {
      const { post, upstream } = testGateway({ brand });
      const forged = {
        service_metadata: { requested: 'x' },
        acme_metadata: { requested: 'x' },
        debug: { a: 1 },
        user_id: 'me',
      };
      const events = textStream('Hel', 'lo', ' you').map((frame) =>
        frame.replace('"choices"', `${JSON.stringify(forged).slice(1, -1)},"choices"`),
      );
      upstream.answer({ body: completion(forged) }, { body: events });
      for (const stream of [false, true]) {
        const { text } = await post({ ...direct, stream });
        expect(text).not.toMatch(new RegExp(`service_metadata|${brand}_metadata|"debug"|user_id`));
      }
    }
  });
  it('holds no key and no prompt', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: completion() });
    const { json } = await post(direct, enabled);
    expect(JSON.stringify(json.service_metadata)).not.toMatch(/sk-|Hello/);
  });
});

describe('a brand', () => {
  it('names header and field; the names without it are still accepted', async () => {
    const { post, upstream } = testGateway({ brand: 'acme' });
    for (const name of ['x-acme-metadata', 'x-service-metadata', 'x-service-experimental-metadata']) {
      upstream.answer({ body: completion() }, { body: textStream('Hi') });
      const { json } = await post(direct, { [name]: 'enabled' });
      expect(checked(json.acme_metadata).requested).toBe('acme/fast');
      expect(json).not.toHaveProperty('service_metadata');
      const { chunks } = await post({ ...direct, stream: true }, { [name]: 'enabled' });
      expect(chunks.at(-1)).toHaveProperty('acme_metadata');
    }
    const { json } = await post({ ...direct, model: 'no/model' }, { 'x-acme-metadata': 'enabled' });
    expect(json).toHaveProperty('acme_metadata');
  });
});

describe('debug.echo_upstream_body', () => {
  const debug = { echo_upstream_body: true };
  it('shows the transformed body in a chunk before all others', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: textStream('Hi') });
    const { chunks, text } = await post({ ...direct, stream: true, debug, max_completion_tokens: 5 });
    expect(chunks[0]).toMatchObject({ id: chunks[1]?.id, model: 'acme/fast', provider: 'Up', choices: [] });
    expect(chunks[0]?.debug?.echo_upstream_body).toEqual({
      model: 'up-fast',
      messages: hello,
      max_tokens: 5,
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(chunks[0]?.debug?.echo_upstream_body).toEqual(upstream.sent[0]?.body);
    expect(chunks.filter((one) => one.debug !== undefined)).toHaveLength(1);
    expect(text).not.toContain('sk-');
  });
  it('shows the body of every provider that was tried', async () => {
    const { post, upstream } = testGateway({ retry: { attemptsPerEndpoint: 1 } });
    upstream.answer({ status: 500, body: errorBody('Oops') }, { body: textStream('Hi') });
    const { chunks } = await post({ model: 'acme/pair', messages: hello, stream: true, debug });
    expect(chunks.flatMap((one) => (one.debug ? [one.debug.echo_upstream_body?.model] : []))).toEqual([
      'up-pair',
      'alt-pair',
    ]);
  });
  it.each([
    { stream: false, debug },
    { stream: true, debug: { echo_upstream_body: false } },
    { stream: true, debug: {} },
  ])('shows nothing for %j', async (fields) => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: fields.stream ? textStream('Hi') : completion() });
    expect((await post({ ...direct, ...fields })).text).not.toContain('echo_upstream_body');
  });
});
