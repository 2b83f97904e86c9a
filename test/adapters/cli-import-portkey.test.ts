import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { importing, played } from './importing.ts';

const here = importing();

const openai = { provider: 'openai', api_key: 'sk-literal-openai-0123', override_params: { model: 'gpt-4o' } };
const azure = {
  provider: 'azure-openai',
  api_key: '{{AZURE_KEY}}',
  resource_name: 'ours',
  deployment_id: 'our-4o',
  azure_model_name: 'gpt-4o',
};
const anthropic = { virtual_key: 'anthropic-prod', override_params: { model: 'claude-sonnet-4-6' } };
const groq = { provider: 'groq', api_key: 'gsk-literal-0123', override_params: { model: 'llama-3.1-8b-instant' } };
const env = { ANTHROPIC_PROD_API_KEY: 'key-anthropic-0123', AZURE_KEY: 'key-azure-0123' };

async function imported(config: object, flags: object = {}) {
  const run = await here.run('prod.json', JSON.stringify(config), flags);
  return { ...run, options: await here.options(env) };
}

const hosts = (sent: readonly { url: string }[]) => [...new Set(sent.map(({ url }) => new URL(url).hostname))];

describe('a config of Portkey', () => {
  it('that falls back becomes the endpoints of one model, in order, and retries each', async () => {
    const { options, places, summary } = await imported({
      strategy: { mode: 'fallback' },
      retry: { attempts: 2 },
      request_timeout: 20_000,
      targets: [openai, azure, anthropic],
    });
    expect(summary).toBe('1 of 1 model. 1 warning, 2 notes.');
    expect(places).toEqual(['warning targets[2]', 'note strategy', 'note model']);
    expect(options.models?.[0]).toEqual({
      slug: 'portkey/prod',
      aliases: ['prod', 'gpt-4o', 'claude-sonnet-4-6'],
      endpoints: [
        { provider: 'openai', model: 'gpt-4o' },
        { provider: 'azure', model: 'our-4o', baseModel: 'gpt-4o' },
        { provider: 'anthropic', model: 'claude-sonnet-4-6' },
      ],
    });
    expect(options).toMatchObject({
      defaultModel: 'portkey/prod',
      retry: { maxAttempts: 9, attemptsPerEndpoint: 3 },
      timeouts: { headersMs: 20_000, jsonHeadersMs: 20_000, firstEventMs: 20_000 },
    });
    const { ask, sent } = played(options, { fails: ({ url }) => !url.includes('anthropic') });
    expect(await ask('gpt-4o')).toMatchObject({ status: 200, model: 'portkey/prod', provider: 'Anthropic' });
    expect(hosts(sent)).toEqual(['api.openai.com', 'ours.openai.azure.com', 'api.anthropic.com']);
    expect(sent).toHaveLength(7);
    expect(sent.at(-1)?.headers['x-api-key']).toBe(env.ANTHROPIC_PROD_API_KEY);
    // Which model a client names does not matter, and neither that it names none.
    expect((await ask(undefined)).status).toBe(200);
  });
  it('that shares requests becomes weights, and each share is as large as it was', async () => {
    const { options } = await imported({
      strategy: { mode: 'loadbalance' },
      targets: [
        { ...openai, weight: 0.75 },
        { ...anthropic, weight: 0.25 },
      ],
    });
    let seed = 7;
    const random = () => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const { ask, sent } = played(options, { random });
    for (let at = 0; at < 200; at++) await ask('prod');
    const share = sent.filter(({ url }) => url.includes('openai')).length / sent.length;
    expect(share).toBeGreaterThan(0.65);
    expect(share).toBeLessThan(0.85);
  });
  it('that nests one in the other keeps the order, and says where it cannot', async () => {
    const { options, places } = await imported({
      strategy: { mode: 'fallback' },
      targets: [
        { strategy: { mode: 'loadbalance' }, targets: [openai, { ...groq, weight: 3 }] },
        { strategy: { mode: 'loadbalance' }, targets: [azure, anthropic] },
      ],
    });
    expect(options.models?.map(({ slug, fallbacks, endpoints }) => [slug, fallbacks, endpoints.length])).toEqual([
      ['portkey/prod', ['portkey/prod-2'], 2],
      ['portkey/prod-2', undefined, 2],
    ]);
    expect(places).not.toContain('warning targets');
    const { ask, sent } = played(options, { fails: ({ url }) => /openai\.com|groq/.test(url) });
    expect((await ask('prod')).model).toBe('portkey/prod-2');
    expect(hosts(sent.slice(0, 2)).toSorted()).toEqual(['api.groq.com', 'api.openai.com']);
    const other = await here.run(
      'other.json',
      JSON.stringify({
        strategy: { mode: 'loadbalance' },
        targets: [groq, { strategy: { mode: 'fallback' }, targets: [openai, azure] }],
      }),
      { out: 'other.mjs' },
    );
    expect(other.places).toContain('warning targets');
  });
  it('with conditions becomes a model for each target, and says that nothing chooses', async () => {
    const { options, places } = await imported({
      strategy: {
        mode: 'conditional',
        conditions: [JSON.parse('{"query":{"metadata.tier":"paid"},"then":"big"}')],
        default: 'small',
      },
      targets: [
        { name: 'big', ...openai },
        { name: 'small', ...groq },
      ],
    });
    expect(places).toContain('problem strategy.conditions');
    expect(options.models?.map(({ aliases }) => aliases)).toEqual([['small'], ['big']]);
    expect(options.defaultModel).toBe('portkey/small');
    expect((await played(options).ask('big')).provider).toBe('OpenAI');
  });
  it('that names no model asks for the names that clients use', async () => {
    const config = {
      strategy: { mode: 'fallback' },
      targets: [
        { provider: 'openai', api_key: '$OPENAI_KEY' },
        { ...groq, override_params: {} },
      ],
    };
    const without = await here.run('a.json', JSON.stringify(config), { out: 'a.mjs' });
    expect([without.summary, without.error]).toEqual([
      '0 of 1 model; 1 needs work: a. 2 problems, 2 notes.',
      'There are 2 problems.',
    ]);
    expect(without.out).toContain('--model gpt-4o,gpt-4o-mini');
    const { options, summary } = await imported(config, { model: 'gpt-4o, gpt-4o-mini' });
    expect(summary).toBe('2 of 2 models. 2 notes.');
    expect(options.models?.map(({ slug, aliases }) => [slug, aliases])).toEqual([
      ['portkey/gpt-4o', ['gpt-4o']],
      ['portkey/gpt-4o-mini', ['gpt-4o-mini']],
    ]);
    const { ask, sent } = played(options, { fails: ({ url }) => url.includes('openai.com') });
    expect((await ask('gpt-4o-mini')).status).toBe(200);
    expect(sent.at(-1)).toMatchObject({
      url: 'https://api.groq.com/openai/v1/chat/completions',
      body: { model: 'gpt-4o-mini' },
    });
  });
  it('shows no key, and moves what stands in clear into .env', async () => {
    const { out } = await imported({ strategy: { mode: 'fallback' }, targets: [openai, groq, azure] });
    for (const text of [out, here.written('gateway.config.mjs')]) expect(text).not.toContain('literal');
    expect(parseEnv(here.written('.env'))).toMatchObject({
      OPENAI_API_KEY: 'sk-literal-openai-0123',
      GROQ_API_KEY: 'gsk-literal-0123',
    });
    expect(out).toContain('Set:     AZURE_KEY');
  });
  it('keeps its checks for words and expressions, on the side of the call that they were on', async () => {
    const { options, places } = await imported({
      ...openai,
      input_guardrails: [
        { id: 'words', deny: true, 'default.contains': { operator: 'none', words: ['bluebird'] } },
        'pg-in-the-account',
      ],
      before_request_hooks: [
        {
          type: 'guardrail',
          id: 'numbers',
          deny: true,
          checks: [
            { id: 'default.regexMatch', parameters: { rule: 'EMP-\\d{6}', not: true } },
            { id: 'default.sentenceCount', parameters: { minSentences: 1 } },
          ],
        },
      ],
      output_guardrails: [{ id: 'lookahead', deny: true, 'default.regexMatch': { rule: '(?=a)b', not: true } }],
    });
    expect(places.filter((place) => place.startsWith('problem'))).toEqual([
      'problem input_guardrails[1]',
      'problem before_request_hooks[0].checks[1]',
      'problem output_guardrails[0]',
    ]);
    const { ask } = played(options);
    const said = (content: string) => ask('prod', { messages: [{ role: 'user', content }] });
    expect((await said('the bluebird sings')).status).toBe(403);
    expect((await said('I am EMP-123456')).status).toBe(403);
    expect((await said('Hello')).status).toBe(200);
  });

  const rows: [name: string, target: object, provider: object, places: string[]][] = [
    [
      'Bedrock with keys',
      {
        provider: 'bedrock',
        aws_access_key_id: 'AKIDEXAMPLE012345678',
        aws_secret_access_key: 'wJalrXUtnFEMI-K7MDENG-x',
        aws_region: 'us-east-1',
      },
      { 'amazon-bedrock': { credential: { region: 'us-east-1', accessKeyId: 'AKIDEXAMPLE012345678' } } },
      [],
    ],
    [
      'Bedrock by a role',
      { provider: 'bedrock', aws_role_arn: 'arn:aws:iam::1:role/x', aws_region: 'us-east-1' },
      {},
      ['problem config.aws_role_arn'],
    ],
    [
      'Vertex AI',
      {
        provider: 'vertex-ai',
        vertex_region: 'us-central1',
        vertex_service_account_json: { client_email: 'a@b.test' },
      },
      { 'google-vertex': { credential: { client_email: 'a@b.test', location: 'us-central1' } } },
      [],
    ],
    ['Gemini', { provider: 'google', api_key: 'k-0123456' }, { 'google-ai-studio': { apiKey: 'k-0123456' } }, []],
    [
      'a server of one’s own',
      { provider: 'openai', api_key: 'k-0123456', custom_host: 'http://127.0.0.1:8000/v1' },
      { openai: { baseUrl: 'http://127.0.0.1:8000/v1' } },
      [],
    ],
    ['Ollama', { provider: 'ollama' }, { ollama: { baseUrl: 'http://127.0.0.1:11434/v1' } }, []],
    ['a provider that is not served', { provider: 'stability-ai', api_key: 'k' }, {}, ['problem config.provider']],
    ['a key of the vault without a name', { virtual_key: 'team-a-key' }, {}, ['problem config']],
    ['a name of the model catalogue', { provider: '@openai-prod' }, { openai: {} }, ['warning config']],
    [
      'Azure by Entra',
      { provider: 'azure-openai', resource_name: 'r', deployment_id: 'd', azure_auth_mode: 'entra' },
      { azure: {} },
      ['problem config.azure_auth_mode'],
    ],
    ['a cache', { ...openai, cache: { mode: 'simple' } }, {}, ['warning cache']],
    ['headers of clients', { ...openai, forward_headers: ['x-a'] }, {}, ['problem forward_headers']],
    ['what nobody knows', { ...openai, made_up: 1 }, {}, ['warning made_up']],
  ];
  it.each(rows)('with %s', async (_, target, provider, expected) => {
    const { options, places } = await imported({ override_params: { model: 'm' }, ...target });
    expect(places.filter((place) => place !== 'note model')).toEqual(expected);
    // A service account of a test cannot sign.
    const { providers } = options;
    expect(providers).toMatchObject(provider);
    if (!('google-vertex' in (providers ?? {}))) expect(() => played(options)).not.toThrow();
  });
  it.each([
    ['targets that are no mappings', { targets: ['x', 1, null] }],
    ['no targets', { targets: [], strategy: { mode: 'fallback' } }],
    ['an unknown mode', { targets: [openai], strategy: { mode: 'scientist' } }],
    ['depth', JSON.parse(`${'{"targets":['.repeat(60)}{}${']}'.repeat(60)}`)],
  ])('with %s ends in a report', async (_, config) => {
    const { options } = await imported(config);
    expect(() => played({ ...options, models: options.models ?? [] })).not.toThrow();
  });
});
