import process from 'node:process';
import { systemClock } from '../../../src/base/clock.ts';
import { createHealth, type EndpointStatistics, type Observation } from '../../../src/catalog/health/index.ts';
import { healthRecords } from '../../../src/stores/health-records.ts';
import { chooseStorage } from '../../../src/stores/storage/choose.ts';
import { guardStorage } from '../../../src/stores/storage/guard.ts';
import { openStore, type StoreAt } from './stores.ts';

// A process that sees endpoints do well or badly as its plan says, and reports what it knows of them.

export interface HealthChildPlan {
  at: StoreAt;
  instance: string;
}

export type HealthRequest =
  | { what: 'observe'; key: string; times: number; seen: Observation }
  | { what: 'tell'; key: string }
  | { what: 'end' };

export interface HealthAnswer {
  statistics: EndpointStatistics;
  latencyP95: number | null;
  hasOutage: boolean;
  cooldownUntil: number | null;
}

const { at, instance }: HealthChildPlan = JSON.parse(process.argv[2] ?? '');
const clock = systemClock;
const opened = openStore(at);
const storage = guardStorage(chooseStorage(opened.store, { clock, timeoutMs: 5_000, onLostHold: 'charge' }), {
  clock,
  timeoutMs: 5_000,
});
const records = healthRecords(storage);
if (!records) throw new Error('nothing is shared on this store');
// A cooldown that is not over before the others hear of it.
const cooldown = { failuresToCooldown: 3, cooldownMs: 30_000, maxCooldownMs: 60_000 };
const health = createHealth({ clock, cooldown, sharing: { records, instance: () => instance, logger: null } });

process.on('message', async (request: HealthRequest) => {
  if (request.what === 'observe') {
    for (let i = 0; i < request.times; i++) health.observe(request.key, request.seen);
    return;
  }
  if (request.what === 'tell') {
    const nowMs = clock.now();
    const view = health.view(nowMs);
    const answer: HealthAnswer = {
      statistics: health.statistics(request.key, nowMs),
      latencyP95: view.latencyP95(request.key),
      hasOutage: view.hasOutage(request.key),
      cooldownUntil: view.cooldownUntil(request.key) ?? null,
    };
    process.send?.({ answer });
    return;
  }
  await health.close();
  await storage.close();
  await opened.close();
  process.disconnect?.();
});
process.send?.('ready');
