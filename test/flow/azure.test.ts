import { describe, expect, it } from 'vitest';
import { type GatewayOptions, OptionsError } from '../../src/options.ts';
import { hello, testGateway } from '../support/gateway.ts';
import { completion, sse, textStream } from '../support/upstream.ts';

const secrets = { current: 'a master secret of the tests, which is long enough' };
const apiKey = 'azure-key-0123456789abcdef';
const token = 'eyJ0eXAi.0123456789.abcdef';
const models = [{ slug: 'az/gpt', endpoints: [{ provider: 'azure', model: 'our deployment' }] }];
const ask = { model: 'az/gpt', messages: hello };
const v1 = 'https://my-res.openai.azure.com/openai/v1/chat/completions';
const response = { object: 'response', status: 'completed', output: [] };

type Settings = GatewayOptions['providers'];

async function sentBy(azure: object, answer: object = completion()) {
  const { post, upstream } = testGateway({ providers: { azure } as Settings, models });
  upstream.answer({ body: answer });
  const { status, json } = await post({ ...ask, max_tokens: 50 });
  return { status, json, sent: upstream.sent[0] };
}

describe('Azure', () => {
  it.each<[string, object, string]>([
    ['the name of the resource', { resource: 'my-res' }, v1],
    ['its address', { endpoint: 'https://my-res.openai.azure.com' }, v1],
    ['its address, with a slash', { endpoint: 'https://my-res.openai.azure.com/' }, v1],
    ['its complete address', { endpoint: 'https://my-res.openai.azure.com/openai/v1/' }, v1],
    [
      'the address of a Foundry resource',
      { endpoint: 'https://my-res.services.ai.azure.com', resource: 'other' },
      'https://my-res.services.ai.azure.com/openai/v1/chat/completions',
    ],
  ])('is found by %s, and gets the deployment as the model', async (_, credential, url) => {
    const { status, sent } = await sentBy({ apiKey, credential });
    expect([status, sent?.url]).toEqual([200, url]);
    expect(sent?.headers).toMatchObject({ 'api-key': apiKey });
    expect(sent?.headers).not.toHaveProperty('authorization');
    expect(sent?.body).toMatchObject({ model: 'our deployment', max_completion_tokens: 50 });
  });
  it('takes a token of Entra', async () => {
    const { sent } = await sentBy({ credential: { token, resource: 'my-res' } });
    expect([sent?.url, sent?.headers.authorization]).toEqual([v1, `Bearer ${token}`]);
    expect(sent?.headers).not.toHaveProperty('api-key');
  });
  it('is called at an address of the operator, which needs no resource', async () => {
    const { sent } = await sentBy({ apiKey, baseUrl: 'https://proxy.test/openai/v1' });
    expect([sent?.url, sent?.headers['api-key']]).toEqual(['https://proxy.test/openai/v1/chat/completions', apiKey]);
  });
  it('is called with the deployment in the path, as in dated versions', async () => {
    const baseUrl = 'https://my-res.openai.azure.com/openai?api-version=2024-10-21';
    const { sent } = await sentBy({ apiKey, baseUrl, quirks: { modelInPath: true } });
    expect(sent?.url).toBe(
      'https://my-res.openai.azure.com/openai/deployments/our%20deployment/chat/completions?api-version=2024-10-21',
    );
  });
  it('speaks Responses where the operator says so, with reasoning that is its own', async () => {
    const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'e' };
    const said = { type: 'message', content: [{ type: 'output_text', text: 'Hi' }] };
    const { json, sent } = await sentBy(
      { apiKey, credential: { resource: 'my-res' }, dialect: 'openai-responses' },
      { ...response, output: [thought, said] },
    );
    expect(sent?.url).toBe('https://my-res.openai.azure.com/openai/v1/responses');
    expect(sent?.body).toMatchObject({ model: 'our deployment', max_output_tokens: 50, store: false });
    expect(json.choices?.[0]?.message).toMatchObject({
      content: 'Hi',
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'e', format: 'azure-openai-responses-v1' }],
    });
  });
  it.each<[object, string]>([
    [{ apiKey }, 'providers.azure.credential: expected apiKey and resource, or apiKey and endpoint'],
    [{ credential: { resource: 'my-res' } }, 'providers.azure.credential: expected apiKey and resource'],
    [{ apiKey, credential: { resource: 'evil.test/' } }, 'providers.azure.credential.resource: expected the name'],
    [{ apiKey, credential: { endpoint: 'https://evil.test' } }, 'providers.azure.credential.endpoint: expected the'],
    [{ apiKey, baseUrl: 'https://x.test', credential: { resource: 'r' } }, 'providers.azure.credential.resource'],
    [{ baseUrl: 'https://x.test', credential: {} }, 'providers.azure.credential: expected apiKey, or token'],
  ])('is refused in the options where a credential is incomplete: %j', (azure, message) => {
    const make = () => testGateway({ providers: { azure } as Settings, models });
    expect(make).toThrow(OptionsError);
    expect(make).toThrow(message);
  });
});

