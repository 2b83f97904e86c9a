import type { Env } from './config.ts';

/** The command's interface to its process. */
export interface Terminal {
  /** Without the names of the runtime and the script. */
  args: readonly string[];
  /** The current folder. */
  folder: string;
  env: Env;
  print(text: string): void;
  printError(text: string): void;
  /** Prints a question, and reads one line; '' at the end of the input. */
  ask(question: string): Promise<string>;
  /** Calls back for each SIGTERM and SIGINT. */
  onStop(callback: () => void): void;
  /** Milliseconds of a clock that is never set back. */
  nowMs(): number;
}
