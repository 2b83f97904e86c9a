// Loaded beforehand, as what is read first with real files takes time anyway.
import '@pydantic/genai-prices';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { snapshot } from '../../src/catalog/snapshot.ts';
import type { Gateway } from '../../src/gateway.ts';
import { completion, type HttpUpstream, httpUpstream } from '../support/upstream.ts';
import { examplesOf, writeExample } from './example-files.ts';
import { codeBlocks, readDoc, root } from './markdown.ts';

const doc = 'docs/catalogue.md';
const [own = '', file = '', called = '', ...others] = examplesOf(doc);
const [document = ''] = codeBlocks(readDoc(doc), 'json');
const folder = join(root, '.cache', 'docs', 'catalogue');
let upstream: HttpUpstream;

beforeAll(async () => {
  upstream = await httpUpstream();
  upstream.always({ body: completion() });
  vi.stubEnv('GROQ_API_KEY', undefined);
  vi.stubEnv('MODELS_KEY', 'k-1');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'models.json'), document);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  await upstream.close();
});

async function run(name: string, code: string, replace: Record<string, string> = {}): Promise<Gateway> {
  const path = writeExample(name, code, { replace });
  const { gateway }: { gateway: Gateway } = await import(/* @vite-ignore */ path);
  return gateway;
}

async function ask(gateway: Gateway, path: string, body?: object) {
  const response = await gateway.fetch(`http://gateway.test/v1${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: 'Bearer sk-change-me-please', 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, json: await response.json() };
}
const chat = (gateway: Gateway, model: string) =>
  ask(gateway, '/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] });

describe('docs/catalogue.md', () => {
  it('shows no example that is not run here', () => {
    expect(others).toEqual([]);
    expect(codeBlocks(readDoc(doc), 'json')).toHaveLength(1);
  });
  it('serves the models of the option, and a suffix as a model of its own', async () => {
    const gateway = await run('catalogue-own', own, { 'http://127.0.0.1:8000/v1': upstream.url });
    const priced = await chat(gateway, 'acme/helper');
    expect(priced.json).toMatchObject({ model: 'acme/helper', provider: 'mine' });
    expect(priced.json.usage.cost).toBeGreaterThan(0);
    expect((await chat(gateway, 'acme/helper:free')).json).toMatchObject({
      model: 'acme/helper:free',
      usage: { cost: 0 },
    });
  });
  it('says which endpoint has a built-in price, and how many models are built in', () => {
    expect(own).toContain("{ provider: 'groq', model: 'openai/gpt-oss-120b' }");
    const models: { endpoints: { provider: string; model: string; pricing?: object }[] }[] = JSON.parse(snapshot);
    const known = models.flatMap(({ endpoints }) => endpoints);
    expect(known.find((one) => one.provider === 'groq' && one.model === 'openai/gpt-oss-120b')?.pricing).toBeDefined();
    expect(Math.abs(models.length - 70)).toBeLessThan(5);
  });
  it('serves the models of a document', async () => {
    const gateway = await run('catalogue-file', file, { './models.json': join(folder, 'models.json') });
    expect(await gateway.catalog.refresh()).toEqual({ models: 1 });
    const { json } = await chat(gateway, 'acme/writer');
    expect(json).toMatchObject({ model: 'acme/writer', provider: 'Sandbox' });
    expect(json.usage.cost).toBeGreaterThan(0);
  });
  it('serves the models that a function returns', async () => {
    const asked = vi.fn<typeof fetch>(async () => new Response(document));
    vi.stubGlobal('fetch', asked);
    const gateway = await run('catalogue-function', called);
    expect((await chat(gateway, 'acme/writer')).status).toBe(200);
    expect(asked).toHaveBeenCalledWith('https://models.example/models.json', {
      headers: { authorization: 'Bearer k-1' },
      signal: expect.any(AbortSignal),
    });
    asked.mockResolvedValueOnce(new Response('', { status: 500 }));
    await expect(gateway.catalog.refresh()).rejects.toMatchObject({ name: 'CatalogError' });
  });
});
