import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { joinBytes } from '../../src/base/bytes.ts';
import { isUploadedFile, type UploadedFile, uploadedFile } from '../../src/base/http/uploaded-file.ts';
import { defineOperation } from '../../src/operations/operation.ts';
import { checkError, testGateway, testKey } from '../support/gateway.ts';

const echo = defineOperation({
  name: 'echoForm',
  method: 'POST',
  path: '/echo-form',
  permissions: ['inference'],
  body: () =>
    z.looseObject({
      model: z.string(),
      temperature: z.number().optional(),
      stream: z.boolean().optional(),
      include: z.array(z.string()).optional(),
      settings: z.looseObject({ least: z.number().optional() }).or(z.literal('auto')).optional(),
      file: z.custom<UploadedFile>(isUploadedFile).optional(),
      images: z.array(z.custom<UploadedFile>(isUploadedFile)).optional(),
    }),
  form: {
    temperature: 'number',
    stream: 'boolean',
    include: 'list',
    settings: 'object',
    file: 'file',
    images: 'files',
  },
  result: () => z.looseObject({}),
  run: async ({ body }) => ({ kind: 'json', status: 200, body: shown(body) }),
});

/** Writes files as `name type size sum`. */
function shown(value: unknown): unknown {
  if (isUploadedFile(value)) {
    const bytes = joinBytes(value.chunks);
    return `${value.name} ${value.type} ${value.size} ${bytes.reduce((sum, byte) => (sum * 31 + byte) % 65_521, 7)}`;
  }
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shown(one)]));
}

async function post(body: BodyInit, headers: Record<string, string> = {}, context: { body?: unknown } = {}) {
  const { gateway } = testGateway({ operations: [echo] });
  const request = new Request('http://gateway.test/v1/echo-form', {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, ...headers },
    body,
  });
  const response = await gateway.handle(request, context);
  const json = (await response.json()) as Record<string, unknown>;
  if (!response.ok) checkError(response.status, json);
  return { status: response.status, headers: response.headers, json };
}

/** Posts a form as bytes. */
const raw = (text: string, boundary = 'x', more = {}) =>
  post(text, { 'content-type': `multipart/form-data; boundary=${boundary}`, ...more });

function formOf(entries: readonly (readonly [string, string | Blob])[]): FormData {
  const form = new FormData();
  for (const [name, value] of entries) form.append(name, value);
  return form;
}

const file = (bytes: Uint8Array | string, name = 'speech.mp3', type = 'audio/mpeg') =>
  new File([bytes as BlobPart], name, { type });
const messageOf = ({ json }: Awaited<ReturnType<typeof post>>) => (json.error as { message: string }).message;

afterEach(() => vi.unstubAllGlobals());

