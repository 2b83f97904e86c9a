/** A worker process, as its supervisor sees it. */
export interface WorkerProcess {
  /** Calls back once, when the worker serves this address. */
  onReady(callback: (url: string) => void): void;
  /** Calls back once, when the process has ended, with its exit code or the signal that ended it. */
  onExit(callback: (reason: string) => void): void;
  /** Takes no further requests, and ends when its open streams have. @param drainMs  after it they are cut; null: never */
  stop(drainMs: number | null): void;
}

export interface SupervisorOptions {
  /** The number of workers that serve at the same time. */
  count: number;
  /** Starts a worker. */
  fork(): WorkerProcess;
  /** Milliseconds of a clock that is never set back. */
  nowMs(): number;
  /** Runs the callback once, after so many milliseconds, unless the returned function is called first. */
  after(ms: number, callback: () => void): () => void;
  /** The time that a stop waits for open streams. */
  drainMs: number;
  /** Takes one line for the person at the terminal. */
  report(line: string): void;
}

/** A worker that ended by itself is replaced after this time, which doubles while workers end soon after their start. */
const firstDelayMs = 100;
/** The longest such time. A worker that served for longer did not end soon. */
const longestDelayMs = 30_000;

/**
 * Keeps a number of workers running. A worker that ends by itself is replaced. `restart` replaces all of them, one after
 * another: each goes only after its successor serves, and lets its open streams finish.
 */
export class Supervisor {
  /** Resolves when the supervisor was stopped, and the last worker has ended. */
  readonly ended: Promise<void>;
  readonly #options: SupervisorOptions;
  /** The workers that serve or start. A worker that was asked to stop is not among them. */
  readonly #serving = new Set<WorkerProcess>();
  /** The workers whose process has not ended. */
  readonly #running = new Set<WorkerProcess>();
  readonly #cancelDelays = new Set<() => void>();
  #isStopping = false;
  /** Workers that ended soon after their start, one after another. */
  #failures = 0;
  /** The state of a rolling restart; `again`: another one was requested meanwhile. */
  #restarting: 'no' | 'once' | 'again' = 'no';
  #end: () => void = () => {};

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /**
   * Starts the workers.
   * @returns the address that they serve
   * @throws Error when a worker ends before it serves; the others have then been stopped, and have ended
   */
  async start(): Promise<string> {
    const started = Array.from({ length: this.#options.count }, () => this.#fork());
    const outcomes = await Promise.all(started.map(({ outcome }) => outcome));
    const failed = outcomes.find((outcome) => 'reason' in outcome);
    if (failed !== undefined) {
      this.stop();
      await this.ended;
      throw new Error(`A worker ended before it served (${failed.reason})`);
    }
    for (const { worker } of started) this.#keep(worker);
    return (outcomes[0] as { url: string }).url;
  }

  /** Replaces every worker. Where a new one does not come to serve, the old ones that are left stay. */
  async restart(): Promise<void> {
    if (this.#isStopping) return;
    if (this.#restarting !== 'no') {
      this.#restarting = 'again';
      return;
    }
    do {
      this.#restarting = 'once';
      await this.#replaceAll();
    } while ((this.#restarting as string) === 'again' && !this.#isStopping);
    this.#restarting = 'no';
  }

  /** Asks all workers to stop. @param drainMs  after it, open streams are cut */
  stop(drainMs = this.#options.drainMs): void {
    this.#isStopping = true;
    for (const cancel of this.#cancelDelays) cancel();
    this.#cancelDelays.clear();
    this.#serving.clear();
    for (const worker of this.#running) worker.stop(drainMs);
    if (this.#running.size === 0) this.#end();
  }

  async #replaceAll(): Promise<void> {
    const { report } = this.#options;
    let replaced = 0;
    for (const old of [...this.#serving]) {
      const { worker, outcome } = this.#fork();
      const result = await outcome;
      if (this.#isStopping) return;
      if ('reason' in result) {
        report(
          `A new worker ended before it served (${result.reason}): ${this.#serving.size} workers go on as they were.`,
        );
        return;
      }
      this.#keep(worker);
      // It may have ended by itself meanwhile, and its own successor is on the way.
      if (this.#serving.delete(old)) old.stop(null);
      replaced++;
    }
    report(`Restarted ${replaced} workers: each old one ends when its open streams have.`);
  }

  /** Starts a worker. It does not count as serving before `#keep`. */
  #fork(): { worker: WorkerProcess; outcome: Promise<{ url: string } | { reason: string }> } {
    const worker = this.#options.fork();
    this.#running.add(worker);
    let readyAtMs = Number.POSITIVE_INFINITY;
    const outcome = new Promise<{ url: string } | { reason: string }>((resolve) => {
      worker.onReady((url) => {
        readyAtMs = this.#options.nowMs();
        resolve({ url });
      });
      worker.onExit((reason) => {
        this.#running.delete(worker);
        if (this.#options.nowMs() - readyAtMs > longestDelayMs) this.#failures = 0;
        resolve({ reason });
        if (this.#serving.delete(worker)) this.#replace(reason);
        if (this.#isStopping && this.#running.size === 0) this.#end();
      });
    });
    return { worker, outcome };
  }

  #keep(worker: WorkerProcess): void {
    if (this.#running.has(worker)) this.#serving.add(worker);
    else this.#replace('it ended right after its start');
  }

  /** A worker has ended, or has not come to serve, though nobody asked it to stop. */
  #replace(reason: string): void {
    if (this.#isStopping) return;
    const delayMs = Math.min(firstDelayMs * 2 ** this.#failures++, longestDelayMs);
    this.#options.report(`A worker ended (${reason}): another one starts in ${delayMs} ms.`);
    const cancel = this.#options.after(delayMs, () => {
      this.#cancelDelays.delete(cancel);
      void this.#startAnother();
    });
    this.#cancelDelays.add(cancel);
  }

  async #startAnother(): Promise<void> {
    const { worker, outcome } = this.#fork();
    const result = await outcome;
    if ('reason' in result) this.#replace(result.reason);
    else if (!this.#isStopping) this.#keep(worker);
  }
}
