import process from 'node:process';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { nextTurn } from '../../src/base/async/next-turn.ts';
import { isUploadedFile, type UploadedFile } from '../../src/base/http/uploaded-file.ts';
import { defineOperation } from '../../src/operations/operation.ts';
import type { TransportRequest } from '../../src/transport/transport.ts';
import { testGateway, testKey } from '../support/gateway.ts';
import { longestTurnMs, stallOf } from '../support/stalls/heartbeat.ts';

const megabyte = 1024 * 1024;
const bytes = 25 * megabyte;

const take = defineOperation<{ file: UploadedFile }>({
  name: 'takeForm',
  method: 'POST',
  path: '/take-form',
  permissions: ['inference'],
  body: () => z.object({ model: z.string(), file: z.custom<UploadedFile>(isUploadedFile) }),
  form: { file: 'file' },
  result: () => z.looseObject({}),
  run: async ({ body }) => ({ kind: 'json', status: 200, body: { size: body.file.size } }),
});

/** The body of a form in buffers, as a network brings it: each is made when it is read. */
function formOf(
  boundary: string,
  fill: (buffer: Uint8Array, from: number) => void,
  model = 'm',
): ReadableStream<Uint8Array> {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n`;
  const tail = `\r\n--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n--${boundary}--\r\n`;
  let at = -1;
  return new ReadableStream(
    {
      async pull(controller) {
        await nextTurn();
        if (at < 0) {
          controller.enqueue(Buffer.from(head));
          at = 0;
        } else if (at < bytes) {
          const buffer = new Uint8Array(Math.min(64 * 1024, bytes - at));
          fill(buffer, at);
          at += buffer.length;
          controller.enqueue(buffer);
        } else {
          controller.enqueue(Buffer.from(tail));
          controller.close();
        }
      },
    },
    { highWaterMark: 0 },
  );
}

async function post(boundary: string, body: ReadableStream<Uint8Array>): Promise<unknown> {
  const { gateway } = testGateway({ operations: [take] });
  const request = new Request('http://gateway.test/v1/take-form', {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
    body,
    duplex: 'half',
  } as RequestInit);
  return (await gateway.handle(request)).json();
}

const random = (buffer: Uint8Array, from: number) => {
  for (let at = 0; at < buffer.length; at++) buffer[at] = ((from + at) * 2_654_435_761) >>> 13;
};

afterEach(() => vi.unstubAllGlobals());

describe('a form with a file of 25 MB', () => {
  it('stalls nobody, and moves no more than twice its bytes', async () => {
    await post('warm', formOf('warm', random));
    globalThis.gc?.();
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const boundary = '----WebKitFormBoundary7MA4YWxk';
    const run = async () => expect(await post(boundary, formOf(boundary, random))).toEqual({ size: bytes });
    await longestTurnMs(run, () => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    });
    expect(most).toBeLessThan(2 * bytes + 4 * megabyte);
    expect(await stallOf(run, '', bytes)).toBeNull();
  });

  it.each([
    ['one letter', 'a'.repeat(70), (buffer: Uint8Array) => buffer.fill(97)],
    ['a boundary that nearly fits', `b${'a'.repeat(69)}`, (buffer: Uint8Array) => buffer.fill(97)],
    ['line breaks', 'x', (buffer: Uint8Array) => buffer.fill(13)],
  ])(
    'stalls nobody where the client has chosen the worst of it, and the search is in JavaScript: %s',
    async (_, boundary, fill) => {
      vi.stubGlobal('Bun', {});
      const run = async () => expect(await post(boundary, formOf(boundary, fill))).toEqual({ size: bytes });
      expect(await stallOf(run, '')).toBeNull();
    },
  );
});

describe('a transcript of a file of 25 MB', () => {
  it('moves no more than twice its bytes on their way to the provider, and stalls nobody', async () => {
    const sent: number[] = [];
    const { gateway } = testGateway({
      providers: { up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-upstream-key' } },
      models: [
        {
          slug: 'a/whisper',
          endpoints: [
            { provider: 'up', model: 'whisper', tasks: ['transcriptions'], pricing: { prompt: '0', second: '0.0001' } },
          ],
        },
      ],
      transport: {
        async send({ body }: TransportRequest) {
          sent.push((body as Uint8Array).length);
          let isRead = false;
          return {
            status: 200,
            headers: { 'content-type': 'application/json' },
            body: {
              async read() {
                if (isRead) return null;
                isRead = true;
                return Buffer.from('{"text":"words"}');
              },
              cancel: () => undefined,
            },
          };
        },
      },
    } as never);
    const ask = async (boundary: string) => {
      const request = new Request('http://gateway.test/v1/audio/transcriptions', {
        method: 'POST',
        headers: { authorization: `Bearer ${testKey}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: formOf(boundary, random, 'a/whisper'),
        duplex: 'half',
      } as RequestInit);
      return (await gateway.fetch(request)).json();
    };
    await ask('warm');
    globalThis.gc?.();
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const run = async () => expect(await ask('----WebKitFormBoundary7MA4YWxk')).toMatchObject({ text: 'words' });
    await longestTurnMs(run, () => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    });
    expect(sent[1]).toBeGreaterThan(bytes);
    expect(most).toBeLessThan(2 * bytes + 8 * megabyte);
    expect(await stallOf(run, '', bytes)).toBeNull();
  });
});
