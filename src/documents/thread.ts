import { parentPort, workerData } from 'node:worker_threads';
import type { HtmlPage } from './html.ts';
import { readHtml } from './html-text.ts';
import type { PdfLimits } from './pdf.ts';
import { readPdf } from './pdf-text.ts';

/** What a thread reads: one document. */
export type Work = { kind: 'pdf'; bytes: Uint8Array; limits: PdfLimits } | { kind: 'html'; page: HtmlPage };

const work = workerData as Work;
parentPort?.postMessage(work.kind === 'pdf' ? await readPdf(work.bytes, work.limits) : await readHtml(work.page));
