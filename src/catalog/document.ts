import type { Clock } from '../base/clock.ts';
import { GatewayError } from '../base/errors.ts';
import type { Model } from '../call/model.ts';
import { type StoreLogger, tell } from '../stores/storage/logger.ts';

/** A document that cannot be read or used: what is wrong, and where. Holds no value of it. */
export class CatalogError extends Error {
  readonly issues: readonly { path: string; message: string }[];

  constructor(issues: readonly { path: string; message: string }[], cause?: unknown) {
    const text = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
    super(`catalog: ${text}`, cause === undefined ? undefined : { cause });
    this.name = 'CatalogError';
    this.issues = issues;
  }
}

/** What was read from where the document is. */
export interface DocumentRead {
  value: unknown;
  /** Called when it is used from now on: `unchanged` is measured by it. */
  accepted?(): void;
}

/**
 * Reads the document.
 * @param signal  aborted when nobody waits for it any more
 * @returns `unchanged`: it is the one that was accepted last
 * @throws CatalogError, or whatever a host app's own function throws
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

/** A list of models that is kept elsewhere and read again from time to time; the last good copy is kept. */
export interface CatalogDocument {
  /** null: it was never read. */
  models(): readonly Model[] | null;
  /** Begins to read it where that is due. Waits for nothing, and sets no timer of its own. */
  refreshIfDue(nowMs: number): void;
  /** The reading in flight, while it was never read; null otherwise. Never rejects. */
  firstRead(): Promise<void> | null;
  /** Whether a reading failed, so that who can do without it need not wait for another. */
  hasFailed(): boolean;
  /** Reads it now. @throws CatalogError; the last good copy then stays */
  refresh(): Promise<void>;
  /** Why nothing is known of models that only it may name. */
  unavailable(): GatewayError;
  /** Gives up a reading that is in flight. */
  close(): void;
}

/** How long a document that could not be read is left alone. */
const retryMs = 5_000;

/** Different mistakes that are told, between two good copies. */
const maxTold = 100;

export function createDocument(options: DocumentOptions): CatalogDocument {
  const { read, parse, refreshMs, timeoutMs, clock, logger } = options;
  let models: readonly Model[] | null = null;
  let dueMs = Number.NEGATIVE_INFINITY;
  let failed = false;
  let reading: { done: Promise<void>; controller: AbortController } | null = null;
  const told = new Set<string>();

  const start = (): Promise<void> => {
    if (reading) return reading.done;
    const controller = new AbortController();
    const done = load(controller).finally(() => {
      reading = null;
    });
    reading = { done, controller };
    // Whoever waits is told as well; a reading in the background has nobody.
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
      dueMs = clock.now() + refreshMs;
      if (told.size > 0) tell(logger, 'info', { models: models?.length }, 'the catalogue document is good again');
      told.clear();
    } catch (error) {
      failed = true;
      dueMs = clock.now() + Math.min(refreshMs, retryMs);
      const mistake = asCatalogError(error);
      complain(mistake);
      throw mistake;
    } finally {
      stopTimer();
    }
  }

  function complain(mistake: CatalogError): void {
    if (told.has(mistake.message)) return;
    if (told.size >= maxTold) told.clear();
    told.add(mistake.message);
    const fields = mistake.cause === undefined ? {} : { err: mistake.cause };
    const text = models === null ? 'the catalogue document cannot be used' : 'the last good catalogue document stays';
    tell(logger, 'warn', { issues: mistake.issues, ...fields }, text);
  }

  return {
    models: () => models,
    refreshIfDue(nowMs) {
      if (nowMs >= dueMs && reading === null) void start();
    },
    firstRead() {
      return models === null && reading ? reading.done.catch(() => undefined) : null;
    },
    hasFailed: () => failed,
    async refresh() {
      // What is in flight may have been read before the change that is asked for.
      await reading?.done.catch(() => undefined);
      await start();
    },
    unavailable: () =>
      new GatewayError('unavailable', 'The list of models could not be read. Try again.', {
        retryAfterMs: Math.max(dueMs - clock.now(), 1_000),
      }),
    close: () => reading?.controller.abort(new CatalogError([{ path: '', message: 'the gateway was closed' }])),
  };
}

/** What ignores the signal, and comes too late, is thrown away. */
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
