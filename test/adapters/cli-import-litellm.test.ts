// Loaded beforehand: the prices of built-in providers are read with the first request.
import '@pydantic/genai-prices';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { start } from './cli-start.ts';
import { importing, played } from './importing.ts';

const here = importing();

/** A file as teams have it: two clouds, a wildcard, credentials, limits, guardrails and callbacks. */
const team = `
include: [more.yaml]
credential_list:
  - credential_name: shared
    credential_values: { api_key: os.environ/SHARED_KEY, api_base: "https://shared.openai.azure.com" }
model_list:
  - model_name: gpt-4o
    litellm_params:
      model: azure/our-gpt4o
      api_base: https://eu.openai.azure.com/
      api_version: "2024-06-01"
      api_key: os.environ/AZURE_EU_KEY
      weight: 3
    model_info: { base_model: azure/gpt-4o, supports_vision: true }
  - model_name: gpt-4o
    litellm_params: { model: azure/our-gpt4o, litellm_credential_name: shared, weight: 1 }
    model_info: { base_model: gpt-4o }
  - model_name: claude
    litellm_params:
      model: bedrock/us.anthropic.claude-sonnet-4-6
      aws_region_name: us-west-2
      aws_access_key_id: os.environ/AWS_ACCESS_KEY_ID
      aws_secret_access_key: os.environ/AWS_SECRET_ACCESS_KEY
  - model_name: claude-eu
    litellm_params: { model: bedrock/converse/eu-west-1/eu.anthropic.claude-sonnet-4-6 }
  - model_name: gemini
    litellm_params:
      model: vertex_ai/gemini-2.5-pro
      vertex_project: my-project-123
      vertex_location: us-central1
      vertex_credentials: os.environ/VERTEX_CREDENTIALS
  - model_name: pro
    litellm_params: { model: openai/responses/gpt-5-mini, api_key: os.environ/OPENAI_API_KEY, reasoning_effort: low }
  - { model_name: "gemini/*", litellm_params: { model: "gemini/*", api_key: os.environ/GEMINI_API_KEY } }
  - { model_name: "anthropic/*", litellm_params: { model: "anthropic/*", api_key: os.environ/ANTHROPIC_API_KEY } }
  - model_name: local
    litellm_params:
      model: openai/qwen
      api_base: http://127.0.0.1:8000/v1
      api_key: none
      extra_headers: { x-team: sk-header-literal }
  - { model_name: embeddings, litellm_params: { model: text-embedding-3-small } }
  - { model_name: images, litellm_params: { model: azure/dalle }, model_info: { mode: image_generation } }
router_settings:
  redis_host: os.environ/REDIS_HOST
  redis_port: 6379
  redis_password: os.environ/REDIS_PASSWORD
  num_retries: 1
  retry_after: 2
  fallbacks: [{ claude: [claude-eu, gpt-4o, fast] }, { gpt-4o: [embeddings] }]
  default_fallbacks: [fast]
litellm_settings:
  callbacks: [otel, detect_prompt_injection, my_module.handler]
  max_budget: 100
  budget_duration: 30d
  cache: true
  request_timeout: 120
  set_verbose: false
general_settings:
  master_key: os.environ/LITELLM_MASTER_KEY
  completion_model: gpt-4o
  alerting: [slack]
  pass_through_endpoints: [{ path: /v1/rerank, target: https://api.cohere.com/v1/rerank }]
  global_max_parallel_requests: 100
guardrails:
  - guardrail_name: pii
    litellm_params:
      guardrail: presidio
      mode: pre_call
      default_on: true
      pii_entities_config: { CREDIT_CARD: MASK, EMAIL_ADDRESS: BLOCK }
  - { guardrail_name: moderation, litellm_params: { guardrail: lakera_v2, mode: pre_call, default_on: true } }
`;
const more = `
include: [litellm.yaml]
model_list:
  - { model_name: fast, litellm_params: { model: groq/llama-3.1-8b-instant } }
`;
const env = {
  AZURE_EU_KEY: 'key-eu-0123456789',
  SHARED_KEY: 'key-shared-0123456789',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE012345678',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY',
  OPENAI_API_KEY: 'sk-openai-0123456789',
  GEMINI_API_KEY: 'key-gemini-0123456789',
  ANTHROPIC_API_KEY: 'key-anthropic-0123456789',
  GROQ_API_KEY: 'key-groq-0123456789',
  LITELLM_MASTER_KEY: 'sk-master-0123456789',
};

