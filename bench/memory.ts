import type { Memory } from './control.ts';
import { startWorker } from './processes.ts';
import { type Contestant, type Field, gatewaySigns, target } from './throughput.ts';

/** What one open stream takes, in bytes. */
export type PerStream = Memory;

/** Fresh servers: in one that has been busy, open streams fill room that is already there. */
const scripts = {
  floor: { script: 'serve-floor.ts', signs: [] },
  gateway: { script: 'serve-gateway.ts', signs: gatewaySigns },
} satisfies Partial<Record<Contestant, object>>;

/** Opens idle streams, whose first event has come and whose next is long in coming, and weighs the server. */
export async function weighStreams(
  { peer }: Pick<Field, 'peer'>,
  name: keyof typeof scripts,
  streams: number,
): Promise<PerStream> {
  await peer.ask('mode', 'idle');
  const { script, signs } = scripts[name];
  const server = await startWorker(script, 'under-test', [String(peer.port)]);
  try {
    const hold = { ...target({ ...server, signs }, { kind: 'stream' }), connections: streams };
    // What is made once, at the first streams, is no stream's.
    await peer.ask('hold', { ...hold, connections: 100 });
    await peer.ask('release');
    const before = await server.ask<Memory>('memory');
    await peer.ask('hold', hold);
    const after = await server.ask<Memory>('memory');
    return {
      rss: (after.rss - before.rss) / streams,
      rssWithReserve: (after.rssWithReserve - before.rssWithReserve) / streams,
      heap: (after.heap - before.heap) / streams,
    };
  } finally {
    await peer.ask('release');
    await server.stop();
  }
}
