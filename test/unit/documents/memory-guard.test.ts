import { describe, expect, it } from 'vitest';
import { guardArrays } from '../../../src/documents/memory-guard.ts';

const mb = 1024 * 1024;

/** Globals of a thread of its own: only what these have is changed. */
function guarded(limitBytes = 10 * mb) {
  const scope = globalThis as unknown as Record<string, unknown>;
  // The methods of the prototypes are those of this thread, and are put back.
  const arrays = Object.getPrototypeOf(Uint8Array.prototype) as { slice: unknown };
  const buffers = ArrayBuffer.prototype as { slice: unknown };
  const before = [arrays.slice, buffers.slice];
  const names = Object.getOwnPropertyNames(scope).filter((name) => /Array$|ArrayBuffer$/.test(name));
  const globals: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, scope[name]]));
  globals.DecompressionStream = DecompressionStream;
  let usedBytes = 0;
  guardArrays(globals, {
    limitBytes,
    usedBytes: () => usedBytes,
    end: () => {
      throw new Error('ended');
    },
  });
  return {
    globals: globals as unknown as typeof globalThis,
    use: (bytes: number) => {
      usedBytes = bytes;
    },
    restore() {
      [arrays.slice, buffers.slice] = before;
      for (const name of names) {
        const type = scope[name] as { prototype?: { constructor: unknown } };
        if (type.prototype !== undefined) type.prototype.constructor = type;
      }
    },
  };
}

describe('the memory of arrays', () => {
  it('is counted for every way to make one', async () => {
    const { globals: of, use, restore } = guarded();
    try {
      const small = new Uint8Array(2 * mb);
      const ways: [string, () => unknown][] = [
        ['a length', () => new of.Uint8Array(2 * mb)],
        ['larger elements', () => new of.Float64Array(mb / 4)],
        ['a buffer', () => new of.ArrayBuffer(2 * mb)],
        ['a shared buffer', () => new of.SharedArrayBuffer(2 * mb)],
        ['a copy', () => new of.Uint8Array(small)],
        ['a slice', () => small.slice()],
        ['a slice of a buffer', () => small.buffer.slice(0)],
        ['an array of the same type', () => new (small.constructor as typeof Uint8Array)(2 * mb)],
        ['a list', () => of.Uint8Array.from({ length: 2 * mb })],
        ['many small ones', () => Array.from({ length: 1100 }, () => new of.Uint8Array(1024))],
      ];
      for (const [name, make] of ways) {
        use(0);
        expect(make, name).not.toThrow();
        use(10 * mb);
        expect(make, name).toThrow('ended');
      }
      expect(() => new of.Uint8Array(11 * mb)).toThrow('ended');
      // Another view of the same bytes is none.
      expect(() => new of.Uint8Array(small.buffer)).not.toThrow();
    } finally {
      restore();
    }
  });
  it('is counted for what the platform inflates', async () => {
    const { globals: of, use, restore } = guarded();
    try {
      const packed = new Blob([new Uint8Array(4 * mb)]).stream().pipeThrough(new CompressionStream('deflate'));
      const bytes = await new Response(packed).bytes();
      const inflated = () =>
        new Response(new Blob([bytes]).stream().pipeThrough(new of.DecompressionStream('deflate')))
          .bytes()
          .then(({ length }) => length);
      expect(await inflated()).toBe(4 * mb);
      use(10 * mb);
      await expect(inflated()).rejects.toThrow('ended');
    } finally {
      restore();
    }
  });
});