describe('the file of a team', () => {
  const imported = async () => {
    here.put('more.yaml', more);
    const run = await here.run('litellm.yaml', team);
    return { ...run, options: await here.options(env) };
  };

  it('is summed up, the worst first, and each item says what to do', async () => {
    const { summary, places, out } = await imported();
    expect(summary).toBe('9 of 11 models; 2 need work: embeddings, images. 6 problems, 4 warnings, 5 notes.');
    expect(places).toEqual(
      [
        'problem model_list[9].litellm_params.model',
        'problem model_list[10].model_info.mode',
        'problem router_settings.fallbacks',
        'problem general_settings.pass_through_endpoints',
        'problem litellm_settings.max_budget',
        'problem guardrails[1].litellm_params',
        'warning general_settings.alerting',
        'warning litellm_settings.cache',
        'warning litellm_settings.callbacks',
        'warning litellm_settings.callbacks',
        'note include[0]',
        'note model_list[0].model_info.supports_vision',
        'note model_list[0].litellm_params.api_version',
        'note litellm_settings.callbacks',
        'note router_settings.redis_host',
      ].toSorted((a, b) => places.indexOf(a) - places.indexOf(b)),
    );
    expect(out).toContain('→ Run: npx model-gateway budgets set monthly 100 --config gateway.config.mjs');
    expect(out).toContain('Install: npm install @keyv/redis @opentelemetry/api');
    expect(out).not.toContain('sk-header-literal');
  });
  it('is a gateway that asks each cloud with its own keys', async () => {
    const { options } = await imported();
    const { ask, sent } = played({ ...options, providers: { ...options.providers, azure: {} } });
    expect(await ask('gpt-4o')).toMatchObject({ status: 200, model: 'azure/gpt-4o', provider: 'azure-2' });
    expect([sent[0]?.url, sent[0]?.headers['api-key'], sent[0]?.body.model]).toEqual([
      'https://shared.openai.azure.com/openai/v1/chat/completions',
      env.SHARED_KEY,
      'our-gpt4o',
    ]);
    await ask('claude');
    expect(sent[1]?.url).toContain('bedrock-runtime.us-west-2.');
    expect(sent[1]?.headers.authorization).toContain(`Credential=${env.AWS_ACCESS_KEY_ID}/`);
    await ask('claude-eu');
    expect(sent[2]?.url).toContain('bedrock-runtime.eu-west-1.');
    await ask('pro');
    expect([sent[3]?.url, sent[3]?.body.reasoning.effort]).toEqual(['https://api.openai.com/v1/responses', 'low']);
    await ask('gemini/gemini-2.5-flash');
    expect(sent[4]?.url).toContain('/models/gemini-2.5-flash:generateContent');
    await ask('anthropic/claude-sonnet-4-6');
    expect(sent[5]?.headers['x-api-key']).toBe(env.ANTHROPIC_API_KEY);
    await ask('local');
    expect([sent[6]?.url, sent[6]?.headers['x-team']]).toEqual([
      'http://127.0.0.1:8000/v1/chat/completions',
      'sk-header-literal',
    ]);
    // Without a model, the default one.
    expect((await ask(undefined)).model).toBe('azure/gpt-4o');
  });
  it('keeps the shares of deployments, the order of fallbacks and the retries', async () => {
    const { options } = await imported();
    const { ask, sent } = played(options, { fails: ({ url }) => !url.includes('groq'), random: () => 0.99 });
    expect(await ask('claude')).toMatchObject({ status: 200, model: 'groq/fast' });
    expect(sent.map(({ url }) => new URL(url).hostname)).toEqual([
      ...twice('bedrock-runtime.us-west-2.amazonaws.com'),
      ...twice('bedrock-runtime.eu-west-1.amazonaws.com'),
      ...twice('eu.openai.azure.com'),
      ...twice('shared.openai.azure.com'),
      'api.groq.com',
    ]);
    expect(options).toMatchObject({
      retry: { attemptsPerEndpoint: 2, baseDelayMs: 2000 },
      timeouts: { headersMs: 120_000, jsonHeadersMs: 120_000, firstEventMs: 120_000 },
      overload: { maxInFlight: 100 },
    });
    const shares = options.models?.[0]?.endpoints.map(({ weight }) => weight);
    expect(shares).toEqual([3, 1]);
  });
  it('has prices for deployments with names of their own, and doctor finds what has none', async () => {
    const { options } = await imported();
    const { ask } = played(options);
    expect((await ask('gpt-4o')).json.usage.cost).toBeGreaterThan(0);
    const { gateway } = played(options);
    const { data } = await gateway.models.listEndpoints({ author: 'local', slug: 'local' });
    expect(data.endpoints[0]?.pricing.prompt).toBe('-1');
  });
  it('redacts and refuses what its guardrails did', async () => {
    const { options } = await imported();
    const { ask, sent } = played(options);
    await ask('local', { messages: [{ role: 'user', content: 'Card 4111 1111 1111 1111' }] });
    expect(sent[0]?.body.messages[0].content).toBe('Card [REDACTED:credit-card]');
    const messages = [{ role: 'user', content: 'Write to ada@example.com' }];
    expect((await ask('local', { messages })).status).toBe(403);
  });
  it('shares one Redis between instances', async () => {
    await imported();
    expect(here.written('gateway.config.mjs')).toMatch(
      /new KeyvRedis\(`redis:\/\/:\$\{encodeURIComponent\(process\.env\.REDIS_PASSWORD \?\? ''\)\}@\$\{process\.env\.REDIS_HOST\}:6379`\)/,
    );
  });
  it('starts without the variables of some clouds, which are not used then', async () => {
    here.put('more.yaml', more);
    await here.run('litellm.yaml', team);
    const options = await here.options({ GROQ_API_KEY: env.GROQ_API_KEY, LITELLM_MASTER_KEY: env.LITELLM_MASTER_KEY });
    const { ask } = played(options);
    expect([(await ask('fast')).status, (await ask('claude')).model]).toEqual([200, 'groq/fast']);
  });
});

