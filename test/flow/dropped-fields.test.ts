import { describe, expect, it } from 'vitest';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import { serviceMetadataSchema } from '../../src/schema/chat/envelope.ts';
import { hello, testGateway } from '../support/gateway.ts';
import { sharedAvailable, validateAgainstReference } from '../support/reference.ts';
import { completion, errorBody, textStream } from '../support/upstream.ts';

const enabled = { 'x-service-metadata': 'enabled' };
const person = { type: 'json_schema', json_schema: { name: 'person', schema: { type: 'object' } } };

/** `up` takes no seed and no schemas, `alt` takes all. */
function gatewayWith(more: object = {}) {
  return testGateway({
    providers: {
      up: { baseUrl: 'https://up.test/v1', name: 'Up', quirks: { dropParams: ['seed', 'user'], jsonSchema: false } },
      alt: { baseUrl: 'https://alt.test/v1', name: 'Alt' },
    },
    models: [
      {
        slug: 'acme/pair',
        endpoints: [
          { provider: 'up', model: 'up-pair', ...more },
          { provider: 'alt', model: 'alt-pair', ...more },
        ],
      },
    ],
  });
}

function checked(metadata: unknown) {
  if (sharedAvailable) expect(validateAgainstReference('ServiceMetadata', metadata)).toEqual([]);
  return serviceMetadataSchema().parse(metadata);
}

const thought = { role: 'assistant', content: 'Hi', reasoning: 'A thought' };
const ask = { model: 'acme/pair', messages: [...hello, thought, ...hello], seed: 7, response_format: person };

describe('what the provider that serves did not get', () => {
  it('is in the metadata of JSON, with how a schema was asked for', async () => {
    const { post, upstream } = gatewayWith();
    upstream.answer({ body: completion() });
    expect(checked((await post(ask, enabled)).json.service_metadata)).toMatchObject({
      summary: 'available=2, selected=Up',
      dropped: ['seed', 'messages[].reasoning'],
      structured_output: 'instruction',
    });
  });
  it('is in the metadata of a stream: of the attempt that serves, and not of one that failed', async () => {
    const { post, upstream } = gatewayWith();
    upstream.answer({ status: 500, body: errorBody('No') }, { status: 429, body: errorBody('No') });
    upstream.answer({ body: textStream('Hi') });
    const next = await post({ ...ask, stream: true }, enabled);
    const metadata = checked(next.chunks.at(-1)?.service_metadata);
    expect(metadata).toMatchObject({ summary: 'available=2, selected=Alt', structured_output: 'native' });
    expect(metadata.dropped).toEqual(['messages[].reasoning']);
  });
  it('is in a header of every response, JSON and stream, also without the metadata', async () => {
    const { post, upstream } = gatewayWith();
    upstream.answer({ body: completion() }, { body: textStream('Hi') });
    for (const stream of [false, true]) {
      const { headers } = await post({ ...ask, stream });
      expect(headers.get('x-service-dropped')).toBe('seed, messages[].reasoning');
    }
    upstream.answer({ body: completion() });
    const { headers } = await post({ model: 'acme/pair', messages: hello });
    expect(headers.has('x-service-dropped')).toBe(false);
  });
  it('is no header where a name is no word, and short where names are many', async () => {
    const { post, upstream } = gatewayWith();
    upstream.always({ body: completion() });
    const trace = { 'line\r\nset-cookie: a=1': {}, ok: {} };
    const found = (await post({ model: 'acme/pair', messages: hello, trace })).headers.get('x-service-dropped') ?? '';
    expect(found).toBe('trace, trace.ok');
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`${'k'.repeat(40)}${at}`, {}]));
    const long = (await post({ model: 'acme/pair', messages: hello, trace: many })).headers.get('x-service-dropped');
    expect(long?.length).toBeLessThan(1_100);
  });
  it('is not there where the provider got all, nor where none served', async () => {
    const { post, upstream } = gatewayWith();
    upstream.answer({ body: completion() });
    const all = checked((await post({ model: 'acme/pair', messages: hello }, enabled)).json.service_metadata);
    upstream.always({ status: 400, body: errorBody('No') });
    const none = checked((await post(ask, enabled)).json.service_metadata);
    for (const metadata of [all, none]) {
      expect(metadata).not.toHaveProperty('dropped');
      expect(metadata).not.toHaveProperty('structured_output');
    }
  });
  it.each<[object, string[] | undefined]>([
    [{ transforms: ['middle-out'] }, undefined],
    [{ transforms: [], stop_server_tools_when: undefined }, undefined],
    [
      { stop_server_tools_when: [{ type: 'step_count_is', step_count: 2 }], user: 'u' },
      ['user', 'stop_server_tools_when'],
    ],
  ])('lists what is for the gateway and has no effect there: %j', async (fields, dropped) => {
    const { post, upstream } = gatewayWith();
    upstream.answer({ body: completion() });
    const { json } = await post({ model: 'acme/pair', messages: hello, ...fields }, enabled);
    expect(checked(json.service_metadata).dropped).toEqual(dropped);
  });
  it('is clean and bounded, whatever a caller calls a field', async () => {
    const names = Array.from({ length: 200 }, (_, at) => `${at}\n${'x'.repeat(1_000)}`);
    const dialect = {
      ...openaiChat,
      encodeRequest: (input: Parameters<typeof openaiChat.encodeRequest>[0]) => {
        const encoded = openaiChat.encodeRequest(input);
        return { ...encoded, dropped: names };
      },
    };
    const { post, upstream, records } = testGateway({
      providers: {
        up: defineProvider({ slug: 'up', baseUrl: 'https://up.test/v1', dialect, apiKey: 'sk-up-0123456789' }),
      },
      models: [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'up-fast' }] }],
    });
    upstream.answer({ body: completion() });
    const { json } = await post({ model: 'acme/fast', messages: hello }, enabled);
    const dropped = checked(json.service_metadata).dropped ?? [];
    expect(dropped).toHaveLength(50);
    for (const path of dropped) {
      expect(path.length).toBeLessThanOrEqual(130);
      expect(path).not.toContain('\n');
    }
    expect(records[0]?.attempts[0]?.dropped).toEqual(dropped);
  });
  it('is in the record, for each attempt', async () => {
    const { post, upstream, records } = gatewayWith();
    upstream.answer({ status: 500, body: errorBody('No') }, { status: 429, body: errorBody('No') });
    upstream.answer({ body: completion() });
    await post(ask);
    const { response_format: _, ...plain } = ask;
    upstream.answer({ body: completion() });
    await post({ ...plain, provider: { only: ['alt'] } });
    const attempts = records.map((record) =>
      record.attempts.map(({ providerSlug, dropped, structuredOutput }) => [providerSlug, dropped, structuredOutput]),
    );
    const ofUp = ['up', ['seed', 'messages[].reasoning'], 'instruction'];
    expect(attempts).toEqual([
      [ofUp, ofUp, ['alt', ['messages[].reasoning'], 'native']],
      [['alt', ['messages[].reasoning'], null]],
    ]);
  });
});

