import type { Env } from './config.ts';
import type { WorkerProcess } from './supervisor.ts';
import type { Supervised } from './worker-process.ts';

/** The command's interface to its process. */
export interface Terminal {
  /** Without the names of the runtime and the script. */
  args: readonly string[];
  /** The current folder. */
  folder: string;
  env: Env;
  print(text: string): void;
  printError(text: string): void;
  /** true: a person watches the error output, so that what it shows may change. */
  isWatched: boolean;
  /** Prints a question, and reads one line; '' at the end of the input. */
  ask(question: string): Promise<string>;
  /** Calls back for each SIGTERM and SIGINT. */
  onStop(callback: () => void): void;
  /** Calls back for each SIGHUP. Without a callback, SIGHUP ends the process. */
  onReload(callback: () => void): void;
  /** Returns the time, epoch ms. */
  now(): number;
  /** Milliseconds of a clock that is never set back. */
  nowMs(): number;
  /** Runs the callback once, after so many milliseconds, unless the returned function is called first. */
  after(ms: number, callback: () => void): () => void;
  /** The number of processes that can run at the same time. */
  cores: number;
  /**
   * Starts this command once more, as a worker.
   * @param env  beside the variables of this process
   * @param graceMs  how long the worker goes on taking requests when it is to stop
   */
  fork(env: Env, graceMs: number): WorkerProcess;
  /** null: this process is no worker. */
  supervised: Supervised | null;
}
