import { median, percentile } from './statistics.ts';
import { type Field, target } from './throughput.ts';

export interface Latency {
  p50Ms: number;
  p99Ms: number;
}

/** Sequential requests on one connection, in short turns. */
export async function timeRequests(
  { upstream, load, servers }: Field,
  { turns, perTurn }: { turns: number; perTurn: number },
): Promise<Record<'floor' | 'gateway', Latency>> {
  await upstream.ask('mode', 'json');
  const taken: Record<'floor' | 'gateway', number[][]> = { floor: [], gateway: [] };
  for (let turn = 0; turn < turns; turn += 1) {
    for (const name of turn % 2 === 0 ? (['floor', 'gateway'] as const) : (['gateway', 'floor'] as const)) {
      const count = perTurn;
      taken[name].push(
        await load.ask<number[]>('latencies', { ...target(servers[name], name, { kind: 'json' }), count }),
      );
    }
  }
  return { floor: summary(taken.floor), gateway: summary(taken.gateway) };
}

/** The tail is that of the usual turn: one that the machine disturbed does not stand for all. */
function summary(turns: readonly number[][]): Latency {
  return {
    p50Ms: median(turns.flat()),
    p99Ms: median(turns.map((turn) => percentile(turn, 0.99))),
  };
}
