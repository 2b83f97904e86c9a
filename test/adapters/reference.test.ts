import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ServeOptions, serve } from '../../adapters/hosts/node.ts';
import { referencePage } from '../../adapters/hosts/reference.ts';
import { createGateway } from '../../src/gateway.ts';

async function serving(served: ServeOptions) {
  const gateway = createGateway({ providers: { sandbox: {} }, apiKeys: [{ key: 'sk-of-a-test-0123456789' }] });
  const server = await serve(gateway, { port: 0, ...served });
  onTestFinished(async () => {
    await server.close(0);
    await gateway.close();
  });
  return (path: string, init?: RequestInit) => fetch(new URL(path, server.url), init);
}

/** A project that has installed Scalar, or has begun to. */
async function project(script: string | null): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'reference-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const installed = join(folder, 'node_modules/@scalar/api-reference');
  await mkdir(join(installed, 'dist/browser'), { recursive: true });
  const exports = { '.': { default: './dist/index.js' } };
  await writeFile(join(installed, 'package.json'), JSON.stringify({ name: '@scalar/api-reference', exports }));
  await writeFile(join(installed, 'dist/index.js'), '');
  if (script !== null) await writeFile(join(installed, 'dist/browser/standalone.js'), script);
  return folder;
}

describe('the page about the interface', () => {
  it('is served where it was asked for, without a key, and shows the document of this gateway', async () => {
    const ask = await serving({ reference: true, basePath: '/api/llm' });
    const page = await ask('/reference?theme=dark');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const html = await page.text();
    const scripts = [...html.matchAll(/<script src="([^"]+)"/g)].map(([, src]) => src as string);
    expect(scripts).toHaveLength(2);
    const start = await (await ask(scripts[1] as string)).text();
    const [, url = ''] = /"url":"([^"]+)"/.exec(start) ?? [];
    expect(url).toBe('/api/llm/openapi.json');
    const document = await (await ask(url)).json();
    expect(document).toMatchObject({ openapi: '3.1.1', servers: [{ url: '/api/llm' }] });
  });

  it('runs no script but these, and asks no server but this one', async () => {
    const ask = await serving({ reference: true });
    const page = await ask('/reference');
    const html = await page.text();
    const policy = page.headers.get('content-security-policy') ?? '';
    const [, remote = '', integrity = ''] = /<script src="([^"]+)" integrity="([^"]+)" crossorigin/.exec(html) ?? [];
    expect(remote).toMatch(/^https:\/\/cdn\.jsdelivr\.net\/npm\/@scalar\/api-reference@\d+\.\d+\.\d+\/dist\//);
    expect(integrity).toMatch(/^sha384-[\w+/]{64}$/);
    expect(policy).toContain(`default-src 'none'; script-src 'self' ${remote};`);
    expect(policy).toContain("connect-src 'self';");
    expect(policy).not.toMatch(/script-src[^;]*unsafe/);
    expect(html).not.toMatch(/<script>[^<]|\son\w+=/);
  });

  it('is there for HEAD, and for nothing that writes', async () => {
    const ask = await serving({ reference: true });
    const head = await ask('/reference', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await ask('/reference', { method: 'POST' })).status).toBe(404);
    expect((await ask('/reference/')).status).toBe(404);
    expect((await ask('/reference/scalar.js')).status).toBe(404);
  });

  it('is not there where nobody asked for it', async () => {
    const ask = await serving({});
    expect((await ask('/reference')).status).toBe(404);
  });

  it('takes the script of the project that has it, and then names no other server', async () => {
    const folder = await project('globalThis.Scalar = {};');
    const { answer } = referencePage('/', folder);
    const page = await answer('/reference');
    expect(`${page?.body}${JSON.stringify(page?.headers)}`).not.toContain('jsdelivr');
    expect(page?.body).toContain('src="/reference/scalar.js"');
    expect(`${(await answer('/reference/scalar.js'))?.body}`).toBe('globalThis.Scalar = {};');
    expect((await answer('/reference/start.js'))?.body).toContain('"url":"/openapi.json"');
  });

  it('says what to do where the project has it without its script', async () => {
    const { answer } = referencePage('/v1', await project(null));
    const { status, body } = (await answer('/reference/scalar.js')) ?? {};
    expect([status, body]).toEqual([503, expect.stringMatching(/install @scalar\/api-reference@\d/)]);
  });
});
