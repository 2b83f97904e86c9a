import type { PairQuestion, PairRate } from './measure-ledger.ts';
import { startWorker, type Worker } from './processes.ts';
import type { Place, StoreName } from './stores.ts';
import { rotated } from './throughput.ts';

/** Results of one ledger, one value per round. */
export interface LedgerRounds {
  /** Pairs of a hold and its settlement per second. */
  perSecond: number[];
  /** CPU of our process per pair, in microseconds. */
  cpuUs: number[];
}

export interface LedgerContest extends PairQuestion {
  rounds: number;
}

export type LedgerFindings = Partial<Record<StoreName, LedgerRounds>>;

/**
 * Measures holds and settlements; the stores take turns.
 * @throws Error when a ledger's final amounts differ from the settlements
 */
export async function compareLedgers(
  places: readonly Place[],
  { rounds, ...question }: LedgerContest,
): Promise<LedgerFindings> {
  const workers: [StoreName, Worker][] = [];
  const found: LedgerFindings = {};
  try {
    for (const place of places) {
      const worker = await startWorker('measure-ledger.ts', 'under-test', [JSON.stringify(place)]);
      workers.push([place.kind, worker]);
      // Warm-up: V8 compiles the code during the first thousands of calls.
      await worker.ask('round', { ...question, durationMs: 1000 });
      found[place.kind] = { perSecond: [], cpuUs: [] };
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, worker] of rotated(workers, round)) {
        const startUs = await worker.ask<number>('cpu');
        const { pairs, elapsedMs } = await worker.ask<PairRate>('round', question);
        found[name]?.perSecond.push((pairs / elapsedMs) * 1000);
        found[name]?.cpuUs.push(((await worker.ask<number>('cpu')) - startUs) / pairs);
      }
    }
    for (const [, worker] of workers) {
      await worker.ask('audit');
      await worker.ask('close');
    }
    return found;
  } finally {
    for (const [, worker] of workers) await worker.stop();
  }
}
