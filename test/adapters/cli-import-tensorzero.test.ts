// Loaded beforehand: the prices of built-in providers are read with the first request.
import '@pydantic/genai-prices';
import { describe, expect, it } from 'vitest';
import { importing, played } from './importing.ts';

const here = importing();

const env = {
  OPENAI_API_KEY: 'sk-openai-0123456789',
  SECOND_KEY: 'sk-second-0123456789',
  AZURE_API_KEY: 'key-azure-0123456789',
  ANTHROPIC_API_KEY: 'key-anthropic-0123456789',
};

async function imported(toml: string, flags: object = {}) {
  const run = await here.run('tensorzero.toml', toml, flags);
  return { ...run, options: await here.options(env) };
}

/** Without what every file gets. */
function own(places: readonly string[]): string[] {
  return places.filter((place) => place !== 'note gateway.auth' && place !== 'warning /inference');
}

const chain = `
[models.gpt]
routing = ["openai", "azure"]
[models.gpt.providers.openai]
type = "openai"
model_name = "gpt-5-mini"
api_key_location = { default = "env::OPENAI_API_KEY", fallback = "env::SECOND_KEY" }
timeouts = { non_streaming.total_ms = 15000, streaming.ttft_ms = 3000 }
cost = [
  { pointer = "/usage/prompt_tokens", cost_per_million = 1.25, required = true },
  { pointer = "/usage/completion_tokens", cost_per_million = 10.00, required = true },
  { pointer = "/usage/prompt_tokens_details/cached_tokens", cost_per_million = -1.125 },
]
[models.gpt.providers.azure]
type = "azure"
deployment_id = "ours"
endpoint = "https://ours.openai.azure.com"
timeouts = { non_streaming.total_ms = 30000, streaming.ttft_ms = 3000 }
`;

const functions = `
[functions.haiku]
type = "chat"
[functions.haiku.variants.small]
type = "chat_completion"
model = "openai::gpt-4o-mini"
temperature = 0.5
stop_sequences = ["END"]
retries = { num_retries = 1, max_delay_s = 5 }
[functions.haiku.variants.claude]
type = "chat_completion"
model = "anthropic::claude-haiku-4-5"
temperature = 0.5
stop_sequences = ["END"]
[functions.haiku.variants.last]
type = "chat_completion"
model = "gpt"
temperature = 0.5
stop_sequences = ["END"]
[functions.haiku.experimentation]
type = "static"
candidate_variants = { small = 0.9, claude = 0.1 }
fallback_variants = ["last"]
`;

