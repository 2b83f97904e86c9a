import { nanoToUsd } from '../../../src/base/money.ts';
import type { Gateway } from '../../../src/gateway.ts';
import type { RequestRecord } from '../../../src/telemetry/record.ts';
import { type Played, play, type RaceRequest, raceRequest, wrongRefusal } from './requests.ts';
import { firstSeedOf } from './wrapped.ts';

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
  /** Requests with two generations. */
  wrapped: number;
  /** Of these, those that the providers have billed for both generations, and what is on their bills. */
  wrappedBilled: number;
  billedNanoUsd: number;
  /** Of these, those of which the first generation had attempts that failed and cost something. */
  wrappedPaidFailures: number;
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

/**
 * Takes the records of a gateway, and looks at its answers beside them.
 * @param billOf  what providers have put on the bill for a seed, integer nano-USD
 */
export function raceRecords(
  seed: number,
  includesByok: readonly boolean[] = [],
  billOf: (seed: number) => number = () => 0,
) {
  const result: RaceResult = {
    seed,
    statuses: {},
    booked: [],
    paidFailures: 0,
    wrapped: 0,
    wrappedBilled: 0,
    billedNanoUsd: 0,
    wrappedPaidFailures: 0,
    estimated: 0,
    byokBilled: 0,
    wrong: [],
  };
  const costs = new Map<string, { costNanoUsd: number; reportedNanoUsd: number; servedNanoUsd: number }>();
  const recorded = new Set<string>();

  return {
    result,
    onRecord(record: RequestRecord): void {
      const { id, apiKeyHash, receivedAtMs, costNanoUsd, attempts, isEstimated, generations } = record;
      if (recorded.has(id)) result.wrong.push(`${id} was recorded twice`);
      recorded.add(id);
      if (costNanoUsd === null || apiKeyHash === null) {
        result.wrong.push(`${id} was recorded without cost or key`);
        return;
      }
      const { nanoUsd, byokNanoUsd, failedByokNanoUsd, servedNanoUsd } = costsIn(record);
      // What a provider has put on the workspace's own bill for nothing is none of ours.
      const reportedNanoUsd = costNanoUsd - failedByokNanoUsd;
      costs.set(id, { costNanoUsd, reportedNanoUsd, servedNanoUsd });
      const parts = generations.reduce((sum, one) => sum + (one.costNanoUsd ?? 0), 0);
      if (parts !== costNanoUsd) result.wrong.push(`${id} has cost ${costNanoUsd}, and its generations ${parts}`);
      if (generations.length > 1) {
        result.wrapped++;
        if (generations[0]?.attempts.some((attempt) => attempt.costNanoUsd > 0)) result.wrappedPaidFailures++;
      }
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
      const booked = costs.get(generationId ?? '');
      const times = request.isWrapped ? 2 : 1;
      if (costUsd !== null && (booked === undefined || costUsd !== nanoToUsd(booked.reportedNanoUsd))) {
        note(`the client got ${costUsd} USD, and ${booked?.reportedNanoUsd} nano-USD were recorded`);
      }
      const ofFirst = request.isWrapped ? billOf(firstSeedOf(request.seed)) : 0;
      const billed = ofFirst + billOf(request.seed);
      if (ofFirst > 0 && billed > ofFirst) result.wrappedBilled++;
      result.billedNanoUsd += billed;
      // Of what comes after the client has left, nobody reads what it has used.
      if (booked && status !== 0 && booked.costNanoUsd < billed)
        note(`${booked.costNanoUsd} nano-USD were booked, and ${billed} are on the bill`);
      // What is on the workspace's own bill is held by nobody but the keys that count it.
      if (booked && !request.isByok && booked.servedNanoUsd > Math.max(...request.ceilingsNanoUsd) * times) {
        note(`it has cost ${booked.servedNanoUsd}, more than ${request.ceilingsNanoUsd.join(', ')}`);
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
