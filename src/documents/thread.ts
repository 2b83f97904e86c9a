import process from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import type { HtmlPage } from './html.ts';
import { readHtml } from './html-text.ts';
import { guardArrays } from './memory-guard.ts';
import { type PdfLimits, tooCostlyCode } from './pdf.ts';
import { readPdf } from './pdf-text.ts';

/** The work of a thread: one document. */
export type Work = { memoryBytes: number } & (
  | { kind: 'pdf'; bytes: Uint8Array; limits: PdfLimits }
  | { kind: 'html'; page: HtmlPage }
);

const work = workerData as Work;
guardArrays(globalThis as unknown as Record<string, unknown>, {
  limitBytes: work.memoryBytes,
  usedBytes: () => process.memoryUsage().arrayBuffers,
  end: () => process.exit(tooCostlyCode),
});
parentPort?.postMessage(work.kind === 'pdf' ? await readPdf(work.bytes, work.limits) : await readHtml(work.page));
