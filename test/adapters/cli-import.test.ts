import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { start } from './cli-start.ts';
import { importing, played } from './importing.ts';

const here = importing();

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
    const { places, summary, out, error } = await here.run('litellm.yaml', usual);
    const config = await here.options({ OPENAI_API_KEY: 'sk-openai-0123456789' });
    expect(config.providers).toEqual({
      openai: { apiKey: 'sk-openai-0123456789' },
      azure: { credential: { endpoint: 'https://example.openai.azure.com' }, apiKey: secrets[0] },
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
      timeouts: { headersMs: 30_000, jsonHeadersMs: 30_000, firstEventMs: 30_000 },
      health: { failuresToCooldown: 4, cooldownMs: 20_000 },
      apiKeys: [{ key: secrets[2], permissions: ['inference', 'management'] }],
    });
    expect([summary, error]).toEqual(['3 of 3 models. 3 warnings, 3 notes.', null]);
    expect(places).toEqual([
      'warning model_list[0].litellm_params.rpm',
      'warning model_list[1].litellm_params.rpm',
      'warning router_settings.context_window_fallbacks',
      'note model_list[1].litellm_params.api_version',
      'note litellm_settings.drop_params',
      'note router_settings.allowed_fails',
    ]);
    expect(out).toContain('Set:     OPENAI_API_KEY, HOSTED_VLLM_API_KEY');
    const { ask, sent } = played(config);
    const { status, model } = await ask('gpt-4');
    expect([status, model, sent[0]?.body.temperature]).toEqual([200, 'openai/gpt-4o', 0.2]);
  });
  it('moves literal keys into .env, which only its owner may read, and prints none', async () => {
    const { out } = await here.run('litellm.yaml', usual);
    const config = here.written('gateway.config.mjs');
    for (const secret of secrets) {
      expect([out, config].some((text) => text.includes(secret))).toBe(false);
      expect(Object.values(parseEnv(here.written('.env')))).toContain(secret);
    }
    expect(statSync(join(here.folder, '.env')).mode & 0o077).toBe(0);
    expect(config).toContain('process.env.OPENAI_API_KEY');
    expect(here.written('.env')).not.toContain('OPENAI_API_KEY');
  });
  it('ends with 0 where nothing needs work, else with 1, and with 2 for a wrong command line, as a process', async () => {
    const { folder } = here;
    here.put(
      'all.yaml',
      'model_list:\n  - model_name: m\n    litellm_params: { model: groq/x, api_key: os.environ/K }\n',
    );
    const complete = start(['import', 'all.yaml'], {}, { folder });
    expect([await complete.code, complete.printed.error]).toEqual([0, '']);
    expect(complete.printed.out).toContain('1 of 1 model. 1 note.');
    const again = start(['import', 'all.yaml'], {}, { folder });
    expect([await again.code, again.printed.error]).toEqual([1, expect.stringContaining('exists already')]);
    const other = start(['import', 'all.yaml', '--out', 'other.mjs'], {}, { folder });
    expect([await other.code, readdirSync(folder).includes('other.mjs')]).toEqual([0, true]);
    here.put('some.yaml', `${usual}\nguardrails: [{ guardrail_name: a, litellm_params: { guardrail: aporia } }]\n`);
    const partial = start(['import', 'some.yaml', '--out', 'some.mjs'], {}, { folder });
    expect([await partial.code, partial.printed.error]).toEqual([1, 'There is 1 problem.\n']);
    for (const args of [['--from', 'nobody'], ['--out', 'config.txt'], ['second.yaml']]) {
      const wrong = start(['import', 'all.yaml', ...args], {}, { folder });
      expect([args, await wrong.code]).toEqual([args, 2]);
    }
  });
  it('writes nothing with --dry-run, and prints what would be written', async () => {
    const { out } = await here.run('litellm.yaml', usual, { 'dry-run': true });
    expect(readdirSync(here.folder)).toEqual(['litellm.yaml']);
    expect(out).toContain('Would write gateway.config.mjs:');
    expect(out).toContain("slug: 'openai/gpt-4o'");
    expect(out).toContain('Would add to .env: AZURE_API_KEY, GROQ_API_KEY, GATEWAY_API_KEY, GATEWAY_SECRET.');
    for (const secret of secrets) expect(out).not.toContain(secret);
  });
  it('adds to a .env that is there, and changes nothing in it', async () => {
    here.put('.env', 'OPENAI_API_KEY=sk-mine\nAZURE_API_KEY=another-key');
    chmodSync(join(here.folder, '.env'), 0o600);
    const { out } = await here.run('litellm.yaml', usual);
    expect(here.written('.env')).toMatch(/^OPENAI_API_KEY=sk-mine\nAZURE_API_KEY=another-key\n/);
    expect(parseEnv(here.written('.env'))).toMatchObject({
      AZURE_API_KEY: 'another-key',
      AZURE_API_KEY_2: 'sk-literal-azure-0123456789',
    });
    expect(out).toContain('Set:     HOSTED_VLLM_API_KEY');
  });
  it('gives no variable that one place refers to the literal of another', async () => {
    await here.run(
      'litellm.yaml',
      `
model_list:
  - { model_name: a, litellm_params: { model: openai/gpt-4o, api_key: sk-literal-0123 } }
  - { model_name: b, litellm_params: { model: openai/gpt-4o } }
`,
    );
    expect(parseEnv(here.written('.env'))).toMatchObject({ OPENAI_API_KEY_2: 'sk-literal-0123' });
    const { providers } = await here.options({ OPENAI_API_KEY: 'sk-of-the-process' });
    expect(providers).toMatchObject({
      openai: { apiKey: 'sk-literal-0123' },
      'openai-2': { like: 'openai', apiKey: 'sk-of-the-process' },
    });
  });
  it.each([
    ['no YAML', 'a.yaml', 'model_list: [sk-secret-1', 'is not valid YAML'],
    ['no JSON', 'a.json', '{"targets": [sk-secret', 'is not valid YAML'],
    ['no TOML', 'a.toml', 'models = [sk-secret', 'is not valid TOML: line 1'],
    ['another file', 'a.yaml', 'services: {}', 'is no config file of LiteLLM'],
    ['a list', 'a.yaml', '- sk-secret-1', 'is not a mapping'],
    ['aliases of aliases', 'a.yaml', bomb(), 'is not valid YAML'],
    ['an alias of itself', 'a.yaml', 'model_list: &a [*a]', ''],
    ['a huge file', 'a.yaml', `model_list: []\n${'# secret\n'.repeat(600_000)}`, 'is larger than 4 MiB'],
  ])('writes nothing for %s, and shows nothing of it', async (_, name, text, message) => {
    const error = await here.run(name, text).then(
      () => null,
      (caught: Error) => caught,
    );
    if (message === '') return;
    expect(error?.message).toContain(message);
    expect(error?.message).not.toContain('secret');
    expect(readdirSync(here.folder)).toEqual([name]);
  });
  it('writes no program that the file wrote', async () => {
    const hostile = "x'}); globalThis.owned = true; ({a: '\\u2028";
    await here.run(
      'litellm.yaml',
      `
model_list:
  - model_name: ${JSON.stringify(hostile)}
    litellm_params: { model: ${JSON.stringify(`openai/${hostile}`)}, api_key: "os.environ/A;globalThis.owned=true" }
  - model_name: __proto__
    litellm_params: { model: openai/m, stop: ["__proto__", "\`\${globalThis.owned = true}\`"] }
  - model_name: v
    litellm_params: { model: vertex_ai/gemini-x, vertex_project: "p\${globalThis.owned = true}", vertex_credentials: "/a\${globalThis.owned = true}\`'" }
`,
    );
    rmSync(join(here.folder, 'none'), { force: true });
    await here.options().catch(() => null);
    expect(here.written('gateway.config.mjs')).toContain("aliases: ['__proto__']");
    expect(globalThis).not.toHaveProperty('owned');
  });
});

/** Ten to the power of nine values in a few hundred bytes. */
function bomb(): string {
  const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]'];
  for (let at = 1; at < 10; at++) {
    const before = `*a${at - 1}`;
    lines.push(`a${at}: &a${at} [${Array.from({ length: 10 }, () => before).join(',')}]`);
  }
  return `${lines.join('\n')}\nmodel_list: *a9\n`;
}
