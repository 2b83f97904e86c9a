// `node bench/profile.ts [import] [json] [stream] [lock-step] [tenants] [memory] [--top 40] [--out folder]` shows where the gateway
// spends its time, at its first import and under load, and the memory that an open stream keeps.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { HeapProfiler, Profiler } from 'node:inspector';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt } from './built.ts';
import type { RateQuestion } from './load.ts';
import { startWorker, type Worker } from './processes.ts';
import { bundledSources, formatShares, type Summary, summariseCpu, summariseHeap } from './profile-summary.ts';
import { startProfile, stopProfile } from './profiling.ts';
import type { Place } from './stores.ts';
import { gatewaySigns, type Server, target } from './throughput.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { top: { type: 'string', default: '40' }, out: { type: 'string' } },
});
const wants = (kind: string) => positionals.length === 0 || positionals.includes(kind);
const locate = bundledSources((url) => (url.includes('/dist/') ? readFileSync(fileURLToPath(url), 'utf8') : null));
const idleStreams = 1000;

await ensureBuilt();
if (wants('import')) printCpu('import', await profileImport());
for (const kind of ['json', 'stream', 'lock-step', 'tenants'] as const)
  if (wants(kind)) printCpu(kind, await profileUnderLoad(kind));
if (wants('memory')) printHeap(await profileStreams());

/** Profiles in this process, because it has not loaded the package yet. */
async function profileImport(): Promise<Profiler.Profile> {
  await startProfile();
  await import(new URL('../dist/index.js', import.meta.url).href);
  return stopProfile();
}

/** @param kind  `tenants`: like `json`, with budgets and a sealed credential in memory */
function profileUnderLoad(kind: 'json' | 'stream' | 'lock-step' | 'tenants'): Promise<Profiler.Profile> {
  const mode = kind === 'stream' || kind === 'lock-step' ? 'stream' : 'json';
  const profiled = kind === 'tenants' ? startTenants : startGateway;
  return withGateway(profiled, kind === 'lock-step' ? { eventsPerChunk: 1 } : mode, async (server, peer) => {
    const question: RateQuestion = {
      ...target(server, { kind: mode }),
      connections: mode === 'json' ? 64 : 32,
      durationMs: 5000,
    };
    await peer.ask('open', question);
    // Warm-up, so that V8 has compiled the code; see `warmUp`.
    await peer.ask('rate', { ...question, durationMs: 20_000 });
    await server.ask('startProfile');
    await peer.ask('rate', question);
    return server.ask<Profiler.Profile>('stopProfile');
  });
}

function profileStreams(): Promise<HeapProfiler.SamplingHeapProfile> {
  return withGateway(startGateway, 'idle', async (server, peer) => {
    const question = target(server, { kind: 'stream' });
    await peer.ask('hold', { ...question, connections: 100 });
    await peer.ask('release');
    await server.ask('startHeapProfile');
    await peer.ask('hold', { ...question, connections: idleStreams });
    return server.ask<HeapProfiler.SamplingHeapProfile>('stopHeapProfile');
  });
}

async function startGateway(peer: Worker): Promise<Server> {
  const worker = await startWorker('serve-gateway.ts', 'under-test', [String(peer.port)]);
  return { ...worker, signs: gatewaySigns };
}

async function startTenants(peer: Worker): Promise<Server> {
  const place = JSON.stringify({ kind: 'memory' } satisfies Place);
  const worker = await startWorker('serve-tenants.ts', 'under-test', [String(peer.port), place]);
  return { ...worker, apiKey: await worker.ask<string>('apiKey'), signs: gatewaySigns };
}

async function withGateway<T>(
  start: (peer: Worker) => Promise<Server>,
  mode: string | { eventsPerChunk: number },
  run: (server: Server, peer: Worker) => Promise<T>,
): Promise<T> {
  const peer = await startWorker('peer.ts', 'peer');
  const server = await start(peer);
  try {
    await peer.ask('mode', mode);
    return await run(server, peer);
  } finally {
    for (const worker of [server, peer]) await worker.stop();
  }
}

function printCpu(kind: string, profile: Profiler.Profile): void {
  save(`${kind}.cpuprofile`, profile);
  const summary = summariseCpu(profile, locate);
  print(`${kind}: ${summary.total.toFixed(0)} ms not idle`, summary, null);
}

function printHeap(profile: HeapProfiler.SamplingHeapProfile): void {
  save('memory.heapprofile', profile);
  const summary = summariseHeap(profile, locate);
  const perStream = { name: 'KB', per: 1024 * idleStreams };
  print(`memory: ${(summary.total / perStream.per).toFixed(1)} KB of objects per open stream`, summary, perStream);
}

function print(title: string, summary: Summary, unit: { name: string; per: number } | null): void {
  const { total, parts, groups, functions, onBehalf } = summary;
  const list = (shares: Summary['groups']) => formatShares(shares, total, Number(values.top), unit);
  process.stdout.write(
    `${title}\n\nBy part\n${list(parts)}\n\nBy file or package\n${list(groups)}\n\nBy function\n${list(functions)}\n\n` +
      `On whose behalf: with what libraries and Node did for it\n${list(onBehalf)}\n\n`,
  );
}

/** Chrome's developer tools open these files. */
function save(name: string, profile: object): void {
  if (values.out === undefined) return;
  mkdirSync(values.out, { recursive: true });
  writeFileSync(join(values.out, name), JSON.stringify(profile));
}
