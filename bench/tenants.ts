import { startWorker, type Worker } from './processes.ts';
import type { Place, StoreName } from './stores.ts';
import { type Contest, compare, type Field, gatewaySigns, type Rounds, type Server } from './throughput.ts';

/** The floor, and the gateway with each store that was found. */
export type TenantRounds = Record<'floor', Rounds> & Partial<Record<StoreName, Rounds>>;

const signs = [...gatewaySigns, '"is_byok":true'];

/**
 * Measures the floor and, for each store, a gateway with a tenant. The servers take turns.
 * @throws Error when a ledger's spent amount differs from the cost of the requests
 */
export async function compareTenants(
  { peer }: Pick<Field, 'peer'>,
  places: readonly Place[],
  contest: Contest,
): Promise<TenantRounds> {
  const started: Worker[] = [];
  const start = async (script: string, ...args: string[]) => {
    const worker = await startWorker(script, 'under-test', [String(peer.port), ...args]);
    started.push(worker);
    return worker;
  };
  try {
    const floor = await start('serve-floor.ts');
    const gateways: [StoreName, Server][] = [];
    for (const place of places) {
      const worker = await start('serve-tenants.ts', JSON.stringify(place));
      gateways.push([place.kind, { ...worker, apiKey: await worker.ask<string>('apiKey'), signs }]);
    }
    const [first] = gateways;
    // The floor gets one of the keys, so that its requests have as many bytes as the others.
    const servers = { floor: { ...floor, apiKey: first?.[1].apiKey, signs: [] }, ...Object.fromEntries(gateways) };
    const rounds: TenantRounds = (await compare<string>({ peer, servers }, contest)) as TenantRounds;
    for (const [name, server] of gateways) {
      await server.ask('audit', rounds[name]?.requests);
      await server.ask('close');
    }
    return rounds;
  } finally {
    for (const worker of started) await worker.stop();
  }
}
