import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import type { HtmlReader } from './html.ts';
import type { PdfReader } from './pdf.ts';
import type { Work } from './thread.ts';

/** A document may inflate to any size: a thread that needs more memory than this ends, and nothing else with it. */
const heapMb = 512;
/** How many threads read at a time. Each is busy all the time, and others are to be served beside it. */
const mostThreads = 2;

/** The thread's file has the ending that this file has: of the sources, or of the built package. */
const thread = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './document-thread.js', import.meta.url);

const inTurn = pLimit(mostThreads);

/** Reads each PDF in a thread of its own, which a hostile file cannot outlive: other requests are served meanwhile. */
export const pdfReader: PdfReader = {
  read: (bytes, limits, signal) => readInTurn({ kind: 'pdf', bytes, limits }, signal),
};

/** Reads each page in a thread of its own, for the same reason. */
export const htmlReader: HtmlReader = {
  read: (page, signal) => readInTurn({ kind: 'html', page }, signal),
};

function readInTurn<Text>(work: Work, signal: AbortSignal): Promise<Text | 'unreadable' | 'too_costly'> {
  return inTurn(() => {
    signal.throwIfAborted();
    return readInThread<Text>(work, signal);
  });
}

function readInThread<Text>(work: Work, signal: AbortSignal): Promise<Text | 'unreadable' | 'too_costly'> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(thread, {
      workerData: work,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
      // Of the environment and the output of the process, a parser needs nothing.
      env: {},
      stdout: true,
      stderr: true,
    });
    const end = () => {
      signal.removeEventListener('abort', onAbort);
      void worker.terminate();
    };
    const onAbort = () => {
      end();
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    worker.once('message', (text: Text | 'unreadable') => {
      end();
      resolve(text);
    });
    worker.once('error', (error: NodeJS.ErrnoException) => {
      end();
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve('too_costly');
      else reject(error);
    });
    worker.once('exit', () => {
      end();
      resolve('unreadable');
    });
  });
}
