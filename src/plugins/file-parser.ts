import { pdfReader as ofRuntime } from '#documents';
import { cleanName } from '../base/clean-text.ts';
import { GatewayError } from '../base/errors.ts';
import { nanoToUsd } from '../base/money.ts';
import { refusal } from '../base/refusal.ts';
import { withSignal } from '../base/within.ts';
import { FetchRefused } from '../call/fetch-url.ts';
import type { PluginContext } from '../call/hooks.ts';
import { originOf, withOrigin } from '../call/responses-origin.ts';
import type { PdfReader } from '../documents/pdf.ts';
import type { ChatMessage, ChatRequest, ContentPart } from '../schema/chat.ts';
import type { PipelineStage } from '../schema/envelope.ts';
import { echoedFiles, type FileContent, fileAnnotation, hashOf } from './file-parser/annotations.ts';
import type { OcrEngine } from './file-parser/ocr.ts';
import { isPdf, type PdfPart, pdfsIn } from './file-parser/pdf-parts.ts';
import { definePlugin, type Plugin } from './plugin.ts';

/** Settings of the plugin `file-parser`; all have a default. */
export interface FileParserOptions {
  /** Whether the plugin acts on requests that do not name it. Default false. */
  isDefault?: boolean;
  /** The service for the engine `mistral-ocr`, such as `mistralOcr({ apiKey })`. Default: none, and a request for it is a 400. */
  ocr?: OcrEngine;
  /** The most PDFs of a request. Default 20. */
  maxFiles?: number;
  /** The largest PDF, in bytes. Default 32 MiB. */
  maxBytes?: number;
  /** Pages of a PDF that are read; the rest is left out. Default 500. */
  maxPages?: number;
  /** Characters of a PDF that are read; the rest is left out. Default 1,000,000. */
  maxChars?: number;
  /** The time for all PDFs of a request, in ms. Default 30,000. */
  timeoutMs?: number;
  /** Reads the text of PDFs. Default: the reader of the runtime. */
  reader?: PdfReader;
}

/** The limits, where the host app sets none. */
export const fileParserDefaults = {
  maxFiles: 20,
  maxBytes: 32 * 1024 * 1024,
  maxPages: 500,
  maxChars: 1_000_000,
  timeoutMs: 30_000,
} as const;

type Settings = Required<Omit<FileParserOptions, 'ocr' | 'isDefault'>> & FileParserOptions;

interface FileParserRequest {
  pdf?: { engine?: 'mistral-ocr' | 'native' | 'cloudflare-ai' | 'pdf-text' };
}

/** What became of one PDF. */
interface Parsed {
  hash: string;
  name: string;
  content: FileContent;
  /** Pages read; null: an annotation of the caller saved the reading. */
  pages: number | null;
  isCut: boolean;
}

/**
 * Puts the text of PDFs in the place of the files, for models that take no files.
 * @see docs/plugins/file-parser.md
 */
export function fileParser(options: FileParserOptions = {}): Plugin {
  const settings: Settings = { ...fileParserDefaults, reader: ofRuntime, ...options };
  return definePlugin<FileParserRequest>({
    id: 'file-parser',
    ...(options.isDefault === true ? { isDefault: true } : {}),
    async before(request, context) {
      const pdfs = pdfsIn(request.messages);
      if (pdfs.length === 0) return request;
      const asked = context.options.pdf?.engine;
      const engine = asked ?? ((await takeFiles(request, context)) ? 'native' : 'cloudflare-ai');
      if (engine === 'native') {
        context.addStage(stageOf('native', [], 'the model takes the files as they are'));
        return request;
      }
      checkCount(pdfs, settings);
      const parsed = await parseAll(pdfs, echoedFiles(request.messages), engine === 'mistral-ocr', settings, context);
      context.addAnnotations(parsed.map(({ hash, name, content }) => fileAnnotation(hash, name, content)));
      context.addStage(stageOf(engine, parsed, summaryOf(parsed)));
      return withTexts(request, pdfs, parsed);
    },
    async foresee(request, { options: { pdf }, addStage }) {
      const pdfs = pdfsIn(request.messages);
      if (pdfs.length === 0) return [];
      const engine = pdf?.engine ?? null;
      if (engine !== 'native') checkCount(pdfs, settings);
      const pages = engine === 'mistral-ocr' ? pdfs.length * settings.maxPages : 0;
      const costUsd = nanoToUsd(pages === 0 ? 0 : pages * ocrOf(settings).nanoUsdPerPage);
      const summary = engine === 'native' ? 'the model gets the files' : `${pdfs.length} PDFs are read`;
      addStage({ type: 'plugin', name: 'file-parser', summary, data: { engine }, cost_usd: costUsd });
      return [];
    },
  });
}

