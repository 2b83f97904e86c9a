import { nextTurn } from '../base/async/next-turn.ts';
import { GatewayError } from '../base/errors.ts';
import { isUploadedFile, type UploadedFile, uploadedFile } from '../base/http/uploaded-file.ts';
import { parseJson } from '../base/json.ts';
import { refusal } from '../base/refusal.ts';
import type { FormFields } from '../operations/operation.ts';
import { type BodyLimits, bodyFailed, largeBody, type ParsedBody } from './body.ts';

/** The most parts of a form. A list of files has some dozens. */
const mostParts = 512;
/** The most bytes of the headers of a part. */
const mostHeaderBytes = 8 * 1024;
/** The most characters of a boundary, by RFC 2046. */
const mostBoundaryChars = 70;
/** The most bytes of a boundary with the line break and the hyphens before it. */
const mostDelimiterBytes = mostBoundaryChars + 4;
/** The deepest place that a name such as `a[b][c]` may have. */
const mostLevels = 5;
/**
 * The bytes of a form that are searched in one turn. Outside of Node the search is one in JavaScript, and a client that
 * chooses the worst boundary and the worst file makes it slow: this many bytes then take some 12 ms.
 */
const bytesPerTurn = 64 * 1024;

/** A value of a form: a text, or a file. */
type FormValue = string | UploadedFile;

/**
 * Reads a form into the fields of a body. Parts may come in any order.
 * @param given   bytes of the body, or its text where they are UTF-8; or a FormData that the host made of it
 * @param fields  fields that are not one text each
 * @throws GatewayError invalid_request (400), payload_too_large (413)
 */
export async function parseForm(
  given: unknown,
  headers: Headers,
  fields: FormFields,
  limits: BodyLimits,
): Promise<ParsedBody> {
  const body = new FormBody(fields, limits);
  let length = 0;
  const take = (name: string, value: FormValue) => {
    length += typeof value === 'string' ? value.length : value.size;
    if (length > limits.bytes) throw largeBody(limits.bytes);
    body.add(name, value);
  };
  if (given instanceof FormData) {
    for (const [name, value] of given)
      take(name, typeof value === 'string' ? value : await fileOf(value, limits.bytes));
  } else {
    const bytes = typeof given === 'string' ? new TextEncoder().encode(given) : given;
    // A parser of forms, such as multer, has read the body and kept the files elsewhere.
    if (!(bytes instanceof Uint8Array)) throw bodyFailed('consumed');
    if (bytes.length > limits.bytes) throw largeBody(limits.bytes);
    await readParts(bytes, headers, take, (name) => body.isOfFiles(name));
  }
  return { value: body.value(), length };
}

/** @throws GatewayError invalid_request (400), payload_too_large (413) */
async function readParts(
  bytes: Uint8Array,
  headers: Headers,
  take: (name: string, value: FormValue) => void,
  isOfFiles: (name: string) => boolean,
): Promise<void> {
  const { getMultipartBoundary, MaxPartsExceededError, MultipartParseError, MultipartParser } = await import(
    '@remix-run/multipart-parser'
  );
  const boundary = getMultipartBoundary(headers.get('content-type') ?? '');
  if (boundary === null || boundary === '' || boundary.length > mostBoundaryChars)
    throw wrongForm(`expected a boundary of 1 to ${mostBoundaryChars} characters in the header Content-Type`);
  const limit = bytes.length;
  const sizes = { maxFileSize: limit, maxTotalSize: limit, maxParts: mostParts, maxHeaderSize: mostHeaderBytes };
  const parser = new MultipartParser(boundary, sizes);
  const isOver = () => {
    try {
      parser.finish();
      return true;
    } catch {
      return false;
    }
  };
  try {
    for (let at = 0, end = 0; at < bytes.length; at = end) {
      if (at > 0) await nextTurn();
      end = endOfTurn(bytes, at + bytesPerTurn);
      for (const part of parser.write(bytes.subarray(at, end))) {
        const { name, filename, headers: own } = part;
        if (!name) throw wrongForm('expected a name for each part');
        const type = own['content-type'] ?? null;
        const isFile =
          filename !== undefined || type?.toLowerCase().startsWith('application/octet-stream') || isOfFiles(name);
        take(name, isFile ? uploadedFile(filename ?? null, type, part.content) : part.text);
      }
      // Bytes after the end mean nothing, by RFC 2046.
      if (isOver()) return;
    }
    parser.finish();
  } catch (error) {
    if (error instanceof MaxPartsExceededError)
      throw new GatewayError('payload_too_large', `The form has more than ${mostParts} parts`, {
        metadata: { limit_parts: mostParts },
      });
    if (error instanceof MultipartParseError) throw wrongForm(wordsFor(error.name), error);
    if (error instanceof TypeError) throw wrongForm('expected headers and texts in UTF-8', error);
    throw error;
  }
}

/**
 * Returns the end of the bytes of a turn. Where they end with what may be the beginning of a boundary, the parser copies
 * them, and a file is no more one piece: most such ends can be avoided by some bytes more.
 */