describe('an endpoint whose provider would not get a parameter', () => {
  const supportedParameters = ['seed', 'temperature', 'response_format', 'structured_outputs'];
  const strict = { provider: { require_parameters: true } };

  it.each<[object, string]>([
    [{ temperature: 1 }, 'Up'],
    [{ seed: 7 }, 'Alt'],
    // Every provider is taken to support it, but for one that is known not to.
    [{ user: 'user-1' }, 'Alt'],
  ])('is left out where all parameters are required: %j', async (fields, provider) => {
    const { post, upstream } = gatewayWith({ supportedParameters });
    upstream.answer({ body: completion() });
    const { json } = await post({ model: 'acme/pair', messages: hello, ...fields, ...strict });
    expect(json.provider).toBe(provider);
  });
  it('is the first all the same where none is required', async () => {
    const { post, upstream } = gatewayWith({ supportedParameters });
    upstream.answer({ body: completion() });
    expect((await post({ model: 'acme/pair', messages: hello, seed: 7 })).json.provider).toBe('Up');
  });
  it('does not list the parameter', async () => {
    const { call } = gatewayWith({ supportedParameters });
    const { json } = await call('GET', '/models/acme/pair/endpoints');
    const listed = json.data.endpoints.map((one: Record<string, unknown>) => [one.tag, one.supported_parameters]);
    expect(listed).toEqual([
      ['up', ['temperature', 'response_format']],
      ['alt', supportedParameters],
    ]);
  });
  it('comes last for a request with tools that its provider refuses, also where nothing else is known of it', async () => {
    const { post, upstream } = testGateway({
      providers: {
        up: { baseUrl: 'https://up.test/v1', name: 'Up', quirks: { dropParams: ['tools'] } },
        alt: { baseUrl: 'https://alt.test/v1', name: 'Alt' },
      },
    });
    upstream.answer({ body: completion() });
    const tools = [{ type: 'function', function: { name: 'f' } }];
    expect((await post({ model: 'acme/pair', messages: hello, tools })).json.provider).toBe('Alt');
  });
});
