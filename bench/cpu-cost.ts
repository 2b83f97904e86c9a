import process from 'node:process';
import { median } from './statistics.ts';

/** CPU of something that was repeated, in microseconds. Other processes on the machine can only make a round slower. */
export interface Cost {
  /** Median of the rounds. */
  medianUs: number;
  bestUs: number;
}

export interface Repetition {
  rounds: number;
  /** How often each task runs in a round. */
  perRound: number;
  /** The cost is of one of the parts that a task consists of. Default: of the complete task. */
  parts?: number;
}

/** Measures tasks that do not wait. They take turns, so that V8 does not optimise the code for one of them only. */
export function costsOf<Name extends string>(
  tasks: Readonly<Record<Name, () => void>>,
  { rounds, perRound, parts = 1 }: Repetition,
): Record<Name, Cost> {
  const names = Object.keys(tasks) as Name[];
  const us = new Map(names.map((name) => [name, [] as number[]]));
  // The rounds below 0 are a warm-up.
  for (let round = -rounds; round < rounds; round++) {
    for (const [name, costs] of us) {
      const task = tasks[name];
      const start = process.cpuUsage();
      for (let done = 0; done < perRound; done++) task();
      const { user, system } = process.cpuUsage(start);
      if (round >= 0) costs.push((user + system) / perRound / parts);
    }
  }
  const cost = (costs: readonly number[]): Cost => ({ medianUs: median(costs), bestUs: Math.min(...costs) });
  return Object.fromEntries([...us].map(([name, costs]) => [name, cost(costs)])) as Record<Name, Cost>;
}

/** The columns of a table of costs. */
export const costHead = ['', 'median µs', 'best round'];

export function costRow(title: string, { medianUs, bestUs }: Cost, digits: number): string[] {
  return [title, medianUs.toFixed(digits), bestUs.toFixed(digits)];
}
