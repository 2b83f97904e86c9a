import { nanoToUsd } from '../../src/base/money.ts';
import type { Gateway } from '../../src/gateway.ts';
import type { RequestRecord } from '../../src/telemetry/record.ts';
import { type Played, play, type RaceRequest, raceRequest, wrongRefusal } from './race-requests.ts';

export interface RacePlan {
  /** The keys requests come with. The first has no limit of its own. */
  keys: readonly string[];
  requests: number;
  /** Requests under way at once. */
  width: number;
  seed: number;
}

/** What a gateway said that a request has cost. */
export interface Booked {
  apiKeyHash: string;
  receivedAtMs: number;
  nanoUsd: number;
}

export interface RaceResult {
  seed: number;
  /** How many requests ended with which status; 0: the client has left. */
  statuses: Record<number, number>;
  booked: Booked[];
  /** Attempts that failed and cost something. */
  paidFailures: number;
  /** Requests that were counted here, since no provider did. */
  estimated: number;
  /** What should not have happened. */
  wrong: string[];
}

/** What may come of a request while the store is well: no 500, no 503, and nobody is unknown. */
const expected = new Set([0, 200, 400, 402, 408, 429, 502, 504, 524, 529]);

/** Takes the records of a gateway, and looks at its answers beside them. */
export function raceRecords(seed: number) {
  const result: RaceResult = { seed, statuses: {}, booked: [], paidFailures: 0, estimated: 0, wrong: [] };
  const costs = new Map<string, number>();

  return {
    result,
    onRecord({ id, apiKeyHash, receivedAtMs, costNanoUsd, attempts, isEstimated }: RequestRecord): void {
      if (costNanoUsd === null || apiKeyHash === null) {
        result.wrong.push(`${id} was recorded without cost or key`);
        return;
      }
      costs.set(id, costNanoUsd);
      if (isEstimated) result.estimated++;
      result.paidFailures += attempts.filter((attempt) => attempt.costNanoUsd > 0).length;
      if (costNanoUsd > 0) result.booked.push({ apiKeyHash, receivedAtMs, nanoUsd: costNanoUsd });
    },
    see(request: RaceRequest, played: Played): void {
      const { status, error, costUsd, generationId } = played;
      result.statuses[status] = (result.statuses[status] ?? 0) + 1;
      const note = (what: string) => result.wrong.push(`seed ${request.seed}: ${what}`);
      if (!expected.has(status)) note(`${status} ${JSON.stringify(error)}`);
      if (status === 402) {
        const wrong = wrongRefusal(request, played);
        if (wrong !== null) note(wrong);
      }
      const booked = costs.get(generationId ?? '');
      if (costUsd !== null && (booked === undefined || costUsd !== nanoToUsd(booked))) {
        note(`the client was told ${costUsd} USD, and ${booked} nano-USD were recorded`);
      }
    },
  };
}

/** Plays all requests, so many at once. */
export async function runRace(
  gateway: Gateway,
  { keys, requests, width, seed }: RacePlan,
  { see }: Pick<ReturnType<typeof raceRecords>, 'see'>,
): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < requests) {
      const request = raceRequest(seed + next++, keys.length);
      see(request, await play(gateway, request, keys[request.keyAt] as string));
    }
  };
  await Promise.all(Array.from({ length: width }, work));
}
