import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseEnv } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importConfig } from '../../adapters/cli/import-command.ts';
import { createGateway, type GatewayOptions } from '../../src/index.ts';
import { root } from '../docs/markdown.ts';
import { start } from './cli-start.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'model-gateway-import-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const written = (name: string) => readFileSync(join(folder, name), 'utf8');

/** Runs the command in this process. @returns what it printed, and what it could not express */
async function imported(yaml: string): Promise<{ out: string; items: string[] }> {
  writeFileSync(join(folder, 'litellm.yaml'), yaml);
  let out = '';
  const print = (text: string) => {
    out += text;
  };
  const terminal = { args: [], folder, env: {}, print };
  try {
    await importConfig(terminal as never, 'litellm.yaml');
    return { out, items: [] };
  } catch (error) {
    const [first = '', ...items] = (error as Error).message.split('\n');
    if (!first.startsWith('Not expressed')) throw error;
    return { out, items: items.map((item) => item.trim()) };
  }
}

let loads = 0;

/** The config as the process of the gateway sees it, with the variables of `.env` and some more. */
async function options(more: Record<string, string> = {}): Promise<GatewayOptions> {
  const text = written('gateway.config.mjs')
    .replace("sqliteStore('gateway.db')", `sqliteStore(${JSON.stringify(join(folder, 'gateway.db'))})`)
    .replace("'model-gateway/sqlite'", `'${pathToFileURL(join(root, 'adapters/sqlite/sqlite.ts')).href}'`);
  const file = join(folder, `config-${++loads}.mjs`);
  const env = JSON.stringify({ ...parseEnv(written('.env')), ...more });
  writeFileSync(file, text.replace('export default', `const process = { env: ${env} };\nexport default`));
  return ((await import(/* @vite-ignore */ pathToFileURL(file).href)) as { default: GatewayOptions }).default;
}

const usual = `
model_list:
  - model_name: gpt-4o
    litellm_params:
      model: openai/gpt-4o-2024-11-20
      api_key: os.environ/OPENAI_API_KEY
      temperature: 0.2
      max_tokens: 500
      rpm: 60
  - model_name: gpt-4o
    litellm_params:
      model: azure/my-deployment
      api_base: https://example.openai.azure.com
      api_key: sk-literal-azure-0123456789
      api_version: "2024-06-01"
      temperature: 0.2
      max_tokens: 500
      rpm: 20
  - model_name: fast
    litellm_params:
      model: groq/llama-3.1-8b-instant
      api_key: "sk literal'groq#0123"
      input_cost_per_token: 0.00000005
      output_cost_per_token: 8e-8
    model_info:
      max_input_tokens: 131072
  - model_name: acme/local
    litellm_params:
      model: hosted_vllm/qwen
      api_base: http://127.0.0.1:9000/v1
router_settings:
  routing_strategy: simple-shuffle
  num_retries: 2
  timeout: 30
  allowed_fails: 3
  cooldown_time: 20
  fallbacks: [{"gpt-4o": ["fast"]}]
  context_window_fallbacks: [{"fast": ["acme/local"]}]
  model_group_alias: {"gpt-4": "gpt-4o", "hidden": {"model": "fast", "hidden": true}}
litellm_settings:
  drop_params: true
general_settings:
  master_key: sk-master-literal-1234
`;
const secrets = ['sk-literal-azure-0123456789', "sk literal'groq#0123", 'sk-master-literal-1234'];

