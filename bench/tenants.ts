import { startWorker, type Worker } from './processes.ts';
import type { Place, StoreName } from './stores.ts';
import { type Contest, compare, type Field, gatewaySigns, type Rounds, type Server } from './throughput.ts';

/** The floor, and the gateway over each store that is there. */
export type TenantRounds = Record<'floor', Rounds> & Partial<Record<StoreName, Rounds>>;

const signs = [...gatewaySigns, '"is_byok":true'];

/**
 * Lets the floor and gateways with a tenant, over each of the stores, take turns.
 * @throws Error when a ledger does not hold afterwards what the requests cost
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
    // Its bytes are the same as the others'.
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