function twice(host: string): string[] {
  return [host, host];
}

/** One deployment: its parameters and info, the provider and model that it becomes, and the items of the report. */
type Row = [
  name: string,
  params: string,
  info: string,
  provider: object | null,
  model: string | null,
  places: string[],
];

const at = 'model_list[0].litellm_params';
const rows: Row[] = [
  ['a bare name', 'model: gpt-4o', '', { openai: {} }, 'gpt-4o', []],
  ['another name there', 'model: together_ai/meta-llama/x', '', { together: {} }, 'meta-llama/x', []],
  ['Gemini', 'model: gemini/gemini-2.5-pro', '', { 'google-ai-studio': {} }, 'gemini-2.5-pro', []],
  [
    'OpenAI at its European address',
    'model: openai/gpt-4o, api_base: "https://eu.api.openai.com/v1"',
    '',
    { openai: { baseUrl: 'https://eu.api.openai.com/v1' } },
    'gpt-4o',
    [],
  ],
  [
    'a server that speaks as OpenAI does',
    'model: openai/x/y, api_base: "https://llm.acme.example/v1", api_key: k',
    '',
    { acme: { baseUrl: 'https://llm.acme.example/v1' } },
    'x/y',
    [],
  ],
  [
    'Azure behind a gateway of one’s own',
    'model: azure/d, api_base: "https://apim.acme.example", api_key: k',
    '',
    { azure: { baseUrl: 'https://apim.acme.example/openai/v1' } },
    'd',
    [],
  ],
  [
    'Azure by Entra',
    'model: azure/d, api_base: "https://x.openai.azure.com", tenant_id: t, client_id: c, client_secret: s',
    '',
    { azure: { credential: { endpoint: 'https://x.openai.azure.com' } } },
    'd',
    [`problem ${at}.tenant_id`, `problem ${at}.client_id`, `problem ${at}.client_secret`],
  ],
  [
    'Claude at Azure',
    'model: azure_ai/claude-opus-4-5, api_base: "https://x.services.ai.azure.com/anthropic", api_key: k',
    '',
    { 'azure-anthropic': { dialect: 'anthropic-messages', baseUrl: 'https://x.services.ai.azure.com/anthropic/v1' } },
    'claude-opus-4-5',
    [],
  ],
  [
    'Bedrock by a role',
    'model: bedrock/anthropic.claude-v2, aws_role_name: "arn:aws:iam::1:role/x", aws_region_name: eu-west-1',
    '',
    { 'amazon-bedrock': { credential: { region: 'eu-west-1' } } },
    'anthropic.claude-v2',
    [`problem ${at}.aws_role_name`],
  ],
  [
    'an imported model of Bedrock',
    'model: "bedrock/llama/arn:aws:bedrock:us-east-1:1:imported-model/x", api_key: k, aws_region_name: us-east-1',
    '',
    { 'amazon-bedrock': { credential: { region: 'us-east-1' } } },
    'arn:aws:bedrock:us-east-1:1:imported-model/x',
    [],
  ],
  ['an agent of Bedrock', 'model: bedrock/agent/x/y', '', null, null, [`problem ${at}.model`]],
  ['Claude at Vertex', 'model: vertex_ai/claude-sonnet-4', '', null, null, [`problem ${at}.model`]],
  [
    'a model for embeddings, by its mode',
    'model: openai/x',
    'mode: embedding',
    null,
    null,
    ['problem model_list[0].model_info.mode'],
  ],
  ['a model for speech, by its name', 'model: openai/whisper-1', '', null, null, [`problem ${at}.model`]],
  ['a provider that is not served', 'model: sagemaker/x', '', null, null, [`problem ${at}.model`]],
  ['a server without an address', 'model: vllm/x', '', null, null, [`problem ${at}.model`]],
  ['nothing that is a name', 'model: some-model', '', null, null, [`problem ${at}.model`]],
  [
    'Ollama, and what it is not sent',
    'model: ollama/llama3, additional_drop_params: [seed], max_retries: 4',
    'access_groups: [a]',
    { ollama: { baseUrl: 'http://127.0.0.1:11434/v1', quirks: { dropParams: ['seed'] } } },
    'llama3',
    [`warning ${at}.max_retries`, 'note model_list[0].model_info.access_groups'],
  ],
  ['one price of two', 'model: openai/x, input_cost_per_token: 1e-6', '', { openai: {} }, 'x', [`warning ${at}`]],
  [
    'a budget of one deployment',
    'model: openai/x, max_budget: 5',
    '',
    { openai: {} },
    'x',
    [`problem ${at}.max_budget`],
  ],
];

