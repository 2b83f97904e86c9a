import type { PdfReader } from './pdf.ts';
import { readPdf } from './pdf-text.ts';

/** The reader of runtimes without worker threads, which bound the time of a request by themselves. */
export const pdfReader: PdfReader = {
  async read(bytes, limits, signal) {
    signal.throwIfAborted();
    const text = await readPdf(bytes, limits, () => signal.aborted);
    signal.throwIfAborted();
    return text;
  },
};
