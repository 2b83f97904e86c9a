import process from 'node:process';

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

/** Memory at rest: after garbage collection, which needs `--expose-gc`. Bytes. */
export interface Memory {
  rss: number;
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
    for (let round = 0; round < 3; round += 1) {
      globalThis.gc?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { rss, heapUsed, external } = process.memoryUsage();
    return { rss, heap: heapUsed + external };
  },
} satisfies Commands;
