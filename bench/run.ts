// `npm run bench`: how fast the gateway is, measured beside what it could at best be. About a minute.
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt } from './built.ts';
import { timeImports } from './import-time.ts';
import { timeRequests } from './latency.ts';
import type { InProcess } from './measure-in-process.ts';
import { weighStreams } from './memory.ts';
import { cores, startWorker, type Worker } from './processes.ts';
import { byCpu, type Findings, headline, judge, report } from './report.ts';
import { type Contest, compare, type Field } from './throughput.ts';

const { values } = parseArgs({
  options: {
    /** json, stream, latency, cpu, memory or import: only that, printed and not written. */
    only: { type: 'string' },
    /** Multiplies the rounds. */
    effort: { type: 'string', default: '1' },
    /** The day that results.md is to carry. */
    date: { type: 'string', default: new Date().toISOString().slice(0, 10) },
    out: { type: 'string', default: fileURLToPath(new URL('results.md', import.meta.url)) },
  },
});
const effort = Number(values.effort);
const rounds = (count: number) => Math.max(1, Math.round(count * effort));

const contests = {
  json: { kind: 'json', connections: 64, rounds: rounds(14), roundMs: 350, enoughMs: 19_000 },
  large: { kind: 'json', connections: 64, rounds: rounds(6), roundMs: 350, enoughMs: 9000, extraBytes: 39_000 },
  stream: { kind: 'stream', connections: 32, rounds: rounds(14), roundMs: 350, enoughMs: 19_000 },
} satisfies Record<string, Contest>;
const idleStreams = 2000;

await ensureBuilt();
const loadBefore = loadavg()[0] ?? 0;
if (loadBefore > 1) say(`The machine is busy (load ${loadBefore.toFixed(1)}): expect noise.`);
const findings = await measure();
for (const { line } of judge(findings)) say(line);
if (byCpu(findings) !== '') say(byCpu(findings));
const tables = report(findings, {
  date: values.date,
  node: process.versions.node,
  system: `${process.platform} ${process.arch}`,
  processor: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
  pinned: cores !== null,
  load: loadBefore,
});
if (values.only !== undefined) {
  say(tables);
} else {
  writeFileSync(values.out, tables);
  say(headline(findings));
}

async function measure(): Promise<Findings> {
  const found: Findings = {};
  const wants = (name: string) => values.only === undefined || values.only === name;
  // While nothing else of ours runs.
  if (wants('import')) found.importMs = timeImports(new URL('../dist/index.js', import.meta.url).href, 10);
  if (wants('cpu')) found.inProcess = await inProcess();
  const upstream = await startWorker('upstream.ts', 'peer');
  const load = await startWorker('load.ts', 'peer');
  const started: Worker[] = [load, upstream];
  try {
    if (wants('json') || wants('stream') || wants('latency')) {
      const field = await startServers(upstream, load);
      started.unshift(...Object.values(field.servers));
      if (wants('json')) found.json = await step('JSON', () => compare(field, contests.json));
      if (wants('json')) found.large = await step('JSON, requests of 40 KB', () => compare(field, contests.large));
      if (wants('latency'))
        found.latency = await step('latency', () => timeRequests(field, { durationMs: 5000 * effort, perTurn: 100 }));
      if (wants('stream')) found.stream = await step('streams', () => compare(field, contests.stream));
    }
    if (wants('memory')) {
      found.memory = {
        streams: idleStreams,
        floor: await step('memory of the floor', () => weighStreams({ upstream, load }, 'floor', idleStreams)),
        gateway: await step('memory of the gateway', () => weighStreams({ upstream, load }, 'gateway', idleStreams)),
      };
    }
  } finally {
    for (const worker of started) await worker.stop();
  }
  return found;
}

async function startServers(upstream: Worker, load: Worker): Promise<Field> {
  const start = (script: string) => startWorker(script, 'under-test', [String(upstream.port)]);
  return {
    upstream,
    load,
    servers: {
      floor: await start('serve-floor.ts'),
      fetchProxy: await start('serve-fetch-proxy.ts'),
      gateway: await start('serve-gateway.ts'),
    },
  };
}

async function inProcess(): Promise<InProcess> {
  const worker = await startWorker('measure-in-process.ts', 'under-test');
  try {
    return await step('CPU in process', () => worker.ask<InProcess>('measure'));
  } finally {
    await worker.stop();
  }
}

async function step<T>(name: string, run: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await run();
  say(`measured ${name} in ${((performance.now() - start) / 1000).toFixed(0)} s`);
  return result;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
