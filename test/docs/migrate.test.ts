import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { importConfig } from '../../adapters/cli/import-command.ts';
import type { Gateway } from '../../src/gateway.ts';
import { examplesOf, writeExample } from './example-files.ts';
import { codeBlocks, readDoc } from './markdown.ts';

const key = 'sk-change-me-please';

beforeAll(() => {
  for (const name of ['OPENAI_API_KEY', 'GROQ_API_KEY']) vi.stubEnv(name, undefined);
});
afterAll(() => vi.unstubAllEnvs());

async function run<T>(name: string, code: string): Promise<T> {
  return import(/* @vite-ignore */ writeExample(name, code));
}

async function ask(gateway: Gateway, model: string) {
  const response = await gateway.fetch('http://in-process/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  return { status: response.status, json: await response.json() };
}

/** Runs the command that a page shows on the file that it shows, in a folder of its own. */
async function imported(page: string, language: string) {
  const doc = readDoc(page);
  const [command = ''] = codeBlocks(doc, 'sh');
  const [text = ''] = codeBlocks(doc, language);
  const [, file = ''] = /^npx model-gateway import (\S+)\n$/.exec(command) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-docs-'));
  try {
    writeFileSync(join(folder, file), text);
    let out = '';
    const print = (more: string) => {
      out += more;
    };
    await importConfig({ folder, print } as never, file).catch((error: Error) => {
      if (!error.message.startsWith('There ')) throw error;
    });
    const config = readFileSync(join(folder, 'gateway.config.mjs'), 'utf8');
    return { config, report: out.slice(0, out.indexOf('\nWrote ')) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('docs/migrate-from-a-proxy.md', () => {
  it('shows what the command makes of what it shows', async () => {
    const doc = readDoc('docs/migrate-from-a-proxy.md');
    const { config, report } = await imported('docs/migrate-from-a-proxy.md', 'yaml');
    expect(config).toBe(codeBlocks(doc, 'js')[0]);
    expect(report).toBe(codeBlocks(doc, 'text')[0]);
  });
  it('shows a key that works', async () => {
    const [example = '', ...others] = examplesOf('docs/migrate-from-a-proxy.md');
    expect(others).toEqual([]);
    const { response } = await run<{ response: Response }>('migrate-keys', example);
    expect([response.status, (await response.json()).model]).toEqual([200, 'sandbox/echo']);
  });
});

describe.each([
  ['docs/migrate-from-portkey.md', 'json'],
  ['docs/migrate-from-tensorzero.md', 'toml'],
  ['docs/migrate-from-a-hosted-router.md', 'python'],
])('%s', (page, language) => {
  it('shows what the command makes of what it shows', async () => {
    const doc = readDoc(page);
    const { config, report } = await imported(page, language);
    expect(config).toBe(codeBlocks(doc, 'js')[0]);
    expect(report).toBe(codeBlocks(doc, 'text')[0]);
  });
});

describe('docs/migrate-from-a-hosted-router.md', () => {
  const [first = '', second = '', ...others] = examplesOf('docs/migrate-from-a-hosted-router.md');
  it('shows no example that is not run here', () => expect(others).toEqual([]));
  it('shows a client that keeps its model', async () => {
    const { completion } = await run<{ completion: OpenAI.ChatCompletion }>('migrate-router', first);
    expect([completion.model, completion.choices[0]?.message.content]).toEqual(['sandbox/echo', 'Hello']);
  });
  it('shows other names, and which model the response names', async () => {
    const { renamed } = await run<{ renamed: Gateway }>('migrate-renamed', second);
    for (const name of ['openai/gpt-4o', 'assistant', 'acme/assistant'])
      expect(await ask(renamed, name)).toMatchObject({ status: 200, json: { model: 'acme/assistant' } });
    expect((await ask(renamed, 'sandbox/echo')).status).toBe(403);
  });
});

describe('docs/migrate-from-a-provider-sdk.md', () => {
  const [first = '', second = '', ...others] = examplesOf('docs/migrate-from-a-provider-sdk.md');
  it('shows no example that is not run here', () => expect(others).toEqual([]));
  it('shows a client that keeps its names of models', async () => {
    const { completion } = await run<{ completion: OpenAI.ChatCompletion }>('migrate-sdk', first);
    expect(completion.model).toBe('sandbox/echo');
  });
  it('shows an alias that stands for another model', async () => {
    const { answer } = await run<{ answer: OpenAI.ChatCompletion }>('migrate-alias', second);
    expect([answer.model, answer.choices[0]?.message.content]).toEqual(['acme/chat', 'Hello']);
  });
});
