import { UpstreamError } from '../base/http/upstream-error.ts';
import { checkParsed, JsonError, parseJson } from '../base/json.ts';
import { readText, send } from '../transport/send.ts';
import type { Transport } from '../transport/transport.ts';
import { CatalogError, type DocumentReader } from './document.ts';

export interface ReadLimits {
  /** The limit for the document, decompressed. */
  maxBytes: number;
  /** The limit for all headers of the response. */
  headerBytes: number;
}

/** Far deeper than any real document. */
const maxDepth = 20;

/** Reads the document from an http or https address. Asks the server only for a version newer than the accepted one. */
export function readFromUrl(url: string, transport: () => Transport, limits: ReadLimits): DocumentReader {
  let accepted: { tag: string | undefined; text: string } | null = null;
  return async (signal) => {
    try {
      const headers: Record<string, string> = { accept: 'application/json' };
      if (accepted?.tag !== undefined) headers['if-none-match'] = accepted.tag;
      const request = { method: 'GET', url, headers, signal, limits: { headerBytes: limits.headerBytes } } as const;
      const response = await send(transport(), request, limits.maxBytes);
      if (response.status !== 200) response.body.cancel();
      if (response.status === 304 && accepted) return 'unchanged';
      if (response.status !== 200) throw mistake(`expected status 200, came ${response.status}`);
      const text = await readText(response.body, limits.maxBytes);
      const read = { tag: response.headers.etag, text };
      if (accepted?.text === text) {
        accepted = read;
        return 'unchanged';
      }
      return { value: parsed(text), accepted: () => (accepted = read) };
    } catch (error) {
      throw error instanceof UpstreamError ? mistake(error.message) : error;
    }
  };
}

/** Reads the content of a file, up to a limit. */
export interface FileReader {
  /** Rejects with the runtime's own error when the file does not exist. */
  read(maxBytes: number, signal: AbortSignal): Promise<Uint8Array>;
}

/** Reads the document from a file. @param file  reads one byte more than `maxBytes`, if the file has that many */
export function readFromFile(file: FileReader, { maxBytes }: Pick<ReadLimits, 'maxBytes'>): DocumentReader {
  let accepted: string | null = null;
  return async (signal) => {
    const bytes = await file.read(maxBytes + 1, signal).catch((error: unknown) => {
      const { code } = error as { code?: unknown };
      throw mistake(`the file cannot be read${typeof code === 'string' ? ` (${code})` : ''}`, error);
    });
    if (bytes.length > maxBytes) throw mistake(`the file is larger than ${maxBytes} bytes`);
    const text = new TextDecoder().decode(bytes);
    if (text === accepted) return 'unchanged';
    return { value: parsed(text), accepted: () => (accepted = text) };
  };
}

/** Takes the document as a value from the host app's own function. */
export function readFromFunction(source: (signal: AbortSignal) => unknown): DocumentReader {
  return async (signal) => {
    const value = await source(signal);
    try {
      checkParsed(value, maxDepth);
    } catch (error) {
      throw error instanceof JsonError ? mistake(error.message) : error;
    }
    return { value };
  };
}

function parsed(text: string): unknown {
  try {
    return parseJson(text, maxDepth);
  } catch (error) {
    throw error instanceof JsonError ? mistake(error.message) : error;
  }
}

function mistake(message: string, cause?: unknown): CatalogError {
  return new CatalogError([{ path: '', message }], cause);
}
