import process from 'node:process';
import { startCollecting, stopCollecting } from './collector.ts';

/** The parent's side of a question; see `processes.ts`. */
export interface Question {
  id: number;
  command: string;
  argument?: unknown;
}

export type Answer = { id: number; value: unknown } | { id: number; error: string };

/** What a measured process can be asked; a command that fails answers with its message. */
export type Commands = Record<string, (argument: never) => unknown>;

/** Answers the parent's questions over the IPC channel, and ends with it. */
export function answerParent(commands: Commands): void {
  process.on('message', (question: Question) => void answer(commands, question));
  process.on('disconnect', () => process.exit());
}

async function answer(commands: Commands, { id, command, argument }: Question): Promise<void> {
  try {
    const run = commands[command];
    if (!run) throw new Error(`unknown command ${command}`);
    say({ id, value: await run(argument as never) });
  } catch (error) {
    say({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

function say(answered: Answer): void {
  process.send?.(answered);
}

/** Memory at rest, after garbage collection, which needs `--expose-gc`. Bytes. */
export interface Memory {
  /** What the process occupies once the engine has given back the pages it keeps for new objects. */
  rss: number;
  /** Before it does so. */
  rssWithReserve: number;
  /** Objects and buffers of JavaScript. */
  heap: number;
}

/** Commands every measured server answers. */
export const measuring = {
  /** CPU the process has used, all threads, user and system, in microseconds. */
  cpu(): number {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  async memory(): Promise<Memory> {
    // The first collection finalises what the second frees.
    await collect('regular');
    await collect('regular');
    const rssWithReserve = process.memoryUsage.rss();
    await collect('last-resort');
    const { rss, heapUsed, external } = process.memoryUsage();
    return { rss, rssWithReserve, heap: heapUsed + external };
  },
  startCollecting,
  stopCollecting,
} satisfies Commands;

async function collect(flavor: 'regular' | 'last-resort'): Promise<void> {
  await globalThis.gc?.({ type: 'major', execution: 'async', flavor });
}
