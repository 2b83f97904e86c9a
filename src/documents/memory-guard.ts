/** The bytes of small arrays that are counted before the memory in use is read again, which takes some 10 µs. */
const countedBytes = 1024 * 1024;

const arrayTypes = [
  'ArrayBuffer',
  'SharedArrayBuffer',
  'Int8Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
] as const;

type AnyConstructor = new (...args: unknown[]) => object;

export interface MemoryGuard {
  limitBytes: number;
  /** The bytes that arrays take in this thread now. */
  usedBytes: () => number;
  /** Ends the thread, and so never returns. An error would not end it: parsers catch errors and go on. */
  end: () => never;
}

/**
 * Ends this thread before its arrays take more memory than the limit. The limit of a thread's heap does not count
 * arrays: a file of some kilobytes may inflate to gigabytes. This changes the globals of the thread. So it has to come
 * before the parsers are loaded, in a thread that does nothing else.
 * @param globals  of the thread
 */
export function guardArrays(globals: Record<string, unknown>, { limitBytes, usedBytes, end }: MemoryGuard): void {
  let uncounted = 0;
  const count = (bytes: number) => {
    uncounted += bytes;
    if (uncounted < countedBytes) return;
    uncounted = 0;
    if (bytes > limitBytes || usedBytes() + bytes > limitBytes) end();
  };
  for (const name of arrayTypes) {
    const type = globals[name] as (AnyConstructor & { BYTES_PER_ELEMENT?: number }) | undefined;
    if (type === undefined) continue;
    const guarded: AnyConstructor = new Proxy(type, {
      construct(target, args, newTarget) {
        count(bytesOf(args[0], type.BYTES_PER_ELEMENT ?? 1));
        return Reflect.construct(target, args, newTarget === guarded ? target : newTarget);
      },
    });
    // Other code makes arrays of the same type by `array.constructor`.
    (type.prototype as { constructor: unknown }).constructor = guarded;
    globals[name] = guarded;
  }
  const { prototype } = Object.getPrototypeOf(globals.Uint8Array) as { prototype: Sliceable };
  guardSlice(prototype, count);
  guardSlice((globals.ArrayBuffer as { prototype: Sliceable }).prototype, count);
  guardInflation(globals, count);
  // The memory of WebAssembly cannot be counted here. Only pictures need it.
  Reflect.deleteProperty(globals, 'WebAssembly');
}

/** Counts inflated arrays as they come, because the platform makes them. */
function guardInflation(globals: Record<string, unknown>, count: (bytes: number) => void): void {
  if (globals.DecompressionStream === undefined) return;
  const Inflating = globals.DecompressionStream as typeof DecompressionStream;
  globals.DecompressionStream = class {
    readonly readable: ReadableStream<Uint8Array>;
    readonly writable: WritableStream<BufferSource>;
    constructor(format: CompressionFormat) {
      const { readable, writable } = new Inflating(format);
      this.writable = writable;
      const counted = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          count(chunk.byteLength);
          controller.enqueue(chunk);
        },
      });
      this.readable = readable.pipeThrough(counted);
    }
  };
}

interface Sliceable {
  slice(start?: number, end?: number): object;
}

/** Counts a copy as if it were of the whole array. */
function guardSlice(prototype: Sliceable, count: (bytes: number) => void): void {
  const { slice } = prototype;
  prototype.slice = function (this: { byteLength: number }, ...range) {
    count(this.byteLength);
    return slice.apply(this, range);
  } as Sliceable['slice'];
}

/** The bytes of an array that is made of this first argument; 0 for another view of a buffer. */
function bytesOf(first: unknown, bytesPerElement: number): number {
  if (typeof first === 'number') return first * bytesPerElement;
  if (first instanceof ArrayBuffer || typeof first !== 'object' || first === null) return 0;
  const { length } = first as { length?: unknown };
  return typeof length === 'number' ? length * bytesPerElement : 0;
}
