// Loaded beforehand: the prices of built-in providers are read with the first request.
import '@pydantic/genai-prices';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scan } from '../../adapters/cli/import/openrouter/scan.ts';
import { start } from './cli-start.ts';
import { importing, played } from './importing.ts';

const here = importing();
const keys = {
  OPENROUTER_API_KEY: 'key-router-0123456789',
  OPENAI_API_KEY: 'key-openai-0123456789',
  GEMINI_API_KEY: 'key-gemini-0123456789',
  DEEPINFRA_API_KEY: 'key-deepinfra-0123456789',
  EXA_API_KEY: 'key-exa-0123456789',
};

const client = `
import OpenAI from 'openai';
import type { Chat } from 'openai/resources-2';
const client = new OpenAI({ baseURL: 'https://openrouter.ai/api/v1', apiKey: process.env.OPENROUTER_API_KEY });
const models = ['openai/gpt-4o', "google/gemini-2.5-pro:nitro", \`openai/gpt-oss-120b\`, 'openrouter/auto'];
await client.chat.completions.create({
  model: 'meta-llama/llama-0-none:free',
  models: ['acme/unknown-1', 'anthropic/claude-0.5-none'],
  provider: { order: ['deepinfra', 'Nobody'], allow_fallbacks: true },
});
`;

describe('a client of a hosted router', () => {
  it('becomes the providers that its models need, and one list of what to change', async () => {
    const { options, places, summary, out } = await (async () => {
      const run = await here.run('client.ts', client);
      return { ...run, options: await here.options(keys) };
    })();
    expect(summary).toBe('6 of 6 models. 4 warnings.');
    expect(places).toEqual([
      'warning client.ts:9',
      'warning client.ts:7',
      'warning client.ts:8',
      'warning client.ts:4',
    ]);
    expect(out).toContain('with the key in GATEWAY_API_KEY');
    expect(Object.keys(options.providers ?? {}).toSorted()).toEqual([
      'deepinfra',
      'google-ai-studio',
      'openai',
      'openrouter',
    ]);
    expect(options.compat).toBe('openrouter');
    const { ask, sent } = played(options);
    for (const model of ['openai/gpt-4o', 'google/gemini-2.5-pro:nitro', 'meta-llama/llama-0-none:free', 'gpt-4o'])
      expect([model, (await ask(model)).status]).toEqual([model, 200]);
    const order = { provider: { order: ['deepinfra'] } };
    expect((await ask('openai/gpt-oss-120b', order)).json.usage.cost).toBeGreaterThan(0);
    expect(sent.map(({ url }) => new URL(url).hostname)).toEqual([
      'api.openai.com',
      'generativelanguage.googleapis.com',
      'openrouter.ai',
      'api.openai.com',
      'api.deepinfra.com',
    ]);
    // The list of models of a request works as it did.
    const fallback = await ask(undefined, { models: ['anthropic/claude-0.5-none', 'openai/gpt-4o'] });
    expect(fallback.model).toBe('anthropic/claude-0.5-none');
  });
  it('asks a router of ours for what openrouter/auto was', async () => {
    await here.run('client.ts', client);
    const { ask } = played(await here.options(keys));
    expect((await ask('openrouter/auto')).status).toBe(200);
  });
  it('may be a folder, of which neither dependencies nor links are read', async () => {
    const folder = join(here.folder, 'app');
    for (const name of ['src', 'node_modules/x', '.git']) mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, 'src/llm.py'), 'BASE = "https://openrouter.ai/api/v1"\nMODEL = "openai/gpt-4o-mini"\n');
    writeFileSync(join(folder, '.env'), 'OPENROUTER_API_KEY=sk-or-secret-0123\nMODEL=google/gemini-2.5-flash\n');
    writeFileSync(join(folder, 'node_modules/x/index.js'), "'openai/gpt-4o'");
    writeFileSync(join(folder, 'large.json'), `"openai/gpt-4.1" ${'x'.repeat(1_100_000)}`);
    symlinkSync(folder, join(folder, 'src/again'));
    const run = start(['import', 'app'], {}, { folder: here.folder });
    expect([await run.code, run.printed.error]).toEqual([0, '']);
    expect(run.printed.out).toContain('2 of 2 models. 2 warnings.');
    expect(run.printed.out).toContain('files: that are larger than 1 MiB, or beyond 5,000, were left out: 1');
    for (const text of [run.printed.out, here.written('gateway.config.mjs'), here.written('.env')])
      expect(text).not.toContain('sk-or-secret');
  });
  it('may be the body of a request, where --from says so', async () => {
    const body = JSON.stringify({
      model: 'openai/gpt-4o:online',
      messages: [{ role: 'user', content: 'Hi' }],
      provider: { only: ['openai'] },
      plugins: [{ id: 'web' }],
      transforms: ['middle-out'],
    });
    await expect(here.run('body.json', body)).rejects.toThrow('names no hosted router');
    const { places, summary } = await here.run('body.json', body, { from: 'openrouter' });
    expect([summary, places]).toEqual(['1 of 1 model. 1 warning.', ['warning body.json:1']]);
    // Without the key of the search engine, the rest is served all the same.
    expect(
      (await played(await here.options({ OPENAI_API_KEY: keys.OPENAI_API_KEY })).ask('openai/gpt-4o')).status,
    ).toBe(200);
    const options = await here.options(keys);
    expect(options.searchEngines).toHaveLength(1);
    expect(() => played(options)).not.toThrow();
  });
  it('takes further names of models, and says where there are none', async () => {
    const text = 'const base = "https://openrouter.ai/api/v1";';
    expect((await here.run('a.js', text, { out: 'a.mjs' })).error).toBe('There is 1 problem.');
    const { summary } = await here.run('a.js', text, { model: 'openai/gpt-4o,google/gemini-2.5-pro' });
    expect(summary).toBe('2 of 2 models. 1 warning.');
  });
  it('with a preset or another router needs work', async () => {
    const { places } = await here.run(
      'a.js',
      'ask("https://openrouter.ai/api/v1", { model: "@preset/mine" });\nask({ model: "openrouter/bodybuilder" });',
    );
    expect(places).toEqual(['problem a.js:2', 'problem a.js:1', 'warning a.js:1']);
  });
});

describe('the search for names of models', () => {
  it.each<[string, string[]]>([
    ["'openai/gpt-4o'", ['openai/gpt-4o']],
    ['MODEL=google/gemini-2.5-pro\nX=1', ['google/gemini-2.5-pro']],
    ['"~anthropic/claude-sonnet-latest"', ['~anthropic/claude-sonnet-latest']],
    ["import a from 'openai/gpt-4o'; require('openai/x-1')", []],
    ['"text/plain-2", "node/fs-1", "a/b-1"', []],
    ['"openai/resources"', []],
    ['"google/file-1.ts"', []],
  ])('in %s finds %j', (text, expected) => {
    expect(scan([{ path: 'a', text }]).models.map(({ value }) => value)).toEqual(expected);
  });
  it('takes time in proportion to the text', () => {
    const text = `${'"openai/'.repeat(60_000)}${'order: ['.repeat(20_000)}${'a-'.repeat(100_000)}`;
    const startMs = performance.now();
    scan([{ path: 'a', text }]);
    expect(performance.now() - startMs).toBeLessThan(3_000);
  });
});
