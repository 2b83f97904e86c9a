import type { Memory } from './control.ts';
import { startWorker } from './processes.ts';
import { type Contestant, type Field, gatewaySigns, target } from './throughput.ts';

/** Memory of one open stream, in bytes. */
export type PerStream = Memory;

/** Each measurement starts a new server: in a used one, open streams would fill memory that is allocated already. */
const scripts = {
  floor: { script: 'serve-floor.ts', signs: [] },
  gateway: { script: 'serve-gateway.ts', signs: gatewaySigns },
} satisfies Partial<Record<Contestant, object>>;

/** Opens streams that stay idle after their first events, and measures the server's memory. */
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
    // Objects that the first streams create once must not count as memory of a stream.
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
