import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import type { Transport, TransportRequest } from '../../src/transport/transport.ts';
import { hello, testGateway } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const folder = mkdtempSync(join(tmpdir(), 'catalogue-'));
afterAll(() => rmSync(folder, { recursive: true }));

const documentOf = (...slugs: string[]) =>
  JSON.stringify({ models: slugs.map((slug) => ({ slug, endpoints: [{ provider: 'up', model: slug }] })) });

const open = (source: unknown, more: Partial<GatewayOptions> = {}) => {
  const test = testGateway({ catalog: { source } as GatewayOptions['catalog'], ...more });
  test.upstream.always({ body: completion() });
  return { ...test, status: async (model: string) => (await test.post({ model, messages: hello })).status };
};

/** Files are read in real time, of which the test's clock knows nothing. */
async function refreshed({ gateway }: ReturnType<typeof open>): Promise<unknown> {
  return gateway.catalog.refresh().catch((error: unknown) => String(error));
}

describe('a file', () => {
  const file = join(folder, 'models.json');

  it.each<[string, () => string | URL]>([
    ['a path', () => file],
    ['a path from the working directory', () => relative(process.cwd(), file)],
    ['a URL', () => pathToFileURL(file)],
    ['the text of a URL', () => pathToFileURL(file).href],
  ])('is read by %s, and again after it changed', async (_, source) => {
    writeFileSync(file, documentOf('acme/a'));
    const test = open(source());
    expect(await refreshed(test)).toEqual({ models: 1 });
    expect([await test.status('acme/a'), await test.status('acme/b')]).toEqual([200, 400]);
    writeFileSync(file, documentOf('acme/a', 'acme/b'));
    expect(await refreshed(test)).toEqual({ models: 2 });
    expect(await test.status('acme/b')).toBe(200);
  });
  it('is looked for where the process was when the gateway was made', async () => {
    writeFileSync(file, documentOf('acme/a'));
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder);
    try {
      const test = open('./models.json');
      cwd.mockRestore();
      expect(await refreshed(test)).toEqual({ models: 1 });
    } finally {
      cwd.mockRestore();
    }
  });
  it('that is not there, is too large or is half written leaves what was read before', async () => {
    writeFileSync(file, documentOf('acme/a'));
    const test = open(file, { catalog: { source: file, maxBytes: 200 } });
    await refreshed(test);
    writeFileSync(file, documentOf('acme/a').slice(0, -5));
    expect(await refreshed(test)).toBe('CatalogError: catalog: not valid JSON');
    writeFileSync(file, documentOf('acme/a', 'acme/b', 'acme/c', 'acme/d', 'acme/e'));
    expect(await refreshed(test)).toBe('CatalogError: catalog: the file is larger than 200 bytes');
    rmSync(file);
    expect(await refreshed(test)).toBe('CatalogError: catalog: the file cannot be read (ENOENT)');
    expect(await test.status('acme/a')).toBe(200);
  });
});

describe('an address', () => {
  it("is read through the gateway's transport, and again only when it changed", async () => {
    const asked: TransportRequest[] = [];
    let answer = { status: 200, text: documentOf('acme/a'), etag: '"1"' };
    const { upstream } = testGateway();
    const transport: Transport = {
      async send(request) {
        if (request.method !== 'GET') return upstream.transport.send(request);
        asked.push(request);
        const { status, text, etag } = answer;
        const isSame = request.headers['if-none-match'] === etag;
        const pieces = isSame ? [] : [new TextEncoder().encode(text)];
        const body = { read: async () => pieces.shift() ?? null, cancel: () => undefined };
        return { status: isSame ? 304 : status, headers: { etag }, body };
      },
    };
    upstream.always({ body: completion() });
    const test = open('https://acme.test/models.json?version=1', { transport });
    expect([await test.status('acme/a'), await test.status('acme/b')]).toEqual([200, 400]);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ url: 'https://acme.test/models.json?version=1' });
    expect(asked[0]?.headers).not.toHaveProperty('authorization');
    expect(await refreshed(test)).toEqual({ models: 1 });
    answer = { status: 200, text: documentOf('acme/b'), etag: '"2"' };
    expect(await refreshed(test)).toEqual({ models: 1 });
    expect([await test.status('acme/a'), await test.status('acme/b')]).toEqual([400, 200]);
    answer = { status: 503, text: '', etag: '"3"' };
    expect(await refreshed(test)).toBe('CatalogError: catalog: expected status 200, came 503');
    expect(await test.status('acme/b')).toBe(200);
    expect(asked.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"', '"1"', '"2"']);
  });
});

describe('a source that cannot be read here is told at once:', () => {
  it.each<[string, unknown, string]>([
    ['another protocol', 'ftp://acme.test/models.json', 'expected an http, https or file URL, a path or a function'],
    ['a broken URL', 'https://', 'expected an http, https or file URL, a path or a function'],
    [
      'credentials',
      'https://ada:red-secret@acme.test/',
      'expected a URL without credentials; a function may send some',
    ],
    ['a number', 5, 'expected a URL, a path or a function'],
    ['nothing', '', 'expected a URL, a path or a function'],
  ])('%s', (_, source, message) => {
    expect(() => open(source)).toThrow(`createGateway: catalog.source: ${message}`);
    expect(() => open(source)).not.toThrow(/red-secret/);
  });
  it('a file where there are none', () => {
    const { getBuiltinModule } = process;
    try {
      Object.assign(process, { getBuiltinModule: undefined });
      expect(() => open('models.json')).toThrow(
        'createGateway: catalog.source: expected an http or https URL or a function: there are no files here',
      );
      expect(() => open('https://acme.test/models.json')).not.toThrow();
    } finally {
      Object.assign(process, { getBuiltinModule });
    }
  });
});
