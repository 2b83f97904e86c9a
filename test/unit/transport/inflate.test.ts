import { Readable } from 'node:stream';
import * as zlib from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hasZlibHeader, type Inflater } from '../../../src/transport/inflate.ts';
import * as web from '../../../src/transport/inflate-web.ts';
import * as node from '../../../src/transport/inflate-zlib.ts';

const text = JSON.stringify({ words: 'é, 漢字 and 👩‍👩‍👧', numbers: Array.from({ length: 900 }, (_, at) => at * at) });
const plain = Buffer.from(text);
const limit = 1_000_000;

const { constants } = zlib;
const zstd = (data: Uint8Array) => zlib.zstdCompressSync(data, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
/** Of data with a checksum, except raw deflate and brotli, which have none. */
const compressors = {
  zstd,
  br: (data: Uint8Array) => zlib.brotliCompressSync(data),
  gzip: (data: Uint8Array) => zlib.gzipSync(data),
  deflate: (data: Uint8Array) => zlib.deflateSync(data),
  'raw deflate': (data: Uint8Array) => zlib.deflateRawSync(data),
};
type Form = keyof typeof compressors;
const codingOf = (form: Form) => (form === 'raw deflate' ? 'deflate' : form);

/** What each inflater takes. */
const cases = [node.inflater, web.inflater].flatMap((inflater) =>
  (Object.keys(compressors) as Form[])
    .filter((form) => inflater.codings.includes(codingOf(form)))
    .map((form) => [inflater === node.inflater ? 'zlib' : 'web', form, inflater] as const),
);

const run = (inflater: Inflater, form: Form, bytes: Uint8Array, limitBytes = limit) =>
  inflater.inflate(codingOf(form), bytes, limitBytes);

afterEach(() => vi.restoreAllMocks());

/** How many bytes the decoders of Node have given. Those of the web are made of the same. */
function countProduced(): () => number {
  let produced = 0;
  const { push } = Readable.prototype;
  vi.spyOn(Readable.prototype, 'push').mockImplementation(function (this: Readable, chunk, ...rest) {
    if ('bytesWritten' in this && chunk instanceof Uint8Array) produced += chunk.length;
    return push.call(this, chunk, ...rest);
  });
  return () => produced;
}

describe('the codings', () => {
  it('are those that the runtime has', () => {
    expect(node.inflater.codings).toEqual(['zstd', 'br', 'gzip', 'deflate']);
    expect(web.inflater.codings).toEqual(['gzip', 'deflate']);
    vi.stubGlobal('DecompressionStream', undefined);
    expect(web.inflater.codings).toEqual([]);
    vi.unstubAllGlobals();
  });
});

describe.each(cases)('%s: %s', (name, form, inflater) => {
  const compressed = compressors[form](plain);

  it('is inflated', async () => {
    expect(Buffer.from((await run(inflater, form, compressed)) as Uint8Array).toString()).toBe(text);
    expect(await run(inflater, form, compressors[form](new Uint8Array()))).toHaveLength(0);
  });

  it('is inflated up to the limit, and not beyond', async () => {
    expect(await run(inflater, form, compressed, plain.length)).toHaveLength(plain.length);
    for (const limitBytes of [plain.length - 1, 1])
      expect(await run(inflater, form, compressed, limitBytes)).toBe('too_large');
  });

  it('is broken where it is cut, at any byte', async () => {
    for (let length = 1; length < compressed.length; length += 1 + (length >> 4))
      expect([length, await run(inflater, form, compressed.subarray(0, length))]).toEqual([length, 'broken']);
    expect(await run(inflater, form, compressed.subarray(0, -1))).toBe('broken');
  });

  it('is broken where it goes on after its end', async () => {
    for (const after of ['x', 'trailing garbage', '\0', '\0'.repeat(100)]) {
      const longer = Buffer.concat([compressed, Buffer.from(after)]);
      // Streams of the web in Node overlook some of it; the standard, and other runtimes, do not.
      const expected = name === 'web' && after !== 'trailing garbage' ? expect.anything() : 'broken';
      expect([after, await run(inflater, form, longer)]).toEqual([after, expected]);
    }
  });

  it('is never taken for something else where it is damaged', async () => {
    const hasChecksum = form !== 'raw deflate' && form !== 'br';
    for (let at = 0; at < compressed.length; at += 7) {
      const damaged = Uint8Array.from(compressed);
      damaged[at] = (damaged[at] as number) ^ 0x55;
      const result = await run(inflater, form, damaged);
      if (hasChecksum && typeof result !== 'string') expect(Buffer.from(result).toString()).toBe(text);
    }
    for (const odd of [Uint8Array.of(0), Buffer.from('{"model":"x"}'), Buffer.alloc(1000, 0xff)])
      expect(await run(inflater, form, odd)).toBe('broken');
  });

  it('stops within a buffer or two of the limit for a bomb', async () => {
    const bomb = compressors[form](Buffer.alloc(16 * 1024 * 1024, 32));
    const produced = countProduced();
    expect(await run(inflater, form, bomb)).toBe('too_large');
    await new Promise((resolve) => setImmediate(resolve));
    expect(produced()).toBeGreaterThan(limit);
    expect(produced()).toBeLessThan(limit + 5 * 1024 * 1024);
  });
});

describe('data in several parts', () => {
  const [one, two] = [plain.subarray(0, 1000), plain.subarray(1000)];
  const empty = new Uint8Array();

  it('is one body: members of gzip, where the runtime takes them', async () => {
    const members = Buffer.concat([one, empty, two].map((part) => zlib.gzipSync(part)));
    expect(await node.inflater.inflate('gzip', members, limit)).toEqual(plain);
    expect(await node.inflater.inflate('gzip', members, plain.length - 1)).toBe('too_large');
    expect(await node.inflater.inflate('gzip', members.subarray(0, -1), limit)).toBe('broken');
  });
  it('is one body: frames of zstd, with frames that hold no data', async () => {
    const skippable = Uint8Array.of(0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3);
    const frames = Buffer.concat([skippable, zstd(one), skippable, zstd(two), zstd(empty), skippable]);
    const inflated = (await node.inflater.inflate('zstd', frames, plain.length)) as Uint8Array;
    expect(Buffer.from(inflated)).toEqual(plain);
    expect(await node.inflater.inflate('zstd', frames, plain.length - 1)).toBe('too_large');
    for (let length = 1; length < frames.length; length += 5) {
      const result = await node.inflater.inflate('zstd', frames.subarray(0, length), limit);
      if (typeof result !== 'string') expect(plain.subarray(0, result.length)).toEqual(Buffer.from(result));
    }
    expect(await node.inflater.inflate('zstd', frames.subarray(0, -1), limit)).toBe('broken');
    expect(await node.inflater.inflate('zstd', skippable, limit)).toEqual(empty);
  });
  it('has no more frames than clients write', async () => {
    const frames = (count: number) => Buffer.concat(Array.from({ length: count }, () => zstd(empty)));
    expect(await node.inflater.inflate('zstd', frames(64), limit)).toEqual(empty);
    expect(await node.inflater.inflate('zstd', frames(65), limit)).toBe('broken');
  });
});

describe('zstd', () => {
  /** A frame with this window that holds `{}`, as it is. */
  const frame = (windowLog: number) =>
    Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x00, (windowLog - 10) << 3, 0x11, 0, 0, 0x7b, 0x7d);
  it('may have the window that senders of HTTP may use, and no larger one', async () => {
    expect(await node.inflater.inflate('zstd', frame(23), limit)).toEqual(Buffer.from('{}'));
    for (const windowLog of [24, 27, 41])
      expect(await node.inflater.inflate('zstd', frame(windowLog), limit)).toBe('broken');
  });
  it('is bounded where 30 KB stand for a gigabyte', async () => {
    // Blocks of a repeated byte, 128 KiB each.
    const block = Uint8Array.of(...[0, 1, 2].map((at) => ((((128 * 1024) << 3) | 2) >> (8 * at)) & 255), 0x20);
    const blocks = Array.from({ length: 8000 }, () => block);
    const bomb = Buffer.concat([frame(23).subarray(0, 6), ...blocks, Uint8Array.of(1, 0, 0)]);
    const produced = countProduced();
    expect(await node.inflater.inflate('zstd', bomb, limit)).toBe('too_large');
    expect(produced()).toBeLessThan(limit + 2 * 1024 * 1024);
  });
});

describe('the header of zlib', () => {
  it('is told from data without one', () => {
    for (const level of [0, 1, 6, 9]) {
      expect(hasZlibHeader(zlib.deflateSync(plain, { level }))).toBe(true);
      expect(hasZlibHeader(zlib.deflateRawSync(plain, { level }))).toBe(false);
    }
    expect(hasZlibHeader(new Uint8Array())).toBe(false);
  });
});
