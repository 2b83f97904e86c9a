// Loaded beforehand: the prices of built-in providers take time that a manual clock knows nothing of.
import '@pydantic/genai-prices';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { hello, testGateway } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

type Settings = GatewayOptions['providers'];

const keys = { accessKeyId: 'AKIDEXAMPLE012345678', secretAccessKey: 'wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY' };
const converse = JSON.stringify({
  output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 3, outputTokens: 5, totalTokens: 8 },
});
const azure = (resource: string) => ({ apiKey: `key-of-${resource}-0123456789`, credential: { resource } });

/** The costs and the upstream's view of one request to each of the endpoints, which one model has. */
async function costsOf(providers: Settings, endpoints: NonNullable<GatewayOptions['models']>[number]['endpoints']) {
  const models = endpoints.map((endpoint, at) => ({ slug: `acme/m${at}`, endpoints: [endpoint] }));
  const { post, upstream } = testGateway({ providers, models });
  const costs: unknown[] = [];
  for (const { slug } of models) {
    upstream.answer({ body: completion() });
    const { json } = await post({ model: slug, messages: hello, max_tokens: 50, temperature: 0.5 });
    costs.push(json.usage?.cost);
  }
  return { costs, sent: upstream.sent };
}

describe('a provider that is like a built-in one', () => {
  it('signs in as that one, at an address of its own, and its models have the same prices', async () => {
    const { costs, sent } = await costsOf(
      { azure: azure('first'), 'azure-eu': { like: 'azure', ...azure('second') } },
      [
        { provider: 'azure', model: 'gpt-4o' },
        { provider: 'azure-eu', model: 'gpt-4o' },
      ],
    );
    expect(sent.map(({ url, headers }) => [new URL(url).host, headers['api-key']])).toEqual([
      ['first.openai.azure.com', 'key-of-first-0123456789'],
      ['second.openai.azure.com', 'key-of-second-0123456789'],
    ]);
    expect(costs[0]).toBeGreaterThan(0);
    expect(costs[1]).toBe(costs[0]);
  });
  it('is another region of Bedrock, which signs with the same keys', async () => {
    const { post, upstream } = testGateway({
      providers: {
        'amazon-bedrock': { credential: { ...keys, region: 'us-east-1' } },
        'bedrock-eu': { like: 'amazon-bedrock', credential: { ...keys, region: 'eu-west-1' } },
      },
      models: [
        { slug: 'acme/claude', endpoints: [{ provider: 'bedrock-eu', model: 'eu.anthropic.claude-sonnet-4-6' }] },
      ],
    });
    upstream.answer({ body: converse });
    expect((await post({ model: 'acme/claude', messages: hello })).status).toBe(200);
    expect(upstream.sent[0]?.url).toContain('https://bedrock-runtime.eu-west-1.amazonaws.com/model/');
    expect(upstream.sent[0]?.headers.authorization).toContain('/eu-west-1/bedrock/aws4_request');
  });
  it('speaks another dialect of that one', async () => {
    const { sent } = await costsOf(
      {
        openai: { apiKey: 'sk-openai-0123456789' },
        'openai-responses': { like: 'openai', dialect: 'openai-responses', apiKey: 'sk-openai-0123456789' },
      },
      [
        { provider: 'openai', model: 'gpt-4.1' },
        { provider: 'openai-responses', model: 'gpt-4.1' },
      ],
    );
    expect([...new Set(sent.map(({ url }) => url))]).toEqual([
      'https://api.openai.com/v1/chat/completions',
      'https://api.openai.com/v1/responses',
    ]);
  });
  it('is asked for by its own slug', async () => {
    const { post, upstream } = testGateway({
      providers: { gemini: { like: 'google-ai-studio', apiKey: 'key-0123456789' } },
      models: [],
    });
    upstream.answer({
      body: JSON.stringify({ candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] }),
    });
    expect((await post({ model: 'gemini/gemini-2.5-flash', messages: hello })).json.provider).toBe('gemini');
    expect(upstream.sent[0]?.url).toContain('generativelanguage.googleapis.com');
  });
  it.each<[Settings, string]>([
    [{ 'azure-eu': { like: 'azur' } } as Settings, 'providers.azure-eu.like: expected the slug of a built-in provider'],
    [{ groq: { like: 'openai' } }, 'providers.groq.like: expected no such setting'],
  ])('is refused for %j', (providers, message) => {
    expect(() => testGateway({ providers })).toThrow(message);
  });
  it('has no credential where the variables of all its secrets are unset, and is not used', async () => {
    const region = 'us-east-1';
    const credential = { region, accessKeyId: undefined, secretAccessKey: undefined };
    const { post } = testGateway({ providers: { 'amazon-bedrock': { credential } }, models: [] });
    expect((await post({ model: 'amazon-bedrock/x', messages: hello })).status).toBe(404);
    expect(() =>
      testGateway({
        providers: { azure: { apiKey: undefined, credential: { resource: 'first' } } } as Settings,
        models: [],
      }),
    ).not.toThrow();
    expect(() =>
      testGateway({ providers: { 'amazon-bedrock': { credential: { ...keys, region: undefined } } } }),
    ).toThrow('providers.amazon-bedrock.credential.region: expected a region');
    expect(() => testGateway({ providers: { 'amazon-bedrock': { credential: { region } } } })).toThrow(
      'expected apiKey, or accessKeyId and secretAccessKey',
    );
  });
});

describe('an endpoint with a base model', () => {
  it('has its prices, and refuses what it refuses, under a name of its own', async () => {
    const { costs, sent } = await costsOf({ azure: azure('first') }, [
      { provider: 'azure', model: 'gpt-5-mini' },
      { provider: 'azure', model: 'our-deployment', baseModel: 'gpt-5-mini' },
      { provider: 'azure', model: 'our-deployment' },
    ]);
    expect(costs[0]).toBeGreaterThan(0);
    expect(costs[1]).toBe(costs[0]);
    expect(costs[2]).toBeUndefined();
    expect(sent.map(({ body }) => 'temperature' in (body as object))).toEqual([false, false, true]);
    expect(sent[1]?.body).toMatchObject({ model: 'our-deployment' });
  });
});
