import { nanoToUsd } from '../../../src/base/money.ts';
import type { Gateway } from '../../../src/gateway.ts';
import type { RequestRecord } from '../../../src/telemetry/record.ts';
import { type Played, play, type RaceRequest, raceRequest, wrongRefusal } from './requests.ts';

export interface RacePlan {
  /** The keys requests come with. The first has no limit of its own. */
  keys: readonly string[];
  /** Which of them count what goes through the workspace's own credential. */
  includesByok: readonly boolean[];
  requests: number;
  /** Requests in flight at once. */
  width: number;
  seed: number;
}

/** What a gateway said that a request has cost. */
export interface Booked {
  apiKeyHash: string;
  receivedAtMs: number;
  /** Through the operator's credentials. */
  nanoUsd: number;
  /** Through the workspace's own. */
  byokNanoUsd: number;
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
  /** Requests that went through the workspace's own credential and cost something. */
  byokBilled: number;
  /** What should not have happened. */
  wrong: string[];
}

/** What may come of a request while the store is well: no 500, no 503, and nobody is unknown. */
const expected = new Set([0, 200, 400, 402, 408, 429, 502, 504, 524, 529]);

/** Through whose credentials a request has cost what. */
export function costsIn({ costNanoUsd, attempts, usage }: RequestRecord) {
  const total = (isByok: boolean) =>
    attempts.reduce((sum, attempt) => sum + (attempt.isByok === isByok ? attempt.costNanoUsd : 0), 0);
  const [failedNanoUsd, failedByokNanoUsd] = [total(false), total(true)];
  const served = (costNanoUsd ?? Number.NaN) - failedNanoUsd - failedByokNanoUsd;
  const isByok = usage?.is_byok === true;
  return {
    nanoUsd: failedNanoUsd + (isByok ? 0 : served),
    byokNanoUsd: failedByokNanoUsd + (isByok ? served : 0),
    failedByokNanoUsd,
    servedNanoUsd: served,
  };
}

/** Takes the records of a gateway, and looks at its answers beside them. */
export function raceRecords(seed: number, includesByok: readonly boolean[] = []) {
  const result: RaceResult = {
    seed,
    statuses: {},
    booked: [],
    paidFailures: 0,
    estimated: 0,
    byokBilled: 0,
    wrong: [],
  };
  const costs = new Map<string, { reportedNanoUsd: number; servedNanoUsd: number }>();

  return {
    result,
    onRecord(record: RequestRecord): void {
      const { id, apiKeyHash, receivedAtMs, costNanoUsd, attempts, isEstimated } = record;
      if (costNanoUsd === null || apiKeyHash === null) {
        result.wrong.push(`${id} was recorded without cost or key`);
        return;
      }
      const { nanoUsd, byokNanoUsd, failedByokNanoUsd, servedNanoUsd } = costsIn(record);
      // What a provider has put on the workspace's own bill for nothing is none of ours.
      costs.set(id, { reportedNanoUsd: costNanoUsd - failedByokNanoUsd, servedNanoUsd });
      if (isEstimated) result.estimated++;
      result.paidFailures += attempts.filter((attempt) => attempt.costNanoUsd > 0).length;
      if (byokNanoUsd > 0) result.byokBilled++;
      if (costNanoUsd > 0) result.booked.push({ apiKeyHash, receivedAtMs, nanoUsd, byokNanoUsd });
    },
    see(request: RaceRequest, played: Played): void {
      const { status, error, costUsd, generationId } = played;
      result.statuses[status] = (result.statuses[status] ?? 0) + 1;
      const note = (what: string) => result.wrong.push(`seed ${request.seed}: ${what}`);
      if (!expected.has(status)) note(`${status} ${JSON.stringify(error)}`);
      if (status === 402) {
        const wrong = wrongRefusal(request, played, includesByok[request.keyAt] ?? false);
        if (wrong !== null) note(wrong);
      }
      const recorded = costs.get(generationId ?? '');
      if (costUsd !== null && (recorded === undefined || costUsd !== nanoToUsd(recorded.reportedNanoUsd))) {
        note(`the client got ${costUsd} USD, and ${recorded?.reportedNanoUsd} nano-USD were recorded`);
      }
      // What is on the workspace's own bill is held by nobody but the keys that count it.
      if (recorded && !request.isByok && recorded.servedNanoUsd > Math.max(...request.ceilingsNanoUsd)) {
        note(`it has cost ${recorded.servedNanoUsd}, more than ${request.ceilingsNanoUsd.join(', ')}`);
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
