import type { Clock } from '../base/clock.ts';
import { GatewayError } from '../base/errors.ts';
import { issueText } from '../base/refusal.ts';
import type { Model } from '../call/model.ts';
import { type StoreLogger, writeLog } from '../stores/storage/logger.ts';

/** The document cannot be read or used. Says what is wrong and where, and quotes no value of the document. */
export class CatalogError extends GatewayError {
  /** Every mistake in the document. */
  readonly issues: readonly { path: string; message: string }[];

  constructor(issues: readonly { path: string; message: string }[], cause?: unknown) {
    super('unavailable', `catalog: ${issues.map(issueText).join('; ')}`, { metadata: { issues }, cause });
    this.name = 'CatalogError';
    this.issues = issues;
  }
}

/** The result of one read. */
export interface DocumentRead {
  value: unknown;
  /** Called once the document is used. A later read compares with this one to return `unchanged`. */
  accepted?(): void;
}

/**
 * Reads the document.
 * @param signal  aborted when nobody waits for the document any more
 * @returns `unchanged`: the document is the one that was accepted last
 * @throws CatalogError, or any error of the host app's own function
 */
export type DocumentReader = (signal: AbortSignal) => Promise<DocumentRead | 'unchanged'>;

export interface DocumentOptions {
  read: DocumentReader;
  /** @throws CatalogError naming every mistake */
  parse: (value: unknown) => readonly Model[];
  refreshMs: number;
  timeoutMs: number;
  clock: Clock;
  logger: StoreLogger | null;
}

/** A list of models that is kept elsewhere and read again from time to time. The last good copy is kept. */
export interface CatalogDocument {
  /** null: the document was never read. */
  models(): readonly Model[] | null;
  /** Begins to read the document if a read is due. Does not wait, and sets no timer. */
  refreshIfDue(): void;
  /** The current read, as long as no read has succeeded; null otherwise. Never rejects. */
  firstRead(): Promise<void> | null;
  /** true: a read failed. A request that can work without the document then need not wait for another read. */
  hasFailed(): boolean;
  /** Reads the document now. @throws CatalogError; the last good copy then stays */
  refresh(): Promise<void>;
  /** The error for models that only the document may name, while the document is not known. */
  unavailable(): GatewayError;
  /** Cancels the current read. */
  close(): void;
}

/** The pause after a failed read. */
const retryMs = 5_000;

/** The number of different mistakes that are logged between two good copies. */
const maxReported = 100;

export function createDocument(options: DocumentOptions): CatalogDocument {
  const { read, parse, refreshMs, timeoutMs, clock, logger } = options;
  let models: readonly Model[] | null = null;
  let dueMs = Number.NEGATIVE_INFINITY;
  let failed = false;
  let reading: { done: Promise<void>; controller: AbortController } | null = null;
  const reported = new Set<string>();

  const start = (): Promise<void> => {
    if (reading) return reading.done;
    const controller = new AbortController();
    const done = load(controller).finally(() => {
      reading = null;
    });
    reading = { done, controller };
    // A caller that waits gets the error as well. A read in the background has no such caller.
    done.catch(() => undefined);
    return done;
  };

  async function load(controller: AbortController): Promise<void> {
    const stopTimer = clock.after(timeoutMs, () =>
      controller.abort(new CatalogError([{ path: '', message: `was not read within ${timeoutMs} ms` }])),
    );
    try {
      const found = await untilAborted(read, controller.signal);
      if (found !== 'unchanged') {
        models = parse(found.value);
        found.accepted?.();
      }
      dueMs = clock.monotonic() + refreshMs;
      if (reported.size > 0)
        writeLog(logger, 'info', { models: models?.length }, 'the catalogue document is good again');
      reported.clear();
    } catch (error) {
      failed = true;
      dueMs = clock.monotonic() + Math.min(refreshMs, retryMs);
      const mistake = asCatalogError(error);
      complain(mistake);
      throw mistake;
    } finally {
      stopTimer();
    }
  }

  function complain(mistake: CatalogError): void {
    if (reported.has(mistake.message)) return;
    if (reported.size >= maxReported) reported.clear();
    reported.add(mistake.message);
    const fields = mistake.cause === undefined ? {} : { err: mistake.cause };
    const text = models === null ? 'the catalogue document cannot be used' : 'the last good catalogue document stays';
    writeLog(logger, 'warn', { issues: mistake.issues, ...fields }, text);
  }

  return {
    models: () => models,
    refreshIfDue() {
      if (clock.monotonic() >= dueMs && reading === null) void start();
    },
    firstRead() {
      return models === null && reading ? reading.done.catch(() => undefined) : null;
    },
    hasFailed: () => failed,
    async refresh() {
      // The current read may have begun before the change that the caller wants to see.
      await reading?.done.catch(() => undefined);
      await start();
    },
    unavailable: () =>
      new GatewayError('unavailable', 'The list of models could not be read. Try again.', {
        retryAfterMs: Math.max(dueMs - clock.monotonic(), 1_000),
      }),
    close: () => reading?.controller.abort(new CatalogError([{ path: '', message: 'the gateway was closed' }])),
  };
}

/** A read that ignores the signal is not waited for. Its late result is thrown away. */
function untilAborted(read: DocumentReader, signal: AbortSignal): Promise<DocumentRead | 'unchanged'> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    Promise.resolve()
      .then(() => read(signal))
      .then(resolve, reject);
  });
}

function asCatalogError(error: unknown): CatalogError {
  if (error instanceof CatalogError) return error;
  return new CatalogError([{ path: '', message: 'its source failed' }], error);
}
