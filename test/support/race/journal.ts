import { openSync, readFileSync, writeSync } from 'node:fs';
import type { Ledger } from '../../../src/stores/ledger/ledger.ts';

/** Notes what a process that may be killed at any moment is about to do, and what has come of it. */
export interface Journal {
  note(...words: readonly (string | number)[]): void;
  /** The same ledger, every step noted before it is taken and after. */
  watched(ledger: Ledger): Ledger;
}

export function openJournal(path: string): Journal {
  // With O_APPEND several processes write to one file, each line whole; what the system has taken survives a kill.
  const file = openSync(path, 'a');
  const note: Journal['note'] = (...words) => void writeSync(file, `${words.join(' ')}\n`);
  return {
    note,
    watched: (ledger) => ({
      ...ledger,
      async hold(request) {
        note('asked', request.id, request.amountNanoUsd);
        const outcome = await ledger.hold(request);
        note(outcome.isHeld ? 'held' : 'refused', request.id);
        return outcome;
      },
      async settle(workspaceId, id, actualNanoUsd) {
        note('settling', id, actualNanoUsd);
        const outcome = await ledger.settle(workspaceId, id, actualNanoUsd);
        note(outcome === 'unknown' ? 'lost' : 'settled', id);
        return outcome;
      },
      async release(workspaceId, id) {
        note('releasing', id);
        const outcome = await ledger.release(workspaceId, id);
        note('released', id);
        return outcome;
      },
      async draw(workspaceId, draw) {
        note('drawing', draw.id);
        const outcome = (await ledger.draw?.(workspaceId, draw)) ?? 'unknown';
        note('held', draw.id);
        return outcome;
      },
    }),
  };
}

/** What the journals say of a hold. */
export interface NotedHold {
  id: string;
  amountNanoUsd: number;
  /** `asked`, `settling`, `releasing` and `drawing`: no answer was seen, so that it may have come to pass or not. */
  status: 'asked' | 'refused' | 'held' | 'settling' | 'settled' | 'lost' | 'releasing' | 'released' | 'drawing';
  actualNanoUsd: number;
}

export interface NotedBooks {
  holds: NotedHold[];
  /** How often a part of a slice was reported. */
  draws: number;
  /** Sum of the costs that the gateways recorded, but for what went through credentials of the workspace. */
  recordedNanoUsd: number;
}

export function readJournal(path: string): NotedBooks {
  const holds = new Map<string, NotedHold>();
  let recordedNanoUsd = 0;
  let draws = 0;
  // A line that was cut is of a step that was not taken.
  for (const line of readFileSync(path, 'utf8').split('\n').slice(0, -1)) {
    const [what, id, amount = '0'] = line.split(' ') as [NotedHold['status'] | 'recorded', string, string?];
    if (what === 'recorded') {
      recordedNanoUsd += Number(amount);
      continue;
    }
    if (what === 'drawing') draws++;
    const hold = holds.get(id) ?? { id, amountNanoUsd: Number(amount), status: what, actualNanoUsd: 0 };
    hold.status = what;
    if (what === 'settling') hold.actualNanoUsd = Number(amount);
    holds.set(id, hold);
  }
  return { holds: [...holds.values()], draws, recordedNanoUsd };
}

/** What may have been booked for a hold once its lease is over, where what is lost is charged. */
export function possibleNanoUsd({ status, amountNanoUsd, actualNanoUsd }: NotedHold): number[] {
  switch (status) {
    case 'refused':
    case 'released':
      return [0];
    case 'settled':
      return [actualNanoUsd];
    case 'settling':
      return [...new Set([actualNanoUsd, amountNanoUsd])];
    case 'held':
      return [amountNanoUsd];
    case 'asked':
    case 'releasing':
      return [0, amountNanoUsd];
    default:
      return [];
  }
}

/** So many sums are looked at, at most; where more is uncertain, the sum has to lie between the least and the most. */
const maxSums = 1_000_000;

/** Whether a sum is made of one of the possible amounts of each hold. */
export function isExplained(sumNanoUsd: number, holds: readonly NotedHold[]): boolean {
  const possible = holds.map(possibleNanoUsd);
  const least = possible.reduce((sum, amounts) => sum + Math.min(...amounts), 0);
  const open = possible
    .filter(({ length }) => length > 1)
    .map((amounts) => Math.max(...amounts) - Math.min(...amounts));
  const beyond = sumNanoUsd - least;
  if (2 ** open.length > maxSums) return beyond >= 0 && beyond <= open.reduce((sum, nanoUsd) => sum + nanoUsd, 0);
  let sums = [0];
  for (const nanoUsd of open) sums = sums.flatMap((sum) => [sum, sum + nanoUsd]);
  return sums.includes(beyond);
}