describe('a credential of a workspace for Azure', () => {
  it.each([
    { apiKey, resource: 'my-res' },
    { token, endpoint: 'https://my-res.openai.azure.com/' },
  ])('is taken, and reaches its own resource: %j', async (key) => {
    const { post, call, upstream } = testGateway({ secrets, providers: { azure: {} }, models });
    const made = await call('POST', '/byok', { provider: 'azure', key: JSON.stringify(key) });
    expect(made.status).toBe(201);
    upstream.answer({ body: completion() });
    expect((await post(ask)).json.usage).toMatchObject({ is_byok: true });
    expect(upstream.sent[0]?.url).toBe(v1);
    expect(JSON.stringify(upstream.sent[0]?.headers)).toContain(key.apiKey ?? key.token);
  });
  it.each<[string, string]>([
    [apiKey, 'key: expected apiKey and resource'],
    [JSON.stringify({ apiKey, resource: 'a.evil.test#' }), 'key.resource: expected the name of a resource'],
    [
      JSON.stringify({ apiKey, endpoint: 'https://evil.test/?.openai.azure.com' }),
      'key.endpoint: expected the address',
    ],
    [JSON.stringify({ apiKey, endpoint: 'https://a@evil.test/.openai.azure.com' }), 'key.endpoint: expected'],
    [JSON.stringify({ apiKey, endpoint: 'http://my-res.openai.azure.com' }), 'key.endpoint: expected'],
    [JSON.stringify({ apiKey, endpoint: 'https://my-res.openai.azure.com/x/../..' }), 'key.endpoint: expected'],
    [JSON.stringify({ resource: 'my-res' }), 'key: expected apiKey and resource'],
  ])('is stored by POST /byok with what is wrong, and not used: %s', async (key, message) => {
    const { call } = testGateway({ secrets, providers: { azure: {} }, models });
    const stored = await call('POST', '/byok', { provider: 'azure', key });
    expect([stored.status, stored.json.data.unusable_reason]).toEqual([201, expect.stringContaining(message)]);
    expect(stored.text).not.toContain(apiKey);
  });
});

describe("what Azure's content filter says", () => {
  const filtered = { hate: { filtered: false, severity: 'safe' } };
  const azure = { apiKey, credential: { resource: 'my-res' } };

  it('does not get in the way of a response', async () => {
    const body = { ...completion(), prompt_filter_results: [{ prompt_index: 0, content_filter_results: filtered }] };
    expect(await sentBy(azure, body)).toMatchObject({ status: 200, json: { choices: [{ finish_reason: 'stop' }] } });
  });
  it('may come before a stream, in an event without choices', async () => {
    const { post, upstream } = testGateway({ providers: { azure }, models });
    const before = sse({
      id: '',
      model: '',
      choices: [],
      prompt_filter_results: [{ content_filter_results: filtered }],
    });
    upstream.answer({ body: [before, ...textStream('Hello')] });
    const { text } = await post({ ...ask, stream: true });
    expect(text).toContain('Hello');
    expect(text).toMatch(/"finish_reason":"stop"/);
  });
  it("is the caller's fault where it refuses the request", async () => {
    const { post, upstream } = testGateway({ providers: { azure }, models });
    const innererror = { code: 'ResponsibleAIPolicyViolation', content_filter_result: filtered };
    const error = { message: 'The response was filtered.', code: 'content_filter', status: 400, innererror };
    upstream.answer({ status: 400, body: { error } });
    const { status, json } = await post(ask);
    expect([status, json.error.metadata?.error_type]).toEqual([400, 'content_policy_violation']);
  });
});

describe('OpenAI', () => {
  it('speaks Responses where the operator says so', async () => {
    const { post, upstream } = testGateway({
      providers: { openai: { apiKey: 'sk-openai-0123456789', dialect: 'openai-responses' } },
      models: [{ slug: 'openai/gpt', endpoints: [{ provider: 'openai', model: 'gpt-5' }] }],
    });
    const said = { type: 'message', content: [{ type: 'output_text', text: 'Hi' }] };
    upstream.answer({ body: { ...response, output: [said] } });
    const { json } = await post({ model: 'openai/gpt', messages: hello });
    expect(json.choices?.[0]?.message.content).toBe('Hi');
    expect(upstream.sent[0]).toMatchObject({
      url: 'https://api.openai.com/v1/responses',
      headers: { authorization: 'Bearer sk-openai-0123456789' },
      body: { include: ['reasoning.encrypted_content'] },
    });
  });
});
