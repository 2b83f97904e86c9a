import type { Collected } from './collector.ts';
import type { Rate } from './load.ts';
import { type Field, question } from './throughput.ts';

const contest = { kind: 'json', connections: 64 } as const;

/**
 * Measures the garbage of one request, on average over requests during `durationMs`. The collector should only promote
 * objects of requests in flight. More promotion means that something still refers to requests that have ended.
 */
export async function weighGarbage(
  { peer, servers }: Field,
  durationMs: number,
): Promise<Record<'floor' | 'gateway', Collected>> {
  await peer.ask('mode', contest.kind);
  const weigh = async (name: 'floor' | 'gateway'): Promise<Collected> => {
    const rateQuestion = question(servers[name], contest, durationMs);
    await peer.ask('open', rateQuestion);
    await peer.ask('rate', rateQuestion);
    await servers[name].ask('startCollecting');
    const { requests } = await peer.ask<Rate>('rate', rateQuestion);
    const { allocated, promoted, pausedUs } = await servers[name].ask<Collected>('stopCollecting');
    return { allocated: allocated / requests, promoted: promoted / requests, pausedUs: pausedUs / requests };
  };
  const found = { floor: await weigh('floor'), gateway: await weigh('gateway') };
  await peer.ask('close');
  return found;
}
