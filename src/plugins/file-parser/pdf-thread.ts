import { parentPort, workerData } from 'node:worker_threads';
import type { PdfLimits } from './pdf.ts';
import { readPdf } from './pdf-text.ts';

/** The thread that reads one PDF. */
const { bytes, limits } = workerData as { bytes: Uint8Array; limits: PdfLimits };
parentPort?.postMessage(await readPdf(bytes, limits));
