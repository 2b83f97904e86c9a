import { joinBytes } from '../../base/bytes.ts';
import { isUploadedFile, type UploadedFile, uploadedFile } from '../../base/http/uploaded-file.ts';
import { isObject } from '../../base/values.ts';

/**
 * A file, as the clients of OpenAI take one: a `File` or `Blob`, bytes, a `Response`, or a stream such as that of
 * `fs.createReadStream`.
 */
export type FileSource = UploadedFile | Blob | Uint8Array | ArrayBuffer | Response | AsyncIterable<Uint8Array>;

/** Tells whether a value is a file. */
export function isFileSource(value: unknown): value is FileSource {
  return (
    isUploadedFile(value) ||
    value instanceof Uint8Array ||
    value instanceof ArrayBuffer ||
    value instanceof Blob ||
    value instanceof Response ||
    (isObject(value) && Symbol.asyncIterator in value)
  );
}

/** Reads a file. Rejects where its stream fails. */
export async function readFile(given: FileSource): Promise<UploadedFile> {
  if (isUploadedFile(given)) return given;
  if (given instanceof Uint8Array) return uploadedFile(null, null, [given]);
  if (given instanceof ArrayBuffer) return uploadedFile(null, null, [new Uint8Array(given)]);
  if (given instanceof Blob || given instanceof Response) {
    const name = given instanceof Blob ? (given as Partial<File>).name : lastOf(given.url);
    const type = given instanceof Blob ? given.type : given.headers.get('content-type');
    return uploadedFile(name ?? null, type || null, [new Uint8Array(await given.arrayBuffer())]);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of given) chunks.push(chunk);
  const { path } = given as { path?: unknown };
  return uploadedFile(typeof path === 'string' ? lastOf(path) : null, null, [joinBytes(chunks)]);
}

/** The last part of a path, without a query. */
function lastOf(path: string): string | null {
  return path.split(/[?#]/, 1)[0]?.split(/[/\\]/).at(-1) || null;
}
