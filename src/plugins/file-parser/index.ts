import { pdfReader as ofRuntime } from '#documents';
import { GatewayError } from '../../base/errors.ts';
import { lazily } from '../../base/lazily.ts';
import { nanoToUsd } from '../../base/money.ts';
import { refusal } from '../../base/refusal.ts';
import { cleanName } from '../../base/text/clean-text.ts';
import type { Revised } from '../../call/ask.ts';
import { FetchRefused } from '../../call/fetch-url.ts';
import type { PluginContext } from '../../call/hooks.ts';
import type { Native } from '../../call/native.ts';
import { defaultMemoryBytes, type PdfReader } from '../../documents/pdf.ts';
import { defaultMaxWaiting } from '../../documents/turns.ts';
import type { ChatMessage, ChatRequest, ContentPart } from '../../schema/chat/chat.ts';
import type { PipelineStage } from '../../schema/chat/envelope.ts';
import { checkedSettings, field } from '../../schema/host-object.ts';
import { builtInPlugin, type Plugin } from '../plugin.ts';
import { echoedFiles, type FileContent, fileAnnotation, hashOf } from './annotations.ts';
import { emptyPagesOf, holdNoText, namedPages, noteOf } from './empty-pages.ts';
import type { OcrEngine } from './ocr.ts';
import { bytesIn, isPdf, type PdfPart, pdfsIn } from './pdf-parts.ts';
import { type WorkTime, withWorkTime } from './work-time.ts';

/** Settings of the plugin `file-parser`; all have a default. */
export interface FileParserOptions {
  /** true: the plugin acts on requests that do not name it. Default false. */
  isDefault?: boolean | undefined;
  /** The service for the engine `mistral-ocr`, such as `mistralOcr({ apiKey })`. Default: none, and a request for it is a 400. */
  ocr?: OcrEngine | undefined;
  /** The most PDFs of a request. Default 20. */
  maxFiles?: number | undefined;
  /** The largest PDF, in bytes. Default 32 MiB. */
  maxBytes?: number | undefined;
  /** The most pages of a PDF that are read; the rest is left out. Default 500. */
  maxPages?: number | undefined;
  /** The most characters of a PDF that are read; the rest is left out. Default 1,000,000. */
  maxChars?: number | undefined;
  /** The time for all PDFs of a request, in ms, without the time for which they wait for their turn. Default 30,000. */
  timeoutMs?: number | undefined;
  /**
   * The most bytes of memory that reading a PDF may take, for its unpacked data and for its objects each. Default 256
   * MiB.
   */
  maxMemoryBytes?: number | undefined;
  /** The most PDFs of a workspace that wait for their turn. Further ones are a 429. Default 100. */
  maxWaiting?: number | undefined;
  /** Reads the text of PDFs. Default: the reader of the runtime. */
  reader?: PdfReader | undefined;
}

/** The limits, where the host app sets none. */
export const fileParserDefaults = {
  maxFiles: 20,
  maxBytes: 32 * 1024 * 1024,
  maxPages: 500,
  maxChars: 1_000_000,
  timeoutMs: 30_000,
  maxMemoryBytes: defaultMemoryBytes,
  maxWaiting: defaultMaxWaiting,
} as const;

type Settings = Required<Omit<FileParserOptions, 'ocr' | 'isDefault'>> & FileParserOptions;

interface FileParserRequest {
  pdf?: { engine?: 'mistral-ocr' | 'native' | 'cloudflare-ai' | 'pdf-text' };
}

/** The result for one PDF. */
interface Parsed {
  hash: string;
  name: string;
  content: FileContent;
  /** The pages that were read; null: an annotation of the caller saved the reading. */
  pages: number | null;
  isCut: boolean;
  /** The price that a service took for it, integer nano-USD; absent: no service was asked. */
  nanoUsd?: number;
  /** The numbers of pages that hold no text, such as scans among others. */
  emptyPages: readonly number[];
}

const shape = lazily(() => ({
  isDefault: field.flag().optional(),
  ocr: field.object().optional(),
  maxFiles: field.count(1).optional(),
  maxBytes: field.count(1).optional(),
  maxPages: field.count(1).optional(),
  maxChars: field.count(1).optional(),
  timeoutMs: field.count(1).optional(),
  maxMemoryBytes: field.count(1).optional(),
  maxWaiting: field.count().optional(),
  reader: field.object().optional(),
}));

/**
 * Puts the text of PDFs in the place of the files, for models that take no files.
 * @see docs/plugins/file-parser.md
 */