describe('a form with files', () => {
  it('is read into the fields of the schema, whatever comes first', async () => {
    const entries = [
      ['file', file('some bytes')],
      ['temperature', '0.5'],
      ['stream', 'true'],
      ['include[]', 'logprobs'],
      ['include', 'other'],
      ['settings[least]', '0.25'],
      ['settings[inner][deep][]', 'a'],
      ['images[]', file('one', 'a.png', 'image/png')],
      ['images[]', file('two', 'b.png', 'image/png')],
      ['unknown', 'stays'],
      ['model', 'acme/hears'],
    ] as const;
    for (const order of [entries, entries.toReversed()]) {
      const { status, json } = await post(formOf(order));
      expect([status, json]).toEqual([
        200,
        {
          model: 'acme/hears',
          temperature: 0.5,
          stream: true,
          include: order === entries ? ['logprobs', 'other'] : ['other', 'logprobs'],
          settings: { least: 0.25, inner: { deep: ['a'] } },
          file: shown(uploadedFile('speech.mp3', 'audio/mpeg', [Buffer.from('some bytes')])),
          images: expect.arrayContaining([expect.stringContaining('a.png image/png 3')]),
          unknown: 'stays',
        },
      ]);
    }
  });

  it('carries any bytes and texts unchanged, also where a search in JavaScript reads them', async () => {
    const part = fc.uint8Array({ maxLength: 70_000 });
    const inBoundary = fc.constantFrom('a', 'b', '-', 'ab', "'", '.');
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { maxLength: 3 }),
        fc.string({ unit: 'grapheme', maxLength: 50 }),
        fc.array(inBoundary, { minLength: 1, maxLength: 30 }),
        fc.boolean(),
        async (files, text, letters, isInScript) => {
          if (isInScript) vi.stubGlobal('Bun', {});
          const boundary = letters.join('').slice(0, 70);
          fc.pre(!text.includes(boundary) && !files.some((bytes) => Buffer.from(bytes).includes(boundary)));
          const head = (rest: string) =>
            Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${rest}\r\n\r\n`);
          const body = Buffer.concat([
            ...files.flatMap((bytes, at) => [
              head(`name="images[]"; filename="${at}"\r\nContent-Type: image/png`),
              bytes,
              Buffer.from('\r\n'),
            ]),
            head('name="model"'),
            Buffer.from(`${text}\r\n--${boundary}--\r\n`),
          ]);
          const { status, json } = await post(body, { 'content-type': `multipart/form-data; boundary="${boundary}"` });
          vi.unstubAllGlobals();
          const images = files.map((bytes, at) => uploadedFile(`${at}`, 'image/png', [bytes]));
          const expected = { model: text, ...(files.length > 0 ? { images: shown(images) } : {}) };
          expect([status, json]).toEqual([200, expected]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is taken as a FormData of the host, and without a name for the file', async () => {
    const form = formOf([
      ['model', 'm'],
      ['file', new Blob(['abc'], { type: 'audio/wav' })],
    ]);
    const given = await post('', { 'content-type': 'multipart/form-data; boundary=x' }, { body: form });
    expect(given.json.file).toMatch(/^blob audio\/wav 3 /);
    const bare =
      '--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nabc\r\n--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--x--';
    expect((await raw(bare)).json.file).toMatch(/^null null 3 /);
  });

  it('names the field that does not fit', async () => {
    const wrong = async (...entries: [string, string | Blob][]) =>
      messageOf(await post(formOf([['model', 'm'], ...entries])));
    expect(await wrong(['temperature', 'warm'])).toBe('temperature: expected number');
    expect(await wrong(['stream', 'yes'])).toBe('stream: expected boolean');
    expect(await wrong(['model', 'n'])).toBe('model: expected the field once');
    expect(await wrong(['file', 'text'], ['file', 'text'])).toBe('file: expected the field once');
    expect(await wrong(['other', file('x')])).toBe('other: expected a text, and no file');
    expect(await wrong(['model[x]', 'n'])).toBe('model[x]: expected the field model, without brackets');
    expect(await wrong(['settings[a][b][c][d][e][f]', 'n'])).toBe('settings: expected at most 5 levels');
    expect(await wrong(['settings', '{"least": "x"}'])).toContain('settings');
  });

  it('has no path into the prototype of an object', async () => {
    const { json } = await post(
      formOf([
        ['model', 'm'],
        ['settings[__proto__][polluted]', 'yes'],
        ['__proto__', 'x'],
      ]),
    );
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
    expect(json.model).toBe('m');
  });

  const part = (name: string, value = 'm') =>
    `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  it.each<[string, string, number, RegExp]>([
    ['no boundary within', 'nothing', 400, /boundary/],
    ['no end', part('model'), 400, /boundary with -- at the end/],
    ['no end within a header', `${part('model')}--x\r\nContent-Disp`, 400, /boundary with -- at the end/],
    ['an empty body', '', 400, /boundary with -- at the end/],
    ['a part without a name', '--x\r\nX: y\r\n\r\nm\r\n--x--', 400, /a name for each part/],
    ['giant headers', `--x\r\nX-Pad: ${'a'.repeat(9_000)}\r\n\r\nm\r\n--x--`, 400, /8192 bytes/],
    ['headers without end', `--x\r\n${'X: a\r\n'.repeat(100_000)}`, 400, /8192 bytes/],
    ['thousands of parts', `${part('include[]').repeat(5_000)}--x--`, 413, /more than 512 parts/],
    ['broken UTF-8', '--x\r\nContent-Disposition: form-data; name="model"\r\n\r\n\xff\r\n--x--', 400, /UTF-8/],
  ])('is refused with words that help: %s', async (_, text, status, message) => {
    const answer = await post(Buffer.from(text, 'latin1'), { 'content-type': 'multipart/form-data; boundary=x' });
    expect([answer.status, messageOf(answer)]).toEqual([status, expect.stringMatching(message)]);
  });
  it.each(['', `; boundary=${'b'.repeat(71)}`])('is refused without a boundary that can be: %j', async (parameter) => {
    const answer = await post(part('model'), { 'content-type': `multipart/form-data${parameter}` });
    expect([answer.status, messageOf(answer)]).toEqual([
      400,
      expect.stringContaining('boundary of 1 to 70 characters'),
    ]);
  });

  it('may hold no more bytes than a body', async () => {
    const { gateway } = testGateway({ operations: [echo], limits: { bodyBytes: 10_000 } });
    const send = (body: BodyInit, context = {}) =>
      gateway.handle(
        new Request('http://gateway.test/v1/echo-form', {
          method: 'POST',
          headers: { authorization: `Bearer ${testKey}` },
          body,
        }),
        context,
      );
    const form = formOf([
      ['model', 'm'],
      ['file', file(new Uint8Array(20_000))],
    ]);
    expect((await send(form)).status).toBe(413);
    const headers = new Headers({
      'content-type': 'multipart/form-data; boundary=x',
      authorization: `Bearer ${testKey}`,
    });
    const request = new Request('http://gateway.test/v1/echo-form', { method: 'POST', headers, body: 'x' });
    expect((await gateway.handle(request, { body: form })).status).toBe(413);
  });

  it('of a parser that has kept the files elsewhere is a mistake of the host', async () => {
    const answer = await post('', { 'content-type': 'multipart/form-data; boundary=x' }, { body: { model: 'm' } });
    expect(answer.status).toBe(500);
  });

  it('is for operations that take forms alone, and tells where both are taken', async () => {
    const { status, headers, json } = await post('x', { 'content-type': 'text/plain' });
    expect([status, headers.get('accept-post')]).toEqual([415, 'application/json, multipart/form-data']);
    expect(JSON.stringify(json)).toContain('or as multipart/form-data');
    expect((await post('{"model":"m"}', { 'content-type': 'application/json' })).json).toEqual({ model: 'm' });
  });

  it('of another web site cannot act for a user of the host app', async () => {
    const { gateway } = testGateway({ operations: [echo] });
    const request = new Request('http://gateway.test/v1/echo-form', {
      method: 'POST',
      headers: { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site', cookie: 'session=1' },
      body: formOf([['model', 'm']]),
    });
    const response = await gateway.handle(request, { caller: { permissions: ['inference'] } as never });
    expect(response.status).toBe(403);
  });
});
