import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../src/base/http/upstream-error.ts';
import { CatalogError, type DocumentReader } from '../../../src/catalog/document.ts';
import { readFromFile, readFromFunction, readFromUrl } from '../../../src/catalog/read-document.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../../src/transport/transport.ts';

const limits = { maxBytes: 1_000, headerBytes: 100 };
const { signal } = new AbortController();

interface Answer {
  status?: number;
  headers?: Record<string, string>;
  text?: string;
}

/** A server that says what it is told to, and what it was asked. */
function server(...answers: (Answer | Error)[]) {
  const asked: TransportRequest[] = [];
  let cancelled = 0;
  const transport: Transport = {
    async send(request): Promise<TransportResponse> {
      asked.push(request);
      const answer = answers.shift();
      if (!answer || answer instanceof Error) throw answer;
      const pieces = [new TextEncoder().encode(answer.text ?? '')];
      const body = { read: async () => pieces.shift() ?? null, cancel: () => void cancelled++ };
      return { status: answer.status ?? 200, headers: answer.headers ?? {}, body };
    },
  };
  const read = readFromUrl('https://acme.test/models.json', () => transport, limits);
  return { asked, read, cancelled: () => cancelled };
}

/** Reads, and takes what was read for good. */
async function accept(read: DocumentReader): Promise<unknown> {
  const found = await read(signal);
  if (found === 'unchanged') return found;
  found.accepted?.();
  return found.value;
}

const mistake = (read: DocumentReader) =>
  read(signal).then(
    () => 'none',
    (error: unknown) => (error instanceof CatalogError ? error.issues : error),
  );
const deep = `${'['.repeat(21)}${']'.repeat(21)}`;

describe('an address', () => {
  it('is asked with GET, without following it elsewhere', async () => {
    const { asked, read } = server({ text: '{"models":[]}' });
    expect(await accept(read)).toEqual({ models: [] });
    expect(asked).toEqual([
      {
        method: 'GET',
        url: 'https://acme.test/models.json',
        headers: { accept: 'application/json' },
        signal,
        limits: { headerBytes: 100 },
      },
    ]);
  });
  it('is asked only for what is newer than what was accepted', async () => {
    const { asked, read } = server(
      { text: '{"a":1}', headers: { etag: '"1"' } },
      { text: '{"a":2}', headers: { etag: '"2"' } },
      { status: 304 },
    );
    await accept(read);
    // Read, but found wanting.
    await read(signal);
    expect(await accept(read)).toBe('unchanged');
    expect(asked.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"', '"1"']);
  });
  it('that sends the same again without a tag is unchanged', async () => {
    const { read } = server({ text: '{}' }, { text: '{}' }, { text: '{"a":1}' });
    expect(await accept(read)).toEqual({});
    expect(await accept(read)).toBe('unchanged');
    expect(await accept(read)).toEqual({ a: 1 });
  });
  it('that sends the same again with another tag is asked by that one', async () => {
    const { asked, read } = server(
      { text: '{}', headers: { etag: '"1"' } },
      { text: '{}', headers: { etag: '"2"' } },
      { status: 304 },
    );
    await accept(read);
    expect([await accept(read), await accept(read)]).toEqual(['unchanged', 'unchanged']);
    expect(asked.at(-1)?.headers['if-none-match']).toBe('"2"');
  });
  it.each<[string, Answer | Error, string]>([
    ['a redirect', { status: 302, headers: { location: 'https://evil.test' } }, 'expected status 200, came 302'],
    ['an error', { status: 500, text: '{"models":[]}' }, 'expected status 200, came 500'],
    ['an answer to a question that was not asked', { status: 304 }, 'expected status 200, came 304'],
    ['too much', { text: `"${'x'.repeat(1_000)}"` }, 'the response is larger than 1000 bytes'],
    ['what is no JSON', { text: '{"key":"sk-secret"' }, 'not valid JSON'],
    ['what is nested too deeply', { text: deep }, 'nested deeper than 20 levels'],
    ['no answer', new UpstreamError('connection refused', { reason: 'network', status: 502 }), 'connection refused'],
  ])('that sends %s is a mistake', async (_, answer, message) => {
    const { read } = server(answer);
    expect(await mistake(read)).toEqual([{ path: '', message }]);
  });
  it('lets go of an answer it does not read', async () => {
    const { read, cancelled } = server({ status: 500 });
    await mistake(read);
    expect(cancelled()).toBe(1);
  });
});

describe('a file', () => {
  const file = (...contents: (string | Error)[]) => {
    const wanted: number[] = [];
    const read = readFromFile(
      {
        async read(maxBytes) {
          wanted.push(maxBytes);
          const content = contents.shift();
          if (typeof content !== 'string') throw content;
          return new TextEncoder().encode(content).subarray(0, maxBytes);
        },
      },
      limits,
    );
    return { read, wanted };
  };

  it('is read, and unchanged while it holds the same', async () => {
    const { read, wanted } = file('{"a":1}', '{"a":1}', '{"a":2}');
    expect(await accept(read)).toEqual({ a: 1 });
    expect(await accept(read)).toBe('unchanged');
    expect(await accept(read)).toEqual({ a: 2 });
    expect(wanted).toEqual([1_001, 1_001, 1_001]);
  });
  it.each<[string, string | Error, string]>([
    ['is not there', Object.assign(new Error('/etc/secret'), { code: 'ENOENT' }), 'the file cannot be read (ENOENT)'],
    ['fails otherwise', new Error('/etc/secret'), 'the file cannot be read'],
    ['is too large', `"${'x'.repeat(1_000)}"`, 'the file is larger than 1000 bytes'],
    ['is no JSON', 'models: []', 'not valid JSON'],
  ])('that %s is a mistake', async (_, content, message) => {
    expect(await mistake(file(content).read)).toEqual([{ path: '', message }]);
  });
});

describe('a function', () => {
  it('gives the document as a value, at once or later, and is told when nobody waits', async () => {
    const given: AbortSignal[] = [];
    const keep = (passed: AbortSignal) => {
      given.push(passed);
      return { models: [] };
    };
    expect(await accept(readFromFunction(keep))).toEqual({ models: [] });
    expect(await accept(readFromFunction(async () => 5))).toBe(5);
    expect(given).toEqual([signal]);
  });
  it('that fails, fails with its own error', async () => {
    const error = new Error('mine');
    expect(await mistake(readFromFunction(() => Promise.reject(error)))).toBe(error);
  });
  it('that gives what is nested too deeply is a mistake', async () => {
    const message = 'nested deeper than 20 levels';
    expect(await mistake(readFromFunction(() => JSON.parse(deep)))).toEqual([{ path: '', message }]);
  });
});
