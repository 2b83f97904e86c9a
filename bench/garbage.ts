import type { Collected } from './collector.ts';
import type { Rate } from './load.ts';
import { type Field, question } from './throughput.ts';

const contest = { kind: 'json', connections: 64 } as const;

/**
 * What one request leaves to the collector, on average over requests that take `durationMs`. What an answered request leaves should never be promoted: only what was under
 * way when the collector came. More says that something which has ended is still referred to.
 */
export async function weighGarbage(
  { peer, servers }: Field,
  durationMs: number,
): Promise<Record<'floor' | 'gateway', Collected>> {
  await peer.ask('mode', contest.kind);
  const weigh = async (name: 'floor' | 'gateway'): Promise<Collected> => {
    const asked = question(servers[name], contest, durationMs);
    await peer.ask('open', asked);
    await peer.ask('rate', asked);
    await servers[name].ask('startCollecting');
    const { requests } = await peer.ask<Rate>('rate', asked);
    const { allocated, promoted, pausedUs } = await servers[name].ask<Collected>('stopCollecting');
    return { allocated: allocated / requests, promoted: promoted / requests, pausedUs: pausedUs / requests };
  };
  const found = { floor: await weigh('floor'), gateway: await weigh('gateway') };
  await peer.ask('close');
  return found;
}