describe('a tensorzero.toml', () => {
  it('keeps the order of providers, the second key, prices and time-outs, and the names that clients use', async () => {
    const { options, places, summary } = await imported(chain);
    expect(summary).toBe('1 of 1 model. 1 warning, 1 note.');
    expect(own(places)).toEqual(['warning timeouts.non_streaming.total_ms']);
    expect(options).toMatchObject({
      basePath: '/openai/v1',
      timeouts: { headersMs: 3_000, jsonHeadersMs: 30_000, firstEventMs: 3_000 },
      models: [
        {
          aliases: ['tensorzero::model_name::gpt', 'gpt'],
          endpoints: [
            { pricing: { prompt: '0.00000125', completion: '0.00001', inputCacheRead: '0.000000125' } },
            { provider: 'openai-2' },
            { provider: 'azure', model: 'ours' },
          ],
        },
      ],
    });
    const { ask, sent } = played(options, { fails: ({ url }) => !url.includes('azure') });
    expect((await ask('tensorzero::model_name::gpt')).status).toBe(200);
    expect(sent.map(({ headers }) => headers.authorization ?? headers['api-key'])).toEqual([
      `Bearer ${env.OPENAI_API_KEY}`,
      `Bearer ${env.SECOND_KEY}`,
      env.AZURE_API_KEY,
    ]);
  });
  it('keeps a function that is a choice of models, with its weights, parameters and fallbacks', async () => {
    const { options, places } = await imported(chain + functions);
    expect(own(places)).toEqual(['warning timeouts.non_streaming.total_ms']);
    const haiku = options.models?.find(({ slug }) => slug === 'tensorzero/haiku');
    expect(haiku).toMatchObject({
      aliases: ['tensorzero::function_name::haiku'],
      defaults: { temperature: 0.5, stop: ['END'] },
      endpoints: [
        { model: 'gpt-4o-mini', weight: 0.9 },
        { model: 'claude-haiku-4-5', weight: 0.1 },
        { provider: 'openai', model: 'gpt-5-mini' },
        { provider: 'openai-2', model: 'gpt-5-mini' },
        { provider: 'azure', model: 'ours' },
      ],
    });
    expect(options.retry).toEqual({ maxAttempts: 10, attemptsPerEndpoint: 2 });
    const { ask, sent } = played(options, { fails: ({ url }) => !url.includes('azure') });
    expect((await ask('tensorzero::function_name::haiku')).status).toBe(200);
    expect(sent).toHaveLength(9);
    expect(sent[0]?.body).toMatchObject({ temperature: 0.5 });
    expect((await ask('tensorzero::model_name::anthropic::claude-haiku-4-5')).status).toBe(502);
  });
  it.each([
    ['prompts', 'system_template = "a.minijinja"', ''],
    ['prompts in another form', 'templates.system.path = "a.minijinja"', ''],
    ['tools', '', 'tools = ["get_temperature"]'],
    ['a schema', '', 'output_schema = "a.json"'],
  ])('imports no function with %s under its name: it would be asked without them', async (_, variant, more) => {
    const { options, places, summary } = await imported(`
[functions.f]
type = "${more.startsWith('output') ? 'json' : 'chat'}"
${more}
[functions.f.variants.v]
type = "chat_completion"
model = "openai::gpt-4o-mini"
${variant}
`);
    expect(own(places)).toEqual(['problem functions.f']);
    expect(summary).toContain('1 of 2 models; 1 needs work: function f.');
    const { ask } = played(options);
    expect((await ask('tensorzero::function_name::f')).status).toBe(400);
    expect((await ask('tensorzero::model_name::openai::gpt-4o-mini')).status).toBe(200);
  });

  const provider = (lines: string) => `[models.m]\nrouting = ["p"]\n[models.m.providers.p]\n${lines}\n`;
  const rows: [name: string, toml: string, providers: object, places: string[]][] = [
    [
      'Responses',
      provider('type = "openai"\nmodel_name = "gpt-5"\napi_type = "responses"\ninclude_encrypted_reasoning = true'),
      { 'openai-responses': { like: 'openai', dialect: 'openai-responses', quirks: { encryptedReasoning: true } } },
      [],
    ],
    [
      'a server of one’s own',
      provider('type = "openai"\nmodel_name = "x"\napi_base = "http://127.0.0.1:8000/v1"\napi_key_location = "none"'),
      { local: { baseUrl: 'http://127.0.0.1:8000/v1' } },
      [],
    ],
    ['a server without an address', provider('type = "vllm"\nmodel_name = "x"'), {}, ['problem models.m.providers.p']],
    [
      'Bedrock',
      provider(
        'type = "aws_bedrock"\nmodel_id = "x"\nregion = "us-east-1"\naccess_key_id = "env::A"\nsecret_access_key = "env::B"',
      ),
      { 'amazon-bedrock': { credential: { region: 'us-east-1' } } },
      [],
    ],
    [
      'Vertex AI',
      provider('type = "gcp_vertex_gemini"\nmodel_id = "gemini-2.5-pro"\nlocation = "global"\nproject_id = "p"'),
      { 'google-vertex': {} },
      [],
    ],
    ['Gemini', provider('type = "google_ai_studio_gemini"\nmodel_name = "x"'), { 'google-ai-studio': {} }, []],
    [
      'Claude at Vertex AI',
      provider('type = "gcp_vertex_anthropic"\nmodel_id = "x"'),
      {},
      ['problem models.m.providers.p.type'],
    ],
    [
      'a key of each request',
      provider('type = "openai"\nmodel_name = "x"\napi_key_location = "dynamic::key"'),
      { openai: {} },
      ['problem models.m.providers.p.api_key_location'],
    ],
    [
      'a usual key of a type',
      `${provider('type = "openai"\nmodel_name = "x"')}[provider_types.openai.defaults]\napi_key_location = "env::SECOND_KEY"\n`,
      { openai: { apiKey: 'sk-second-0123456789' } },
      [],
    ],
    [
      'headers',
      provider('type = "openai"\nmodel_name = "x"\nextra_headers = [{ name = "x-team", value = "sk-secret-header" }]'),
      { openai: { headers: { 'x-team': 'sk-secret-header' } } },
      [],
    ],
    [
      'what is added to bodies',
      provider('type = "openai"\nmodel_name = "x"\nextra_body = []'),
      {},
      ['warning models.m.providers.p.extra_body'],
    ],
    [
      'rate limits',
      `${provider('type = "openai"\nmodel_name = "x"')}
[[rate_limiting.rules]]
always = true
tokens_per_minute = 100_000
[[rate_limiting.rules]]
priority = 0
model_inferences_per_minute = { capacity = 100, refill_rate = 60 }
scope = [{ api_key_public_id = "tensorzero::each" }]
[[rate_limiting.rules]]
priority = 1
cost_per_day = 10.5
model_inferences_per_hour = 5
[[rate_limiting.rules]]
priority = 1
tokens_per_minute = 5
scope = [{ tag_key = "user_id", tag_value = "tensorzero::each" }]
`,
      {},
      [
        'problem rate_limiting.rules[2].cost_per_day',
        'problem rate_limiting.rules[2].model_inferences_per_hour',
        'problem rate_limiting.rules[3].tokens_per_minute',
        'warning rate_limiting.rules[1].model_inferences_per_minute',
      ],
    ],
    [
      'the rest of the file',
      `${provider('type = "openai"\nmodel_name = "x"')}
[gateway]
base_path = "/ai/"
bind_address = "[::]:3000"
debug = true
auth.enabled = true
relay.gateway_url = "http://x"
[metrics.ok]
type = "boolean"
[embedding_models.e]
routing = ["openai"]
[made_up]
since = 2026-01-01
`,
      {},
      [
        'problem embedding_models.e',
        'problem metrics',
        'problem gateway.relay',
        'warning made_up',
        'warning gateway.auth',
        'note gateway.debug',
      ],
    ],
  ];
  it.each(rows)('with %s', async (name, toml, providers, expected) => {
    const { options, places, out } = await imported(toml);
    expect(own(places).toSorted()).toEqual(expected.toSorted());
    expect(options.providers).toMatchObject(providers);
    expect(out).not.toContain('secret');
    expect(() => played(options)).not.toThrow();
    if (name === 'rate limits')
      expect(options.rateLimits).toEqual({ key: { requestsPerMinute: 60 }, workspace: { tokensPerMinute: 100_000 } });
    if (name === 'the rest of the file') {
      expect(options.basePath).toBe('/ai/openai/v1');
      expect(out).toContain('serve --config gateway.config.mjs --host :: --port 3000');
    }
  });
  it('makes spans and keeps records where the file says so', async () => {
    const { options, out } = await imported(
      `${chain}\n[gateway]\nobservability.enabled = true\nexport.otlp.traces.enabled = true\n`,
    );
    expect(options.records).toEqual({ enabled: true });
    expect(options.onRecord).toBeTypeOf('function');
    expect(out).toContain('Install: npm install @opentelemetry/api');
  });
  it.each([
    ['a model that is a text', 'models = { a = "x" }\n[functions.f.variants.v]\nmodel = "y"'],
    ['a function without variants', '[functions.f]\ntype = "chat"'],
    ['a variant of a model that is not there', '[functions.f.variants.v]\ntype = "chat_completion"\nmodel = "gone"'],
  ])('with %s ends in a report', async (_, toml) => {
    const { options } = await imported(toml);
    expect(() => played(options)).not.toThrow();
  });
});
