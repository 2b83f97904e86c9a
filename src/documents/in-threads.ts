import { Worker } from 'node:worker_threads';
import type { HtmlReader } from './html.ts';
import { defaultMemoryBytes, type PdfReader, tooCostlyCode } from './pdf.ts';
import type { Work } from './thread.ts';
import { type Turn, turns } from './turns.ts';

/**
 * The most threads that read at a time. Each is busy all the time, and the process must serve other requests beside
 * them.
 */
const mostThreads = 2;

/** The file of the thread. Its ending is that of this file: `.ts` in the sources, `.js` in the built package. */
const thread = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './document-thread.js', import.meta.url);

/** A workspace never has all threads, so its slow documents leave one to the others. */
const inTurn = turns({ running: mostThreads, runningOfWorkspace: mostThreads - 1 });

/** Reads each PDF in a thread of its own, which a hostile file cannot outlive: other requests are served meanwhile. */
export const pdfReader: PdfReader = {
  read: (bytes, limits, signal, turn) =>
    readInTurn({ kind: 'pdf', bytes, limits, memoryBytes: limits.memoryBytes ?? defaultMemoryBytes }, signal, turn),
};

/** Reads each page in a thread of its own, for the same reason. */
export const htmlReader: HtmlReader = {
  read: (page, signal, turn) => readInTurn({ kind: 'html', page, memoryBytes: defaultMemoryBytes }, signal, turn),
};

/** The time between two checks of a thread's heap. In this time, the heap grows by at most some 50 MB. */
const watchMs = 20;
/**
 * A thread is stopped when its heap has this many times the memory for its objects: a heap also contains unused
 * objects.
 */
const heapLimit = 2;
const hardLimit = 6;

/** The heap of a thread in bytes; 0 where the runtime does not tell it. A thread responds also while it is busy. */
async function heapOf(worker: Worker): Promise<number> {
  return (await worker.getHeapStatistics?.())?.used_heap_size ?? 0;
}

/** Ignores the error of a thread that has ended, or has not begun. */
function ignore(): void {}

function readInTurn<Text>(
  work: Work,
  signal: AbortSignal,
  turn: Turn = { workspaceId: '' },
): Promise<Text | 'unreadable' | 'too_costly'> {
  return inTurn(turn, signal, () => readInThread<Text>(work, signal));
}

function readInThread<Text>(work: Work, signal: AbortSignal): Promise<Text | 'unreadable' | 'too_costly'> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(thread, {
      workerData: work,
      // The limit of objects and texts. The thread itself limits its arrays, which are not among them. At this limit V8
      // may end the whole process, where one allocation passes it: the thread is stopped long before.
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil((hardLimit * work.memoryBytes) / (1024 * 1024)) },
      // A parser needs neither the environment nor the output of the process.
      env: {},
      stdout: true,
      stderr: true,
    });
    let isAsking = false;
    const watching = setInterval(() => {
      // A thread that inflates responds later.
      if (isAsking) return;
      isAsking = true;
      heapOf(worker)
        .then((bytes) => {
          if (bytes <= heapLimit * work.memoryBytes) return;
          end();
          resolve('too_costly');
        })
        // A thread that has not begun yet does not tell its heap, and is asked again.
        .catch(ignore)
        .finally(() => {
          isAsking = false;
        });
    }, watchMs);
    watching.unref?.();
    const end = () => {
      clearInterval(watching);
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
    worker.once('exit', (code) => {
      end();
      resolve(code === tooCostlyCode ? 'too_costly' : 'unreadable');
    });
  });
}
