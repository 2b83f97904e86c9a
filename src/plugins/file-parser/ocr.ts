import * as z from 'zod';
import { toBase64 } from '../../base/base64.ts';
import { joinUrl } from '../../base/http/base-url.ts';
import { bearerHeader, requestJson } from '../../base/http/request-json.ts';
import { lazily } from '../../base/lazily.ts';
import { isObject } from '../../base/values.ts';
import { checkedHostObject, field } from '../../schema/host-object.ts';
import type { FileContent } from './annotations.ts';

/** Reads files whose text is in pictures, such as scans. */
export interface OcrEngine {
  /** The highest price of a page, integer nano-USD: it is held for each page that a file may have. */
  nanoUsdPerPage: number;
  /**
   * Reads a PDF.
   * @param maxPages  further pages are left out
   * @param signal    aborted when the client leaves, and at the plugin's time limit
   * @throws any error: the caller gets 502, which does not show it
   */
  read(file: { bytes: Uint8Array; name: string; maxPages: number; signal: AbortSignal }): Promise<OcrResult>;
}

export interface OcrResult {
  /** The text, and pictures as data URLs. */
  content: FileContent;
  /** The number of pages that were read, and have to be paid for. */
  pages: number;
}

/** Options of `mistralOcr`. */
export interface MistralOcrOptions {
  /** The key of the account at Mistral. */
  apiKey: string;
  /** The address of the service. Default `https://api.mistral.ai/v1`. */
  baseUrl?: string | undefined;
  /** The model. Default `mistral-ocr-latest`. */
  model?: string | undefined;
  /** The price of a page, integer nano-USD. Default 2,000,000: 2 USD per thousand pages. */
  nanoUsdPerPage?: number | undefined;
  /** The most bytes of a response. Default 64 MiB. */
  maxResponseBytes?: number | undefined;
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

/** The most pictures of a document. Few documents have more, and each is an image of the prompt. */
const mostImages = 8;

const shape = lazily(() => ({
  // Without a key, the service itself refuses.
  apiKey: z.string(),
  baseUrl: field.text().optional(),
  model: field.text().optional(),
  nanoUsdPerPage: field.count().optional(),
  maxResponseBytes: field.count(1).optional(),
  fetch: field.fn().optional(),
}));

/**
 * The OCR service of Mistral.
 * @see https://docs.mistral.ai/api/#tag/ocr
 */
export function mistralOcr(options: MistralOcrOptions): OcrEngine {
  checkedHostObject('mistralOcr', options, shape);
  const { apiKey, baseUrl = 'https://api.mistral.ai/v1', model = 'mistral-ocr-latest' } = options;
  const { nanoUsdPerPage = 2_000_000, maxResponseBytes = 64 * 1024 * 1024 } = options;
  return {
    nanoUsdPerPage,
    async read({ bytes, name, maxPages, signal }) {
      const body = {
        model,
        document: {
          type: 'document_url',
          document_url: `data:application/pdf;base64,${toBase64(bytes)}`,
          document_name: name,
        },
        pages: Array.from({ length: maxPages }, (_, page) => page),
        include_image_base64: true,
        image_limit: mostImages,
      };
      const url = joinUrl(baseUrl, '/ocr');
      return resultOf(
        await requestJson({
          url,
          headers: bearerHeader(apiKey),
          body,
          maxBytes: maxResponseBytes,
          signal,
          fetch: options.fetch,
        }),
      );
    },
  };
}

function resultOf(body: unknown): OcrResult {
  const pages = isObject(body) && Array.isArray(body.pages) ? body.pages.filter(isObject) : null;
  if (pages === null) throw new Error('The OCR service answered without pages');
  const text = pages.map(({ markdown }) => (typeof markdown === 'string' ? markdown : '')).join('\n\n');
  const images = pages
    .flatMap(({ images: of }) => (Array.isArray(of) ? of.filter(isObject) : []))
    .map(({ image_base64: url }) => url)
    .filter((url): url is string => typeof url === 'string' && /^data:image\//i.test(url))
    .slice(0, mostImages);
  const usage = isObject(body) && isObject(body.usage_info) ? body.usage_info.pages_processed : undefined;
  return {
    content: [{ type: 'text', text }, ...images.map((url) => ({ type: 'image_url' as const, image_url: { url } }))],
    pages: Number.isSafeInteger(usage) ? (usage as number) : pages.length,
  };
}
