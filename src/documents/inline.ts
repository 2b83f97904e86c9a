import type { HtmlReader } from './html.ts';
import { readHtml } from './html-text.ts';
import type { PdfReader } from './pdf.ts';
import { readPdf } from './pdf-text.ts';

/** The readers of runtimes without worker threads, which bound the time of a request by themselves. */
export const pdfReader: PdfReader = {
  async read(bytes, limits, signal) {
    signal.throwIfAborted();
    const text = await readPdf(bytes, limits, () => signal.aborted);
    signal.throwIfAborted();
    return text;
  },
};

export const htmlReader: HtmlReader = {
  async read(page, signal) {
    signal.throwIfAborted();
    const text = await readHtml(page);
    signal.throwIfAborted();
    return text;
  },
};
