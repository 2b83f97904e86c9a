import type { HtmlReader } from './html.ts';
import { readHtml } from './html-text.ts';
import type { PdfReader } from './pdf.ts';
import { readPdf } from './pdf-text.ts';

/** The readers of runtimes without worker threads. Such runtimes limit the time of a request themselves. */
export const pdfReader: PdfReader = {
  async read(bytes, limits, signal, turn) {
    signal.throwIfAborted();
    turn?.onStart?.();
    const text = await readPdf(bytes, limits, () => signal.aborted);
    signal.throwIfAborted();
    return text;
  },
};

/** The longest time in about µs in which no other request is served. */
const mostWork = 40_000;

export const htmlReader: HtmlReader = {
  async read(page, signal, turn) {
    signal.throwIfAborted();
    turn?.onStart?.();
    const text = await readHtml({ ...page, work: Math.min(page.work, mostWork) });
    signal.throwIfAborted();
    return text;
  },
};
