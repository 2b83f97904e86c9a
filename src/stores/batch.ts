import { nextTurn } from '../base/async/next-turn.ts';
import { NotSentError } from './storage/circuit.ts';

export interface BatchOptions<Step, Result> {
  /** Sends the steps as one call, and returns one result for each, in the same order. */
  send(key: string, steps: readonly Step[]): Promise<readonly Result[]>;
  /** The most steps that are sent together. */
  maxSteps: number;
  /** Steps with the same id are not sent together. */
  idOf?(step: Step): string | undefined;
  /**
   * true: one of the steps caused the error, so the others may succeed without it. The call has then changed nothing.
   */
  isOfOneStep?(error: unknown): boolean;
}

interface Waiting<Step, Result> {
  step: Step;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Sends steps together that would otherwise be sent one after the other. Those that come while a step of their key is
 * in flight are sent together when it has its result. No step waits for a timer.
 */
export function batched<Step, Result>(
  options: BatchOptions<Step, Result>,
): (key: string, step: Step) => Promise<Result> {
  const { send, maxSteps, idOf, isOfOneStep = () => false } = options;
  const lines = new Map<string, Waiting<Step, Result>[]>();

  /** Takes the steps from the front of the line that may be sent together. */
  function next(line: Waiting<Step, Result>[], most: number): Waiting<Step, Result>[] {
    if (!idOf || line.length === 1) return line.splice(0, most);
    const ids = new Set<string>();
    let count = 0;
    for (const { step } of line) {
      const id = idOf(step);
      if (count === most || (id !== undefined && ids.has(id))) break;
      if (id !== undefined) ids.add(id);
      count++;
    }
    return line.splice(0, count);
  }

  async function serve(key: string, line: Waiting<Step, Result>[]): Promise<void> {
    lines.set(key, line);
    let alone = 0;
    while (line.length > 0) {
      if (alone === 0) await gathered(line, maxSteps);
      const together = next(line, alone > 0 ? 1 : maxSteps);
      alone = Math.max(0, alone - 1);
      try {
        const results = await send(
          key,
          together.map(({ step }) => step),
        );
        for (const [at, { resolve }] of together.entries()) resolve(results[at] as Result);
      } catch (error) {
        if (together.length > 1 && isOfOneStep(error)) {
          alone = together.length;
          line.unshift(...together);
          continue;
        }
        for (const { reject } of together) reject(error);
        // The steps in the line have waited for the same server. If they were kept, more would come than it can
        // process.
        if (!isOfOneStep(error)) for (const { reject } of line.splice(0)) reject(notSent(error));
      }
    }
    lines.delete(key);
  }

  return (key, step) =>
    new Promise((resolve, reject) => {
      const waiting = { step, resolve, reject };
      const line = lines.get(key);
      if (line) line.push(waiting);
      else void serve(key, [waiting]);
    });
}

function notSent(cause: unknown): NotSentError {
  return new NotSentError(cause instanceof Error ? cause.message : undefined, cause);
}

/** The most turns of the event loop for which a step waits for others. */
const maxTurns = 32;

/**
 * Above this number of waiting steps, further steps are likely. They may come a few turns later: in the first turn, the
 * event loop reads the requests of their clients, and the pipeline needs some turns until it holds money.
 */
const busyFrom = 3;

/** The most turns in a row that may bring no step. After them, the waiting steps are sent. */
const maxEmptyTurns = 6;

/**
 * Waits for a turn of the event loop, and for further turns as long as they bring steps: most of what a call costs the
 * store is the same for one step and for many. Where few requests are in flight, the first turn brings none, and the
 * steps are sent.
 * @param line  where further steps are added meanwhile
 */
export async function gathered(line: ArrayLike<unknown>, maxSteps: number): Promise<void> {
  let emptyTurns = 0;
  for (let turn = 0; turn < maxTurns && line.length < maxSteps; turn++) {
    const before = line.length;
    await nextTurn();
    emptyTurns = line.length === before ? emptyTurns + 1 : 0;
    if (emptyTurns > (line.length < busyFrom ? 0 : maxEmptyTurns)) return;
  }
}
