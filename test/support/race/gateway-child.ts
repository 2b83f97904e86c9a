import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { movableClock, raceGateway } from './gateway.ts';
import { play, smallRequest } from './requests.ts';
import { type RacePlan, raceRecords, runRace } from './run.ts';
import { openStore, type StoreAt } from './stores.ts';
import { raceTransport } from './upstream.ts';

// A process with a gateway of its own on a shared store: it reports when it is ready, gets the time to start, and
// reports what came of it.

export interface ChildPlan {
  at: StoreAt;
  /** What its clock says. */
  nowMs: number;
  race: RacePlan;
  budgets: { escrow: boolean };
}

const { at, nowMs, race, budgets }: ChildPlan = JSON.parse(process.argv[2] ?? '');
// How long a busy machine keeps us waiting is no part of what is tested.
const clock = movableClock(nowMs);
const opened = openStore(at, { busyTimeoutMs: 30_000 });
const transport = raceTransport();
const records = raceRecords(race.seed, race.includesByok, transport.billOf);
const gateway = raceGateway(opened.store, {
  clock,
  transport,
  storeTimeoutMs: 30_000,
  budgets,
  onRecord: records.onRecord,
});
process.on('unhandledRejection', (reason) => records.result.wrong.push(`unhandled: ${reason}`));
// What a first use takes, such as a connection, is over before the start.
for (const [n, key] of race.keys.entries()) await play(gateway, smallRequest(race.seed - 1 - n), key);

process.once('message', async ({ startAtMs, nowMs }: { startAtMs: number; nowMs: number }) => {
  // Not spinning all the time: who does has used up its share of the machine when it is time to start.
  await sleep(startAtMs - Date.now() - 3);
  while (Date.now() < startAtMs);
  clock.set(nowMs);
  await runRace(gateway, race, records);
  await gateway.close();
  await opened.close();
  process.send?.({ result: records.result }, () => process.disconnect?.());
});
process.send?.('ready');
