import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { chooseStorage } from '../../../src/stores/storage/choose.ts';
import { movableClock, raceGateway } from './gateway.ts';
import { openJournal } from './journal.ts';
import { play, raceRequest, smallRequest } from './requests.ts';
import { costsIn } from './run.ts';
import { openStore, type StoreAt } from './stores.ts';
import { raceTransport } from './upstream.ts';

// A process that is killed or paused, or lives long enough to be stopped. It notes every step beforehand.

export interface KillPlan {
  at: StoreAt;
  nowMs: number;
  keys: readonly string[];
  seed: number;
  /** Requests in flight at once. */
  width: number;
  budgets: { leaseMs: number; escrow: boolean };
  journal: string;
}

const { at, nowMs, keys, seed, width, budgets, journal: path }: KillPlan = JSON.parse(process.argv[2] ?? '');
const opened = openStore(at, { busyTimeoutMs: 30_000 });
const clock = movableClock(nowMs);
const journal = openJournal(path);
const storage = chooseStorage(opened.store, { clock, timeoutMs: 30_000, onLostHold: 'charge' });
const gateway = raceGateway(opened.store, {
  clock,
  // Most of the time a request waits: many are in flight at once, and a new process is not kept from starting.
  transport: raceTransport({ longestPauseMs: 60 }),
  storeTimeoutMs: 30_000,
  budgets,
  ledger: journal.watched(storage.ledger),
  onRecord: (record) => journal.note('recorded', record.id, costsIn(record).nanoUsd),
});
const statuses: Record<number, number> = {};
let isOver = false;
for (const [n, key] of keys.entries()) await play(gateway, smallRequest(seed - 1 - n), key);

process.on('message', async (message: 'stop' | { startAtMs: number } | { setByMs: number }) => {
  if (message === 'stop') {
    isOver = true;
    return;
  }
  if ('setByMs' in message) {
    clock.set(clock.now() + message.setByMs);
    return;
  }
  await sleep(message.startAtMs - Date.now());
  let next = seed;
  const work = async () => {
    while (!isOver) {
      const request = raceRequest(next++, keys.length);
      const { status } = await play(gateway, request, keys[request.keyAt] as string);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  await gateway.close();
  await storage.close();
  await opened.close();
  process.send?.({ result: statuses }, () => process.disconnect?.());
});
process.send?.('ready');