export function fileParser(options: FileParserOptions = {}): Plugin {
  const settings: Settings = {
    ...fileParserDefaults,
    reader: ofRuntime,
    ...checkedSettings('fileParser', options, shape),
  };
  return builtInPlugin<FileParserRequest>({
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
      if (engine === 'mistral-ocr') await context.checkOperatorServices('OCR service');
      const parsed = await parseAll(pdfs, echoedFiles(request.messages), engine === 'mistral-ocr', settings, context);
      context.addAnnotations(parsed.map(({ hash, name, content }) => fileAnnotation(hash, name, content)));
      context.addStage(stageOf(engine, parsed, summaryOf(parsed)));
      return withTexts(request, context.native, pdfs, parsed);
    },
    async foresee(request, { options: { pdf }, addStage, checkOperatorServices, hold }) {
      const pdfs = pdfsIn(request.messages);
      if (pdfs.length === 0) return [];
      const engine = pdf?.engine ?? null;
      if (engine !== 'native') checkCount(pdfs, settings);
      if (engine === 'mistral-ocr') await checkOperatorServices('OCR service');
      const pages = engine === 'mistral-ocr' ? pdfs.length * settings.maxPages : 0;
      const nanoUsd = pages === 0 ? 0 : pages * ocrOf(settings).nanoUsdPerPage;
      await hold(nanoUsd);
      const summary = engine === 'native' ? 'the model gets the files' : `${pdfs.length} PDFs are read`;
      addStage({ type: 'plugin', name: 'file-parser', summary, data: { engine }, cost_usd: nanoToUsd(nanoUsd) });
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

/** true: all models that the request names are known to take files. */
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
  const { clock, signal: left } = context;
  const limits = { timeoutMs: settings.timeoutMs, signal: left, late: tooSlow };
  return withWorkTime(clock, limits, async (time) => {
    const parsed: Parsed[] = [];
    for (const pdf of pdfs) {
      const bytes = await bytesOf(pdf, settings, context, time.signal);
      const hash = await hashOf(bytes);
      const earlier = echoed.get(hash) ?? parsed.find((one) => one.hash === hash)?.content;
      if (earlier !== undefined)
        parsed.push({ hash, name: pdf.name, content: earlier, pages: null, isCut: false, emptyPages: [] });
      else {
        const read = isOcr ? readByOcr : readText;
        parsed.push({ hash, name: pdf.name, ...(await read(pdf, bytes, settings, context, time)) });
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
  const tooLarge = () => invalid(path, `expected a PDF of at most ${maxBytes} bytes`);
  let bytes: Uint8Array;
  if ('text' in content) {
    // White space counts too: nobody decodes a text that is longer than allowed.
    if (content.text.length - content.from > maxBase64(maxBytes)) throw tooLarge();
    const decoded = bytesIn(content);
    if (decoded === null) throw invalid(path, 'expected a PDF in base64');
    bytes = decoded;
  } else {
    const fetched = fetchUrl(content.url, { maxBytes, signal });
    bytes = (
      await fetched.catch((error: unknown) => {
        throw error instanceof FetchRefused ? invalid(path, error.message) : error;
      })
    ).bytes;
  }
  if (bytes.length > maxBytes) throw tooLarge();
  if (!isPdf(bytes)) throw invalid(path, 'expected a PDF');
  return bytes;
}

/** Returns the base64 characters of so many bytes, with the line ends that some put after 64 of them. */
function maxBase64(bytes: number): number {
  return Math.ceil(bytes / 3) * 4 * (66 / 64) + 2;
}

type Read = Pick<Parsed, 'content' | 'pages' | 'isCut' | 'emptyPages' | 'nanoUsd'>;

async function readText(
  { path }: PdfPart,
  bytes: Uint8Array,
  { reader, maxPages, maxChars, maxMemoryBytes, maxWaiting }: Settings,
  { call }: PluginContext,
  time: WorkTime,
): Promise<Read> {
  const limits = { pages: maxPages, chars: maxChars, memoryBytes: maxMemoryBytes };
  const { workspaceId } = call.caller;
  const turn = { workspaceId, maxWaiting, onWait: time.pause, onStart: time.resume };
  const read = await reader.read(bytes, limits, time.signal, turn);
  if (read === 'unreadable') throw invalid(path, 'expected a PDF that can be read: it is damaged or needs a password');
  if (read === 'too_costly') throw invalid(path, 'expected a PDF that takes less memory to read');
  const text = read.pages.join('\n\n').trim();
  if (text === '')
    throw invalid(path, 'expected a PDF with text: this one has only pictures, which the engine mistral-ocr reads');
  const emptyPages = emptyPagesOf(read.pages);
  const content = [
    { type: 'text' as const, text: emptyPages.length === 0 ? text : `${noteOf(emptyPages)}\n\n${text}` },
  ];
  return { content, pages: read.pages.length, isCut: read.isCut, emptyPages };
}

async function readByOcr(
  { path, name }: PdfPart,
  bytes: Uint8Array,
  settings: Settings,
  { hold }: PluginContext,
  { signal }: WorkTime,
): Promise<Read> {
  const { maxPages, maxChars } = settings;
  const ocr = ocrOf(settings);
  const expense = await hold(ocr.nanoUsdPerPage * maxPages);
  const { content, pages } = await ocr.read({ bytes, name, maxPages, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new GatewayError('upstream_failed', `${path}: the OCR service could not read the PDF`, { cause: error });
  });
  const nanoUsd = ocr.nanoUsdPerPage * pages;
  expense.settle(nanoUsd);
  let left = maxChars;
  const bounded = content.map((part) => {
    if (part.type !== 'text') return part;
    const text = part.text.slice(0, left);
    left -= part.text.length;
    return { ...part, text };
  });
  return { content: bounded, pages, isCut: left < 0, emptyPages: [], nanoUsd };
}

/** Returns the request with texts in the place of the files. */
function withTexts(
  request: ChatRequest,
  native: Native | null,
  pdfs: readonly PdfPart[],
  parsed: readonly Parsed[],
): Revised {
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
  const read = { ...request, messages };
  return native === null ? read : { request: read, native: withoutFiles(native, changed, messages) };
}

/** Makes the parts of a file. Name and borders tell the model where the file ends. */
function partsOf({ name, content }: Parsed): ContentPart[] {
  const label = JSON.stringify(name);
  return [{ type: 'text', text: `<file name=${label}>\n` }, ...content, { type: 'text', text: '\n</file>' }];
}

/**
 * Returns the native request in which messages with texts in the place of files are sent as they stand. A tool's PDF is
 * text now: any model may read it.
 */
function withoutFiles(native: Native, changed: ReadonlySet<number>, messages: readonly ChatMessage[]): Native {
  const items = native.items.map((own, at) => (changed.has(at) ? null : own));
  const hasFile = messages.some(
    ({ role, content }) => role === 'tool' && Array.isArray(content) && content.some(({ type }) => type === 'file'),
  );
  const toolMedia = hasFile ? native.toolMedia : native.toolMedia.filter(({ modality }) => modality !== 'file');
  return { ...native, items, toolMedia };
}

function stageOf(engine: string, parsed: readonly Parsed[], summary: string): PipelineStage {
  // The hash identifies the file: a guardrail may take the name out of the annotations of the response.
  const files = parsed.map(({ hash, pages, isCut, emptyPages, content }) => ({
    hash,
    pages,
    chars: content.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0),
    ...(isCut ? { is_cut: true } : {}),
    ...(emptyPages.length === 0 ? {} : { pages_without_text: namedPages(emptyPages) }),
  }));
  const paid = parsed.flatMap(({ nanoUsd }) => nanoUsd ?? []);
  const cost = paid.length === 0 ? {} : { cost_usd: nanoToUsd(paid.reduce((sum, one) => sum + one, 0)) };
  return { type: 'plugin', name: 'file-parser', summary, data: { engine, files }, ...cost };
}

function summaryOf(parsed: readonly Parsed[]): string {
  const read = parsed.filter(({ pages }) => pages !== null).length;
  const known = parsed.length - read;
  const summary = known === 0 ? `${read} PDFs read` : `${read} PDFs read, ${known} known from annotations`;
  const gaps = parsed.filter(({ emptyPages }) => emptyPages.length > 0);
  const named = gaps.map(({ name, emptyPages }) => `${cleanName(name, 80)}: ${holdNoText(emptyPages)}`);
  return [summary, ...named.slice(0, 3), ...(named.length > 3 ? ['…'] : [])].join('; ');
}

function invalid(path: string, message: string): GatewayError {
  return refusal('invalid_request', [{ path, message }]);
}

function tooSlow(timeoutMs: number): GatewayError {
  return new GatewayError('invalid_request', `The PDFs of the request took longer than ${timeoutMs} ms to read`);
}
