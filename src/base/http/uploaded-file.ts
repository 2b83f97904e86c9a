/** The mark of a file. No JSON has a symbol. It is registered, as two copies of the package may be loaded. */
const mark: unique symbol = Symbol.for('model-gateway.uploadedFile');

/** A file of a request, as its client sent it. `uploadedFile` makes one. */
export interface UploadedFile {
  readonly [mark]: true;
  /** The name, such as `speech.mp3`; null: it has none. */
  readonly name: string | null;
  /** The media type that the client declares, such as `audio/mpeg`; null: none. */
  readonly type: string | null;
  /** The bytes, in order. They are parts of the body that was read, and no copies. */
  readonly chunks: readonly Uint8Array[];
  /** The number of bytes. */
  readonly size: number;
}

/** Makes a file of bytes in order. Parts that follow each other in one buffer become one. */
export function uploadedFile(name: string | null, type: string | null, bytes: readonly Uint8Array[]): UploadedFile {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (const one of bytes) {
    size += one.length;
    const last = chunks.at(-1);
    if (last !== undefined && last.buffer === one.buffer && last.byteOffset + last.length === one.byteOffset)
      chunks[chunks.length - 1] = new Uint8Array(last.buffer, last.byteOffset, last.length + one.length);
    else chunks.push(one);
  }
  return { [mark]: true, name, type, chunks, size };
}

/** Tells whether a value is a file that `uploadedFile` has made. */
export function isUploadedFile(value: unknown): value is UploadedFile {
  return typeof value === 'object' && value !== null && (value as Partial<UploadedFile>)[mark] === true;
}