/** @throws GatewayError invalid_request (400) */
function checkCount(pdfs: readonly PdfPart[], { maxFiles }: Settings): void {
  const [tooMany] = pdfs.slice(maxFiles);
  if (tooMany !== undefined) throw invalid(tooMany.path, `expected at most ${maxFiles} PDFs`);
}

/** @throws GatewayError invalid_request (400) where there is none */
function ocrOf({ ocr }: Settings): OcrEngine {
  if (ocr !== undefined) return ocr;
  throw invalid('plugins', 'the engine mistral-ocr is not set up here: expected cloudflare-ai or native');
}

/** Whether all models that the request names are known to take files. */
async function takeFiles(request: ChatRequest, { models }: PluginContext): Promise<boolean> {
  const named = await models(request);
  return named.length > 0 && named.every((model) => model?.inputModalities?.includes('file') === true);
}

async function parseAll(
  pdfs: readonly PdfPart[],
  echoed: ReadonlyMap<string, FileContent>,
  isOcr: boolean,
  settings: Settings,
  context: PluginContext,
): Promise<Parsed[]> {
  const { clock, call } = context;
  const limits = { timeoutMs: settings.timeoutMs, signals: [call.signal], late: tooSlow };
  return withSignal(clock, limits, async (signal) => {
    const parsed: Parsed[] = [];
    for (const pdf of pdfs) {
      const bytes = await bytesOf(pdf, settings, context, signal);
      const hash = await hashOf(bytes);
      const earlier = echoed.get(hash) ?? parsed.find((one) => one.hash === hash)?.content;
      if (earlier !== undefined) parsed.push({ hash, name: pdf.name, content: earlier, pages: null, isCut: false });
      else {
        const read = isOcr ? readByOcr : readText;
        parsed.push({ hash, name: pdf.name, ...(await read(pdf, bytes, settings, context, signal)) });
      }
    }
    return parsed;
  });
}

async function bytesOf(
  { path, content }: PdfPart,
  { maxBytes }: Settings,
  { fetchUrl }: PluginContext,
  signal: AbortSignal,
): Promise<Uint8Array> {
  let bytes: Uint8Array;
  if ('bytes' in content) bytes = content.bytes;
  else {
    const fetched = fetchUrl(content.url, { maxBytes, signal });
    bytes = (
      await fetched.catch((error: unknown) => {
        throw error instanceof FetchRefused ? invalid(path, error.message) : error;
      })
    ).bytes;
  }
  if (bytes.length > maxBytes) throw invalid(path, `expected a PDF of at most ${maxBytes} bytes`);
  if (!isPdf(bytes)) throw invalid(path, 'expected a PDF');
  return bytes;
}

type Read = Pick<Parsed, 'content' | 'pages' | 'isCut'>;

