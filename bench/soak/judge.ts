import type { Ending } from './client.ts';

/** What was measured between two batches, while no request was in flight. */
export interface Sample {
  /** Requests so far. */
  requests: number;
  /** JavaScript objects and buffers after a full collection, bytes. */
  heap: number;
  /** Resident memory, bytes. */
  rss: number;
  /** Timers, sockets and others that keep the process busy. */
  handles: number;
  /** Of the whole responses in the batch before. */
  p50Ms: number;
  p99Ms: number;
}

export interface Soaked {
  samples: readonly Sample[];
  endings: Readonly<Record<Ending, number>>;
  /** The first of those that ended as they may not. */
  wrong: readonly string[];
  tally: {
    arrived: number;
    recorded: number;
    refused: number;
    twice: number;
    costNanoUsd: number;
    overrunNanoUsd: number;
  };
  money: { spentNanoUsd: number; heldNanoUsd: number };
}

export interface Verdict {
  what: string;
  found: string;
  passed: boolean;
}

/** The share of the requests in which caches fill, and V8 compiles. */
const warmUp = 1 / 3;
const perRequests = 100_000;
const mostGrowth = 2 ** 20;
/** Idle sockets to the provider and the store come and go. */
const handleNoise = 16;

export function judgeSoak({ samples, endings, wrong, tally, money }: Soaked): Verdict[] {
  const total = samples.at(-1)?.requests ?? 0;
  const warm = samples.filter(({ requests }) => requests >= total * warmUp);
  const growth = slopeOf(warm.map(({ requests, heap }) => [requests, heap])) * perRequests;
  const handles = slopeOf(warm.map(({ requests, handles }) => [requests, handles])) * perRequests;
  const verdict = (what: string, found: string | number, passed: boolean) => ({ what, found: String(found), passed });
  return [
    verdict(
      `growth of the heap per ${perRequests.toLocaleString('en')} requests`,
      `${(growth / 2 ** 20).toFixed(2)} MB`,
      growth <= mostGrowth,
    ),
    verdict(
      `growth of the handles per ${perRequests.toLocaleString('en')} requests`,
      handles.toFixed(1),
      handles <= handleNoise,
    ),
    verdict(
      'responses that ended as they may not',
      `${endings.wrong}${wrong[0] === undefined ? '' : `: ${wrong[0]}`}`,
      endings.wrong === 0,
    ),
    verdict(
      'requests that arrived, and records of them',
      `${tally.arrived} and ${tally.recorded + tally.refused}, ${tally.twice} twice`,
      tally.arrived === tally.recorded + tally.refused && tally.twice === 0,
    ),
    verdict('held at the end, nano-USD', money.heldNanoUsd, money.heldNanoUsd === 0),
    verdict(
      'spent in the ledger, and in the records, nano-USD',
      `${money.spentNanoUsd} and ${tally.costNanoUsd}`,
      money.spentNanoUsd === tally.costNanoUsd,
    ),
    verdict('spent beyond what was held, nano-USD', tally.overrunNanoUsd, tally.overrunNanoUsd === 0),
  ];
}

/** Of the straight line with the least squares. */
export function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  let over = 0;
  let under = 0;
  for (const [x, y] of points) {
    over += (x - meanX) * (y - meanY);
    under += (x - meanX) ** 2;
  }
  return under === 0 ? 0 : over / under;
}
