import process from 'node:process';
import { raceGateway } from './gateway.ts';
import { play, raceRequest } from './requests.ts';
import { openStore, type StoreAt } from './stores.ts';
import { raceTransport } from './upstream.ts';

// A process that says each time that a client has its whole response, until it is killed.

export interface SumsPlan {
  at: StoreAt;
  keys: readonly string[];
  seed: number;
  /** Requests in flight at once. */
  width: number;
  budgets: { leaseMs: number; escrow: boolean };
}

const { at, keys, seed, width, budgets }: SumsPlan = JSON.parse(process.argv[2] ?? '');
const opened = openStore(at, { busyTimeoutMs: 30_000 });
const gateway = raceGateway(opened.store, {
  transport: raceTransport({ longestPauseMs: 20 }),
  storeTimeoutMs: 30_000,
  budgets,
  records: { enabled: true },
});
let next = seed;

async function work(): Promise<void> {
  for (;;) {
    const request = raceRequest(next++, keys.length);
    await play(gateway, request, keys[request.keyAt] as string);
    process.send?.('answered');
  }
}

process.once('message', () => {
  for (let one = 0; one < width; one++) void work();
});
process.send?.('ready');
