// `npm run soak` sends 300,000 mixed requests through an Express app on Redis, and looks at what is left of them. Takes
// some minutes. Without a Redis at REDIS_URL or on port 6379 it uses SQLite, and says so.
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt } from './built.ts';
import type { Memory } from './control.ts';
import { listen } from './listen.ts';
import { findPlaces } from './places.ts';
import { startWorker } from './processes.ts';
import { askOnce, type Ending } from './soak/client.ts';
import { judgeSoak, type Sample, type Soaked } from './soak/judge.ts';
import { plotSoak } from './soak/plot.ts';
import { startProvider } from './soak/provider.ts';
import { storeTitles } from './stores.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '300000' },
    connections: { type: 'string', default: '64' },
    /** Where the plot goes. */
    plot: { type: 'string', default: fileURLToPath(new URL('../docs/img/soak.svg', import.meta.url)) },
  },
});
const total = Number(values.requests);
const batch = Math.max(1, Math.round(total / 30));
const say = (line: string) => process.stdout.write(`${line}\n`);

await ensureBuilt();
const places = await findPlaces();
const place = places.found.find(({ kind }) => kind === 'redis') ?? places.found.find(({ kind }) => kind === 'sqlite');
if (place === undefined) throw new Error('There is neither Redis nor SQLite');
say(`${total} requests, ${values.connections} at once, on ${storeTitles[place.kind]}`);
const provider = startProvider();
const server = await startWorker('soak/serve.ts', 'under-test', [
  String(await listen(provider)),
  JSON.stringify(place),
]);
try {
  const found = await soak(await server.ask<string>('apiKey'));
  writeFileSync(values.plot, plotSoak(found.samples));
  const verdicts = judgeSoak(found);
  const { whole, left, broken } = found.endings;
  say(`${whole} whole, ${left} left by the client, ${broken} broken off or refused with an error`);
  for (const { what, found: value, passed } of verdicts) say(`${passed ? 'pass' : 'FAIL'}  ${what}: ${value}`);
  if (verdicts.some(({ passed }) => !passed)) process.exitCode = 1;
} finally {
  await server.ask('close');
  await server.stop();
  provider.close();
  provider.closeAllConnections();
  await places.remove();
}

async function soak(apiKey: string): Promise<Soaked> {
  const agent = new Agent({ keepAlive: true, maxSockets: Number(values.connections) });
  const to = { agent, port: server.port, apiKey };
  const endings: Record<Ending, number> = { whole: 0, left: 0, broken: 0, wrong: 0 };
  const wrong: string[] = [];
  const samples: Sample[] = [];
  let number = 0;
  while (number < total) {
    const times: number[] = [];
    const endAt = Math.min(total, number + batch);
    const work = async () => {
      while (number < endAt) {
        const { ending, ms, what } = await askOnce(to, number++);
        endings[ending]++;
        if (ending === 'whole') times.push(ms);
        if (what !== undefined && ending === 'wrong' && wrong.length < 5) wrong.push(what);
      }
    };
    await Promise.all(Array.from({ length: Number(values.connections) }, work));
    await settled();
    samples.push(await sample(number, times));
  }
  agent.destroy();
  return { samples, endings, wrong, tally: await server.ask('tally'), money: await server.ask('money') };
}

/** Waits until nothing is in flight: what clients left early has to be settled, too. */
async function settled(): Promise<void> {
  for (let polls = 0; polls < 300; polls++) {
    const { heldNanoUsd } = await server.ask<Soaked['money']>('money');
    const { arrived, recorded, refused } = await server.ask<Soaked['tally']>('tally');
    if (heldNanoUsd === 0 && arrived === recorded + refused) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function sample(requests: number, times: number[]): Promise<Sample> {
  const { heap, rss } = await server.ask<Memory>('memory');
  const handles = Object.values(await server.ask<Record<string, number>>('handles')).reduce((sum, one) => sum + one, 0);
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  const taken = { requests, heap, rss, handles, p50Ms: at(0.5), p99Ms: at(0.99) };
  say(
    `${requests} requests: heap ${(heap / 2 ** 20).toFixed(1)} MB, resident ${(rss / 2 ** 20).toFixed(0)} MB, ${handles} handles, p50 ${taken.p50Ms.toFixed(1)} ms, p99 ${taken.p99Ms.toFixed(1)} ms`,
  );
  return taken;
}
