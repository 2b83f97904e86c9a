// `npm run bench` measures how fast the gateway is, compared with the least that such a server has to do. Takes about
// eight minutes.
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt } from './built.ts';
import type { DialectCosts } from './dialects.ts';
import { weighGarbage } from './garbage.ts';
import type { Growth } from './growth.ts';
import { timeStarts } from './import-time.ts';
import { timeRequests } from './latency.ts';
import { compareLedgers, type LedgerContest } from './ledger.ts';
import type { InProcess } from './measure-in-process.ts';
import { weighStreams } from './memory.ts';
import type { MessagesCosts } from './messages.ts';
import { findPlaces, type Places } from './places.ts';
import type { PlanCosts } from './plan.ts';
import { cores, killWorkers, startWorker, type Worker } from './processes.ts';
import { byCpu, eventsPerChunks, type Findings, headline, judge, type LockSteps, report } from './report.ts';
import type { ResponsesCosts } from './responses.ts';
import { compareTelemetry } from './telemetry.ts';
import { compareTenants } from './tenants.ts';
import { type Contest, compare, type Field, gatewaySigns } from './throughput.ts';
import { compareWorkers } from './workers.ts';

const { values } = parseArgs({
  options: {
    /** Runs only this one of `parts`, and prints the results without writing a file. */
    only: { type: 'string' },
    /** Multiplies the number of rounds. */
    effort: { type: 'string', default: '1' },
    /** The date in results.md. */
    date: { type: 'string', default: new Date().toISOString().slice(0, 10) },
    out: { type: 'string', default: fileURLToPath(new URL('results.md', import.meta.url)) },
  },
});
const parts = [
  'json',
  'stream',
  'lock-step',
  'latency',
  'cpu',
  'plan',
  'dialects',
  'responses',
  'messages',
  'growth',
  'memory',
  'import',
  'tenants',
  'ledger',
  'workers',
  'telemetry',
];
if (values.only !== undefined && !parts.includes(values.only)) {
  process.stderr.write(`There is no part ${values.only}. There are: ${parts.join(', ')}.\n`);
  process.exit(1);
}
const effort = Number(values.effort);
const rounds = (count: number) => Math.max(1, Math.round(count * effort));

const contests = {
  // On a shared machine, the ratio of one round is wrong by an eighth, the median of 36 rounds by a fortieth.
  json: { kind: 'json', connections: 64, rounds: rounds(36), roundMs: 350, enoughMs: 50_000, ...warm(50_000, 60_000) },
  // The servers of the contest before are used again, so they are warm.
  large: {
    kind: 'json',
    connections: 64,
    rounds: rounds(6),
    roundMs: 350,
    enoughMs: 9000,
    extraBytes: 39_000,
    ...warm(1000, 5000),
  },
  stream: {
    kind: 'stream',
    connections: 32,
    rounds: rounds(14),
    roundMs: 350,
    enoughMs: 19_000,
    ...warm(2000, 15_000),
  },
  lockStep: {
    kind: 'stream',
    connections: 32,
    rounds: rounds(12),
    roundMs: 350,
    enoughMs: 12_000,
    ...warm(1500, 12_000),
  },
  tenants: {
    kind: 'json',
    connections: 64,
    rounds: rounds(24),
    roundMs: 350,
    enoughMs: 60_000,
    ...warm(50_000, 70_000),
  },
  workers: {
    kind: 'json',
    connections: 64,
    rounds: rounds(12),
    roundMs: 350,
    enoughMs: 15_000,
    ...warm(20_000, 20_000),
  },
} satisfies Record<string, Contest>;
const telemetryContests = {
  json: { ...contests.json, rounds: rounds(24), enoughMs: 40_000 },
  stream: { ...contests.stream, rounds: rounds(12), enoughMs: 19_000 },
} satisfies Record<string, Contest>;
const pairs = { atOnce: 64, durationMs: 350, rounds: rounds(6) } satisfies LedgerContest;
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

function warm(warmRequests: number, warmMs: number): Pick<Contest, 'warmRequests' | 'warmMs'> {
  return { warmRequests, warmMs };
}