describe('model-gateway import', () => {
  it('writes a config that serves what the other gateway served', async () => {
    const { items, out } = await imported(usual);
    const config = await options({ OPENAI_API_KEY: 'sk-openai-0123456789' });
    expect(config.providers).toEqual({
      openai: { apiKey: 'sk-openai-0123456789' },
      azure: { baseUrl: 'https://example.openai.azure.com/openai/v1', apiKey: secrets[0] },
      groq: { apiKey: secrets[1] },
      'hosted-vllm': { baseUrl: 'http://127.0.0.1:9000/v1', apiKey: undefined },
    });
    expect(config.models).toEqual([
      {
        slug: 'openai/gpt-4o',
        aliases: ['gpt-4o'],
        fallbacks: ['groq/fast'],
        defaults: { max_tokens: 500, temperature: 0.2 },
        endpoints: [
          { provider: 'openai', model: 'gpt-4o-2024-11-20', weight: 60 },
          { provider: 'azure', model: 'my-deployment', weight: 20 },
        ],
      },
      {
        slug: 'groq/fast',
        aliases: ['fast'],
        fallbacks: ['acme/local'],
        endpoints: [
          {
            provider: 'groq',
            model: 'llama-3.1-8b-instant',
            pricing: { prompt: '0.00000005', completion: '0.00000008' },
            maxPromptTokens: 131072,
          },
        ],
      },
      { slug: 'acme/local', endpoints: [{ provider: 'hosted-vllm', model: 'qwen' }] },
    ]);
    expect(config).toMatchObject({
      aliases: { 'gpt-4': 'openai/gpt-4o', hidden: 'groq/fast' },
      // A model with one endpoint, and its fallback with two.
      retry: { maxAttempts: 9, attemptsPerEndpoint: 3 },
      timeouts: { totalMs: 30_000 },
      health: { failuresToCooldown: 4, cooldownMs: 20_000 },
      apiKeys: [{ key: secrets[2], permissions: ['inference', 'management'] }],
    });
    expect(items.map((item) => item.split(': ')[0])).toEqual([
      'model_list[0].litellm_params.rpm',
      'model_list[1].litellm_params.api_version',
      'model_list[1].litellm_params.rpm',
      'router_settings.context_window_fallbacks',
      'litellm_settings.drop_params',
    ]);
    expect(out).toContain('Set:     OPENAI_API_KEY, HOSTED_VLLM_API_KEY');
    const sent: { url: string; body: { model: string; temperature?: number } }[] = [];
    const gateway = createGateway({
      ...config,
      fetch: async (url, init) => {
        sent.push({ url: String(url), body: JSON.parse(String(init?.body)) });
        const message = { role: 'assistant', content: 'Hi' };
        return Response.json({ choices: [{ index: 0, message, finish_reason: 'stop' }] });
      },
    });
    const response = await gateway.fetch('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${secrets[2]}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    const { model } = await response.json();
    expect([response.status, model, sent[0]?.body.temperature]).toEqual([200, 'openai/gpt-4o', 0.2]);
    await gateway.close();
    await (config.store as unknown as { disconnect(): Promise<void> }).disconnect();
  });
  it('moves literal keys into .env, which only its owner may read, and prints none', async () => {
    const { items, out } = await imported(usual);
    const config = written('gateway.config.mjs');
    for (const secret of secrets) {
      expect([out, config, items.join()].some((text) => text.includes(secret))).toBe(false);
      expect(Object.values(parseEnv(written('.env')))).toContain(secret);
    }
    expect(statSync(join(folder, '.env')).mode & 0o077).toBe(0);
    expect(config).toContain('process.env.OPENAI_API_KEY');
    expect(written('.env')).not.toContain('OPENAI_API_KEY');
  });
  it('ends with 0 where all is expressed, else with 1, as a process', async () => {
    writeFileSync(
      join(folder, 'all.yaml'),
      'model_list:\n  - model_name: m\n    litellm_params: { model: groq/x, api_key: os.environ/K }\n',
    );
    const complete = start(['import', 'all.yaml'], {}, { folder });
    expect([await complete.code, complete.printed.error]).toEqual([0, '']);
    const again = start(['import', 'all.yaml'], {}, { folder });
    expect([await again.code, again.printed.error]).toEqual([1, expect.stringContaining('exists already')]);
    for (const name of ['gateway.config.mjs', '.env']) rmSync(join(folder, name));
    writeFileSync(join(folder, 'some.yaml'), usual);
    const partial = start(['import', 'some.yaml'], {}, { folder });
    expect([await partial.code, partial.printed.error]).toEqual([1, expect.stringContaining('drop_params')]);
    expect(readdirSync(folder)).toContain('gateway.config.mjs');
  });
  it('gives each address and key of a provider a provider of its own', async () => {
    await imported(`
model_list:
  - { model_name: m, litellm_params: { model: openai/a, api_key: os.environ/ONE } }
  - { model_name: m, litellm_params: { model: openai/a, api_key: os.environ/TWO } }
  - { model_name: m, litellm_params: { model: openai/a, api_key: sk-literal-three, api_base: "https://user:pw-secret@x.test/v1" } }
`);
    const config = await options({ ONE: 'sk-one-0123', TWO: 'sk-two-0123' });
    expect(config.providers).toMatchObject({
      openai: { apiKey: 'sk-one-0123' },
      'openai-2': { apiKey: 'sk-two-0123', baseUrl: 'https://api.openai.com/v1' },
      'openai-3': { apiKey: 'sk-literal-three', baseUrl: 'https://user:pw-secret@x.test/v1' },
    });
    expect(written('gateway.config.mjs')).not.toContain('pw-secret');
    expect(config.models?.[0]?.endpoints.map(({ provider, weight }) => [provider, weight])).toEqual([
      ['openai', 1],
      ['openai-2', 1],
      ['openai-3', 1],
    ]);
  });
  it('keeps the dialect of a provider that is there twice', async () => {
    await imported(`
model_list:
  - { model_name: m, litellm_params: { model: anthropic/claude-a, api_key: os.environ/ONE } }
  - { model_name: m, litellm_params: { model: anthropic/claude-a, api_key: os.environ/TWO } }
`);
    const { providers } = await options({ ONE: 'sk-one-0123', TWO: 'sk-two-0123' });
    expect(providers).toMatchObject({
      anthropic: { apiKey: 'sk-one-0123' },
      'anthropic-2': {
        apiKey: 'sk-two-0123',
        baseUrl: 'https://api.anthropic.com/v1',
        dialect: 'anthropic-messages',
      },
    });
    expect(providers?.anthropic).not.toHaveProperty('baseUrl');
  });
  it('lists, item by item, what it leaves out', async () => {
    const { items } = await imported(`
include: [other.yaml]
model_list:
  - { model_name: e, litellm_params: { model: openai/embed }, model_info: { mode: embedding } }
  - { model_name: b, litellm_params: { model: bedrock/x, aws_region_name: us-east-1 } }
  - { model_name: "openai/*", litellm_params: { model: "openai/*" } }
  - { model_name: "*", litellm_params: { model: "groq/*" } }
  - { litellm_params: { model: openai/x } }
  - { model_name: ok, litellm_params: { model: gpt-4o, extra_headers: { a: sk-header-secret } } }
router_settings: { routing_strategy: latency-based-routing, redis_password: sk-redis-secret, fallbacks: [{ gone: [ok] }] }
litellm_settings: { success_callback: [langfuse], cache: true }
general_settings: { database_url: "postgres://u:p@h/db", alerting: [slack] }
environment_variables: { LANGFUSE_KEY: sk-langfuse-secret }
`);
    expect(items.map((item) => item.split(': ')[0])).toEqual(
      [
        'model_list[0].model_info.mode',
        'model_list[1].litellm_params.model',
        'model_list[1].litellm_params.aws_region_name',
        'model_list[3].model_name',
        'model_list[4]',
        'model_list[5].litellm_params.extra_headers',
        'router_settings.routing_strategy',
        'router_settings.fallbacks',
        'router_settings.redis_password',
        'litellm_settings.success_callback',
        'litellm_settings.cache',
        'general_settings.alerting',
        'include',
        'general_settings.database_url',
      ].toSorted((a, b) => order(items, a) - order(items, b)),
    );
    expect(items.join()).not.toMatch(/secret|postgres:/);
    expect(parseEnv(written('.env'))).toMatchObject({
      LANGFUSE_KEY: 'sk-langfuse-secret',
      DATABASE_URL: 'postgres://u:p@h/db',
    });
    expect(written('gateway.config.mjs')).toContain('new KeyvPostgres({ uri: process.env.DATABASE_URL })');
  });
  it.each([
    ['no YAML', 'model_list: [sk-secret-1', 'is not valid YAML'],
    ['another file', 'services: {}', 'has no list model_list'],
    ['a list', '- sk-secret-1', 'is not a mapping'],
    ['aliases of aliases', bomb(), 'is not valid YAML'],
  ])('writes nothing for %s, and shows nothing of it', async (_, yaml, message) => {
    const error = await imported(yaml).then(
      () => null,
      (caught: Error) => caught,
    );
    expect(error?.message).toContain(message);
    expect(error?.message).not.toContain('secret');
    expect(readdirSync(folder)).toEqual(['litellm.yaml']);
  });
  it('writes no program that the file wrote', async () => {
    const hostile = "x'}); globalThis.owned = true; ({a: '\\u2028";
    await imported(`
model_list:
  - model_name: ${JSON.stringify(hostile)}
    litellm_params: { model: ${JSON.stringify(`openai/${hostile}`)}, api_key: "os.environ/A;globalThis.owned=true" }
  - model_name: __proto__
    litellm_params: { model: openai/m, stop: ["__proto__", "\`\${globalThis.owned = true}\`"] }
`);
    const config = await options();
    expect(config.models).toHaveLength(2);
    expect(config.models?.[1]?.aliases).toEqual(['__proto__']);
    expect(globalThis).not.toHaveProperty('owned');
  });
});

const order = (items: readonly string[], path: string) => items.findIndex((item) => item.startsWith(`${path}: `));

/** Ten to the power of nine values in a few hundred bytes. */
function bomb(): string {
  const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]'];
  for (let at = 1; at < 10; at++) {
    const before = `*a${at - 1}`;
    lines.push(`a${at}: &a${at} [${Array.from({ length: 10 }, () => before).join(',')}]`);
  }
  return `${lines.join('\n')}\nmodel_list: *a9\n`;
}