function endOfTurn(bytes: Uint8Array, wanted: number): number {
  let end = wanted;
  for (let tries = 0; tries < 16 && end < bytes.length; tries++) {
    const begun = bytes.subarray(end - mostDelimiterBytes, end).lastIndexOf(0x0d);
    if (begun < 0) return end;
    end += begun + 1;
  }
  return Math.min(end, bytes.length);
}

function wordsFor(name: string): string {
  if (name === 'MaxHeaderSizeExceededError') return `expected headers of a part of at most ${mostHeaderBytes} bytes`;
  return 'expected parts between the boundary that the header Content-Type names, and the boundary with -- at the end';
}

function wrongForm(message: string, cause?: unknown): GatewayError {
  return refusal('invalid_request', [{ path: '', message: `The form cannot be read: ${message}` }], cause);
}

async function fileOf(blob: Blob, limitBytes: number): Promise<UploadedFile> {
  if (blob.size > limitBytes) throw largeBody(limitBytes);
  const name = (blob as Partial<File>).name;
  return uploadedFile(name ?? null, blob.type || null, [new Uint8Array(await blob.arrayBuffer())]);
}

/** The fields of a form, as they are collected. */
class FormBody {
  readonly #fields: FormFields;
  readonly #limits: BodyLimits;
  readonly #values = new Map<string, unknown>();

  constructor(fields: FormFields, limits: BodyLimits) {
    this.#fields = fields;
    this.#limits = limits;
  }

  /** Tells whether a part is of a field that holds files: some clients send them without a name. */
  isOfFiles(name: string): boolean {
    const kind = this.#fields[keysOf(name)[0] as string];
    return kind === 'file' || kind === 'files';
  }

  /** Adds a part. @throws GatewayError invalid_request (400) */
  add(name: string, value: FormValue): void {
    const [field = '', ...keys] = keysOf(name);
    const kind = this.#fields[field];
    const isFile = isUploadedFile(value);
    if (isFile !== this.isOfFiles(name))
      throw wrongField(field, isFile ? 'expected a text, and no file' : 'expected a file, with a name');
    if (kind === 'list' || kind === 'files') {
      if (keys.some((key) => !/^\d*$/.test(key)) || keys.length > 1) throw wrongField(name, 'expected a list');
      const list = (this.#values.get(field) ?? []) as FormValue[];
      this.#values.set(field, list);
      list.push(value);
      return;
    }
    if (keys.length > 0) {
      if (kind !== 'object' || isFile) throw wrongField(name, `expected the field ${field}, without brackets`);
      const object = this.#values.get(field) ?? new Map<string, unknown>();
      if (!(object instanceof Map)) throw wrongField(name, 'expected the field once');
      this.#values.set(field, object);
      addWithin(object, keys, guessed(value as string), name);
      return;
    }
    if (this.#values.has(field)) throw wrongField(field, 'expected the field once');
    this.#values.set(field, isFile ? value : readAs(kind, value as string, this.#limits));
  }

  value(): Record<string, unknown> {
    return plain(this.#values) as Record<string, unknown>;
  }
}

/** Reads `a[b][]` as `a`, `b` and ''. */
function keysOf(name: string): readonly string[] {
  const at = name.indexOf('[');
  if (at <= 0 || !name.endsWith(']')) return [name];
  const keys = name.slice(at + 1, -1).split('][');
  if (keys.length > mostLevels) throw wrongField(name.slice(0, at), `expected at most ${mostLevels} levels`);
  return [name.slice(0, at), ...keys];
}

/** Adds a value to an object of which each part of the form names one place. */
function addWithin(object: Map<string, unknown>, keys: readonly string[], value: unknown, name: string): void {
  const [key = '', ...rest] = keys;
  const [next] = rest;
  if (next === undefined) {
    if (object.has(key)) throw wrongField(name, 'expected the field once');
    object.set(key, value);
    return;
  }
  if (next === '' && rest.length === 1) {
    const list = object.get(key) ?? [];
    if (!Array.isArray(list)) throw wrongField(name, 'expected the field once');
    object.set(key, list);
    list.push(value);
    return;
  }
  const inner = object.get(key) ?? new Map<string, unknown>();
  if (!(inner instanceof Map)) throw wrongField(name, 'expected the field once');
  object.set(key, inner);
  addWithin(inner, rest, value, name);
}

/** Makes objects of maps. */
function plain(value: unknown): unknown {
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...value].map(([key, one]) => [key, plain(one)]));
}

/** Reads a text as the schema of its field wants it. What cannot be read stays, and the schema refuses it. */
function readAs(kind: FormFields[string] | undefined, text: string, { depth, values }: BodyLimits): unknown {
  if (kind === 'number') return isNumber(text) ? Number(text) : text;
  if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (kind !== 'object' || !/^\s*\{/.test(text)) return text;
  try {
    return parseJson(text, depth, values);
  } catch {
    return text;
  }
}

/** Reads a text within an object, of which nobody knows the type here. */
function guessed(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  return isNumber(text) ? Number(text) : text;
}

function isNumber(text: string): boolean {
  return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text);
}

function wrongField(path: string, message: string): GatewayError {
  return refusal('invalid_request', [{ path: path.slice(0, 200), message }]);
}