async function measure(): Promise<Findings> {
  const found: Findings = {};
  const wants = (name: string) => values.only === undefined || values.only === name;
  // First, before our other processes start.
  if (wants('import')) found.start = timeStarts(new URL('../dist/index.js', import.meta.url).href, 20);
  if (wants('cpu'))
    found.inProcess = await step('CPU in process', () => measureAlone<InProcess>('measure-in-process.ts'));
  if (wants('plan')) found.plan = await step('plans', () => measureAlone<PlanCosts>('plan.ts'));
  if (wants('dialects')) found.dialects = await step('dialects', () => measureAlone<DialectCosts>('dialects.ts'));
  if (wants('responses')) found.responses = await step('responses', () => measureAlone<ResponsesCosts>('responses.ts'));
  if (wants('messages')) found.messages = await step('messages', () => measureAlone<MessagesCosts>('messages.ts'));
  if (wants('growth')) found.growth = await step('growth', () => measureAlone<Growth[]>('growth.ts'));
  const peer = await startWorker('peer.ts', 'peer');
  const started: Worker[] = [peer];
  try {
    if (wants('json') || wants('stream') || wants('lock-step') || wants('latency')) {
      const field = await startServers(peer);
      started.unshift(...Object.values(field.servers));
      if (wants('json')) found.json = await step('JSON', () => compare(field, contests.json));
      if (wants('json')) found.large = await step('JSON, requests of 40 KB', () => compare(field, contests.large));
      if (wants('json')) found.garbage = await step('garbage', () => weighGarbage(field, 2000 * effort));
      if (wants('latency'))
        found.latency = await step('latency', () => timeRequests(field, { durationMs: 5000 * effort, perTurn: 100 }));
      if (wants('stream')) found.stream = await step('streams', () => compare(field, contests.stream));
      if (wants('lock-step')) found.lockStep = await compareLockSteps(field);
    }
    if (wants('workers')) found.workers = await step('workers', () => compareWorkers({ peer }, contests.workers));
    if (wants('telemetry'))
      found.telemetry = await step('telemetry', () => compareTelemetry({ peer }, telemetryContests));
    if (wants('memory')) {
      found.memory = {
        streams: idleStreams,
        floor: await step('memory of the floor', () => weighStreams({ peer }, 'floor', idleStreams)),
        gateway: await step('memory of the gateway', () => weighStreams({ peer }, 'gateway', idleStreams)),
      };
    }
    if (wants('tenants') || wants('ledger')) {
      await withPlaces(async ({ found: places, missing }) => {
        found.missing = missing;
        for (const line of missing) say(line);
        if (wants('tenants'))
          found.tenants = await step('budgets', () => compareTenants({ peer }, places, contests.tenants));
        if (wants('ledger')) found.ledger = await step('ledgers', () => compareLedgers(places, pairs));
      });
    }
  } finally {
    for (const worker of started) await worker.stop();
  }
  return found;
}

/** The streams in lock-step, by the events of a chunk. Without the fetch proxy: it says nothing about the gateway. */
async function compareLockSteps({ peer, servers: { floor, gateway } }: Field): Promise<LockSteps> {
  const found: LockSteps = {};
  for (const eventsPerChunk of eventsPerChunks)
    found[eventsPerChunk] = await step(`streams in lock-step, ${eventsPerChunk} a chunk`, () =>
      compare({ peer, servers: { floor, gateway } }, { ...contests.lockStep, eventsPerChunk }),
    );
  return found;
}

async function startServers(peer: Worker): Promise<Field> {
  const start = async (script: string, signs: readonly string[] = []) => ({
    ...(await startWorker(script, 'under-test', [String(peer.port)])),
    signs,
  });
  return {
    peer,
    servers: {
      floor: await start('serve-floor.ts'),
      fetchProxy: await start('serve-fetch-proxy.ts'),
      gateway: await start('serve-gateway.ts', gatewaySigns),
    },
  };
}

/** Removes the run's data from shared servers, however the run ends. */
async function withPlaces(run: (places: Places) => Promise<void>): Promise<void> {
  const places = await findPlaces();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  // Pending questions to the workers then fail, and the `finally` below cleans up.
  for (const signal of signals) process.once(signal, killWorkers);
  try {
    await run(places);
  } finally {
    await places.remove();
    for (const signal of signals) process.off(signal, killWorkers);
  }
}

/** Measures with a single worker. */
async function measureAlone<T>(script: string): Promise<T> {
  const worker = await startWorker(script, 'under-test');
  try {
    return await worker.ask<T>('measure');
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
