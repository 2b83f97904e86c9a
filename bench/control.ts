import process from 'node:process';
import { startCollecting, stopCollecting } from './collector.ts';

/** A question of the parent process; see `processes.ts`. */
export interface Question {
  id: number;
  command: string;
  argument?: unknown;
}

export type Reply = { id: number; value: unknown } | { id: number; error: string };

/** The commands of a measured process. When a command fails, the reply holds the error's message. */
export type Commands = Record<string, (argument: never) => unknown>;

/** Replies to the parent's questions over the IPC channel. The process exits when the channel closes. */
export function serveParent(commands: Commands): void {
  process.on('message', (question: Question) => void reply(commands, question));
  process.on('disconnect', () => process.exit());
}

async function reply(commands: Commands, { id, command, argument }: Question): Promise<void> {
  try {
    const run = commands[command];
    if (!run) throw new Error(`unknown command ${command}`);
    send({ id, value: await run(argument as never) });
  } catch (error) {
    send({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

function send(message: Reply): void {
  process.send?.(message);
}

/** Memory of an idle process after garbage collection, in bytes. Needs `--expose-gc`. */
export interface Memory {
  /** Resident memory after the engine has returned the pages that it reserves for new objects. */
  rss: number;
  /** Resident memory before that. */
  rssWithReserve: number;
  /** JavaScript objects and buffers. */
  heap: number;
}

/** The commands of every measured process. */
export const measuring = {
  /** CPU time of the process so far: all threads, user and system, in microseconds. */
  cpu(): number {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  async memory(): Promise<Memory> {
    // The first collection runs finalizers; the second frees the finalized objects.
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