describe('a deployment', () => {
  it.each(rows)('of %s', async (_, params, info, provider, model, places) => {
    const run = await here.run(
      'litellm.yaml',
      `model_list: [{ model_name: m, litellm_params: { ${params} }, model_info: { ${info} } }]\ngeneral_settings: { master_key: sk-0123456789 }`,
    );
    expect(run.places).toEqual(places);
    const config = await here.options({ OPENAI_API_KEY: 'sk-0123456789' });
    expect(config.providers).toMatchObject(provider ?? {});
    expect(config.models?.[0]?.endpoints[0]?.model ?? null).toBe(model);
    expect(() => played(config)).not.toThrow();
    expect(run.summary.startsWith(`${model === null ? 0 : 1} of 1 model`)).toBe(true);
  });
});

describe('the settings of the proxy', () => {
  it.each<[string, string, string[]]>([
    ['router_settings: { routing_strategy: latency-based-routing }', 'warning', ['router_settings.routing_strategy']],
    ['router_settings: { routing_strategy: cost-based-routing }', 'warning', ['router_settings.routing_strategy']],
    ['router_settings: { fallbacks: [{ gone: [m] }] }', 'problem', ['router_settings.fallbacks']],
    [
      'litellm_settings: { default_internal_user_params: { max_budget: 1 } }',
      'problem',
      ['litellm_settings.default_internal_user_params'],
    ],
    [
      'general_settings: { master_key: sk-12345678, enable_jwt_auth: true }',
      'problem',
      ['general_settings.enable_jwt_auth'],
    ],
    ['general_settings: { master_key: sk-12345678, made_up: true }', 'warning', ['general_settings.made_up']],
    ['general_settings: { master_key: sk-12345678, enable_jwt_auth: false }', 'note', []],
    ['general_settings: { background_health_checks: true }', 'warning', ['general_settings.background_health_checks']],
    ['general_settings: { background_health_checks: false }', 'warning', []],
    ['litellm_settings: { json_logs: true }', 'warning', ['litellm_settings.json_logs']],
    ['made_up_section: { a: 1 }', 'warning', ['made_up_section']],
    ['environment_variables: { "a b": x }', 'problem', ['environment_variables.a b']],
    ['include: [gone.yaml]', 'problem', ['include[0]']],
  ])('%s', async (yaml, level, expected) => {
    const { places } = await here.run(
      'litellm.yaml',
      `model_list: [{ model_name: m, litellm_params: { model: groq/x } }]\n${yaml}\n`,
    );
    const without = places.filter((place) => place !== 'note general_settings.master_key');
    expect(without).toEqual(expected.map((place) => `${level} ${place}`));
  });
  it('is not imposed where it is not on by default', async () => {
    const { places } = await here.run(
      'litellm.yaml',
      `
model_list: [{ model_name: m, litellm_params: { model: groq/x } }]
guardrails: [{ guardrail_name: pii, litellm_params: { guardrail: hide-secrets, mode: pre_call } }]
`,
    );
    expect(places[0]).toBe('problem guardrails[0]');
    expect(here.written('gateway.config.mjs')).not.toContain('textGuardrail');
  });
  it('keeps what the file sets for its process', async () => {
    await here.run(
      'litellm.yaml',
      `
model_list: [{ model_name: m, litellm_params: { model: groq/x } }]
environment_variables: { LANGFUSE_KEY: sk-langfuse-secret, GROQ_API_KEY: sk-groq-secret }
general_settings: { database_url: "postgres://u:p@h/db" }
`,
    );
    expect(parseEnv(here.written('.env'))).toMatchObject({
      LANGFUSE_KEY: 'sk-langfuse-secret',
      GROQ_API_KEY: 'sk-groq-secret',
      DATABASE_URL: 'postgres://u:p@h/db',
    });
    expect(here.written('gateway.config.mjs')).toContain('new KeyvPostgres({ uri: process.env.DATABASE_URL })');
  });
  it('tries deployments by their order, and the others where these fail', async () => {
    await here.run(
      'litellm.yaml',
      `
model_list:
  - { model_name: m, litellm_params: { model: groq/c, api_key: os.environ/K, order: 2 } }
  - { model_name: m, litellm_params: { model: groq/a, api_key: os.environ/K, order: 1, weight: 1 } }
  - { model_name: m, litellm_params: { model: groq/b, api_key: os.environ/K, order: 1, weight: 3 } }
`,
    );
    const options = await here.options({ K: 'key-groq-0123456789' });
    expect(options.models?.[0]?.endpoints).toEqual([
      { provider: 'groq', model: 'a', weight: 1 },
      { provider: 'groq', model: 'b', weight: 3 },
      { provider: 'groq', model: 'c' },
    ]);
    const { ask, sent } = played(options, { random: () => 0.99, fails: ({ body }) => body.model !== 'c' });
    expect((await ask('m')).status).toBe(200);
    expect([...new Set(sent.map(({ body }) => body.model))]).toEqual(['b', 'a', 'c']);
  });
  it('waits as long for one attempt as the slowest deployment may take', async () => {
    const file = (second: string) => `
model_list:
  - { model_name: m, litellm_params: { model: groq/a, timeout: 300, stream_timeout: 5 } }
  - { model_name: n, litellm_params: { model: groq/b${second} } }
router_settings: { num_retries: 5 }
`;
    const { places } = await here.run('a.yaml', file(', timeout: 30, stream_timeout: 5'));
    expect(places.filter((one) => one.startsWith('warning'))).toEqual(['warning model_list[1].litellm_params.timeout']);
    expect((await here.options()).timeouts).toEqual({
      headersMs: 5_000,
      jsonHeadersMs: 300_000,
      firstEventMs: 5_000,
      totalMs: 1_800_000,
    });
  });
  it('is found unpriced by doctor where the file and the catalogue have no price', async () => {
    await here.run(
      'litellm.yaml',
      `
model_list:
  - { model_name: m, litellm_params: { model: azure/ours, api_base: "https://x.openai.azure.com", api_key: k-0123456789 } }
general_settings: { master_key: sk-master-0123456789 }
`,
    );
    const text = here
      .written('gateway.config.mjs')
      .replace(/import .*sqlite.*\n/, '')
      .replace(/store: .*/, '');
    here.put(
      'checked.mjs',
      text
        .replaceAll('process.env.AZURE_API_KEY', "'key-azure-0123456789'")
        .replaceAll('process.env.GATEWAY_SECRET', "'x'.repeat(40)")
        .replaceAll('process.env.GATEWAY_API_KEY', "'sk-0123456789'"),
    );
    const run = start(['doctor', '--config', `${here.folder}/checked.mjs`], { MODEL_GATEWAY_DATA: `${here.folder}/d` });
    expect(await run.code).toBe(0);
    expect(run.printed.out).toContain('Without a price: azure/m.');
  });
});