async function readText(
  { path }: PdfPart,
  bytes: Uint8Array,
  { reader, maxPages, maxChars }: Settings,
  _context: PluginContext,
  signal: AbortSignal,
): Promise<Read> {
  const read = await reader.read(bytes, { pages: maxPages, chars: maxChars }, signal);
  if (read === 'unreadable') throw invalid(path, 'expected a PDF that can be read: it is damaged or needs a password');
  if (read === 'too_costly') throw invalid(path, 'expected a PDF that takes less memory to read');
  const text = read.pages.join('\n\n').trim();
  if (text === '')
    throw invalid(path, 'expected a PDF with text: this one has only pictures, which the engine mistral-ocr reads');
  return { content: [{ type: 'text', text }], pages: read.pages.length, isCut: read.isCut };
}

async function readByOcr(
  { path, name }: PdfPart,
  bytes: Uint8Array,
  settings: Settings,
  { hold }: PluginContext,
  signal: AbortSignal,
): Promise<Read> {
  const { maxPages, maxChars } = settings;
  const ocr = ocrOf(settings);
  const expense = await hold(ocr.nanoUsdPerPage * maxPages);
  const { content, pages } = await ocr.read({ bytes, name, maxPages, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new GatewayError('upstream_failed', `${path}: the OCR service could not read the PDF`, { cause: error });
  });
  expense.settle(ocr.nanoUsdPerPage * pages);
  let left = maxChars;
  const bounded = content.map((part) => {
    if (part.type !== 'text') return part;
    const text = part.text.slice(0, left);
    left -= part.text.length;
    return { ...part, text };
  });
  return { content: bounded, pages, isCut: left < 0 };
}

/** The request with what was read in the place of the files. */
function withTexts(request: ChatRequest, pdfs: readonly PdfPart[], parsed: readonly Parsed[]): ChatRequest {
  const placed = new Map(pdfs.map(({ message, part }, at) => [`${message} ${part}`, parsed[at] as Parsed]));
  const changed = new Set(pdfs.map(({ message }) => message));
  const messages = request.messages.map((message, at) => {
    if (!changed.has(at)) return message;
    const content = (message.content as ContentPart[]).flatMap((part, index) => {
      const read = placed.get(`${at} ${index}`);
      return read === undefined ? [part] : partsOf(read);
    });
    return { ...message, content } as ChatMessage;
  });
  return withoutToolFiles({ ...request, messages });
}

/** Name and borders tell the model where the file ends. */
function partsOf({ name, content }: Parsed): ContentPart[] {
  const label = JSON.stringify(name);
  return [{ type: 'text', text: `<file name=${label}>\n` }, ...content, { type: 'text', text: '\n</file>' }];
}

/** A tool's PDF is text now: models that take no files may read it. */
function withoutToolFiles(request: ChatRequest): ChatRequest {
  const origin = originOf(request);
  if (origin === null || !request.messages.some(({ role }) => role === 'tool')) return request;
  const hasFile = request.messages.some(
    ({ role, content }) => role === 'tool' && Array.isArray(content) && content.some(({ type }) => type === 'file'),
  );
  if (hasFile) return request;
  return withOrigin(request, { ...origin, toolMedia: origin.toolMedia.filter(({ modality }) => modality !== 'file') });
}

function stageOf(engine: string, parsed: readonly Parsed[], summary: string): PipelineStage {
  const files = parsed.map(({ hash, name, pages, isCut, content }) => ({
    name: cleanName(name, 80),
    hash,
    pages,
    chars: content.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0),
    ...(isCut ? { is_cut: true } : {}),
  }));
  return { type: 'plugin', name: 'file-parser', summary, data: { engine, files } };
}

function summaryOf(parsed: readonly Parsed[]): string {
  const read = parsed.filter(({ pages }) => pages !== null).length;
  const known = parsed.length - read;
  return known === 0 ? `${read} PDFs read` : `${read} PDFs read, ${known} known from annotations`;
}

function invalid(path: string, message: string): GatewayError {
  return refusal('invalid_request', [{ path, message }]);
}

function tooSlow(timeoutMs: number): GatewayError {
  return new GatewayError('invalid_request', `The PDFs of the request took longer than ${timeoutMs} ms to read`);
}
