import { percentile } from './statistics.ts';
import { type Field, target } from './throughput.ts';

/** One value per turn, in milliseconds. */
export interface Latency {
  p50Ms: number[];
  p99Ms: number[];
}

/** Sends sequential requests on one connection. The servers take short turns until the time is over. */
export async function timeRequests(
  { peer, servers }: Field,
  { durationMs, perTurn }: { durationMs: number; perTurn: number },
): Promise<Record<'floor' | 'gateway', Latency>> {
  await peer.ask('mode', 'json');
  const found: Record<'floor' | 'gateway', Latency> = { floor: noTurns(), gateway: noTurns() };
  const endMs = performance.now() + durationMs;
  for (let turn = 0; turn === 0 || performance.now() < endMs; turn += 1) {
    for (const name of turn % 2 === 0 ? (['floor', 'gateway'] as const) : (['gateway', 'floor'] as const)) {
      const question = { ...target(servers[name], { kind: 'json' }), count: perTurn };
      const takenMs = await peer.ask<number[]>('latencies', question);
      found[name].p50Ms.push(percentile(takenMs, 0.5));
      found[name].p99Ms.push(percentile(takenMs, 0.99));
    }
  }
  return found;
}

function noTurns(): Latency {
  return { p50Ms: [], p99Ms: [] };
}
