import { chunksPerStream } from './bodies.ts';
import type { Collected } from './collector.ts';
import { costHead, costRow } from './cpu-cost.ts';
import { eventsPerStream as translatedEvents } from './dialects/response.ts';
import type { DialectCosts } from './dialects.ts';
import type { Growth } from './growth.ts';
import type { StartTimes } from './import-time.ts';
import type { Latency } from './latency.ts';
import type { LedgerFindings } from './ledger.ts';
import type { InProcess } from './measure-in-process.ts';
import type { PerStream } from './memory.ts';
import type { MessagesCosts } from './messages.ts';
import type { PlanCosts } from './plan.ts';
import { chunksPerStream as convertedChunks } from './responses/convert.ts';
import type { ResponsesCosts } from './responses.ts';
import { crowdSize } from './routing/crowd.ts';
import { median, medianDifference, medianRatio, percentile } from './statistics.ts';
import { type StoreName, storeTitles } from './stores.ts';
import { type TelemetryRounds, telemetries } from './telemetry.ts';
import type { TenantRounds } from './tenants.ts';
import type { Contestant, Rounds } from './throughput.ts';
import type { WorkerRounds } from './workers.ts';

/** All measured values; parts that did not run are absent. */
export interface Findings {
  json?: Record<Contestant, Rounds>;
  /** With requests of 40 KB. */
  large?: Record<Contestant, Rounds>;
  stream?: Record<Contestant, Rounds>;
  lockStep?: LockSteps;
  latency?: Record<'floor' | 'gateway', Latency>;
  /** Measured in the JSON contest. */
  garbage?: Record<'floor' | 'gateway', Collected>;
  inProcess?: InProcess;
  plan?: PlanCosts;
  dialects?: DialectCosts;
  responses?: ResponsesCosts;
  messages?: MessagesCosts;
  /** How costs grow with what is configured, stored or sent. */
  growth?: readonly Growth[];
  memory?: { streams: number; floor: PerStream; gateway: PerStream };
  start?: StartTimes;
  /** With budgets and sealed credentials. */
  tenants?: TenantRounds;
  workers?: WorkerRounds;
  /** With spans and metrics. */
  telemetry?: Record<'json' | 'stream', TelemetryRounds>;
  /** Holds and settlements alone. */
  ledger?: LedgerFindings;
  /** One line for each store that was not found. */
  missing?: readonly string[];
}

/** The events in a chunk of a stream in lock-step. */
export const eventsPerChunks = [1, 4, 16] as const;

/** Streams in lock-step, by the events of a chunk. */
export type LockSteps = Partial<Record<(typeof eventsPerChunks)[number], Record<'floor' | 'gateway', Rounds>>>;

export interface Machine {
  date: string;
  node: string;
  system: string;
  processor: string;
  /** Whether the server under test had its own core. */
  pinned: boolean;
  /** Load average over one minute before the measurement. Other processes make the results noisy. */
  load: number;
}

/** A target of the project and its measured value. */
export interface Verdict {
  what: string;
  measured: string;
  target: string;
  passed: boolean;
  /** The complete verdict in one line. */
  line: string;
}

/** Events in one stream: the chunks and `[DONE]`. */
const eventsPerStream = chunksPerStream + 1;

/** Compares the measured values with the targets. */
export function judge(findings: Findings): Verdict[] {
  const { json, stream, latency, plan, dialects, responses, messages, memory, start, tenants, telemetry } = findings;
  const { lockStep } = findings;
  const verdicts: Verdict[] = [];
  const atLeast = (what: string, value: number, least: number, unit: string) =>
    verdicts.push(verdict(what, value, `at least ${least.toFixed(2)}${unit}`, value >= least, unit));
  const atMost = (what: string, value: number, most: number, unit: string) =>
    verdicts.push(verdict(what, value, `at most ${most}${unit}`, value <= most, unit));
  if (json) {
    atLeast('JSON, of the floor', shareOfFloor(json), 0.65, '');
    atLeast('JSON, of the fetch proxy', medianRatio(json.gateway.perSecond, json.fetchProxy.perSecond), 2, '');
  }
  if (stream) {
    atLeast('streams, of the floor', shareOfFloor(stream), 0.9, '');
    atMost('CPU per forwarded event, over the floor', cpuPerEventUs(stream), 3, ' µs');
  }
  for (const events of eventsPerChunks) {
    const rounds = lockStep?.[events];
    const what = `CPU per chunk in lock-step, ${events} ${events === 1 ? 'event' : 'events'} a chunk, over the floor`;
    if (rounds) atMost(what, cpuPerEventUs(rounds), 4, ' µs');
  }
  if (latency) atMost('added latency, p50', addedMs(latency, 'p50Ms'), 0.2, ' ms');
  if (plan) {
    // The slowest of the three sets with all preferences.
    const costUs = Math.max(plan.weighted.medianUs, plan.sort.medianUs, plan.order.medianUs);
    atMost(`plan of ${crowdSize} endpoints, all preferences set`, costUs, 30, ' µs');
  }
  if (dialects) {
    const costs = Object.values(dialects.translated).map(({ medianUs }) => medianUs);
    atMost('per event of a translated stream, worst dialect', Math.max(...costs), 5, ' µs');
  }
  if (responses) atMost('per chunk converted to Responses', responses.converted.medianUs, 6, ' µs');
  for (const { cause, exponent } of findings.growth ?? []) atMost(`growth with ${cause}, exponent`, exponent, 1.1, '');
  if (messages) {
    atMost('per event of a stream of Messages, of one of chat that passes through', messages.ratio, 1, '');
    atMost('per event of a stream of Gemini, of one of chat that passes through', messages.geminiRatio, 3.5, '');
  }
  if (memory) atMost('memory per open stream', memory.gateway.rss / 1024, 40, ' KB');
  if (start) {
    atMost('import', median(start.importMs), 35, ' ms');
    atMost('createGateway', median(start.createMs), 5, ' ms');
    atMost('import, createGateway and the first response in process', median(start.answerMs), 60, ' ms');
  }
  if (tenants) {
    for (const [store, least] of [
      ['memory', 0.6],
      ['sqlite', 0.35],
      ['redis', 0.36],
      ['postgres', 0.3],
    ] as const) {
      const rounds = tenants[store];
      if (!rounds) continue;
      const value = medianRatio(rounds.perSecond, tenants.floor.perSecond);
      atLeast(`JSON with budget and credential, ${storeTitles[store]}, of the floor`, value, least, '');
    }
  }
  if (telemetry) {
    const { json: ofJson, stream: ofStreams } = telemetry;
    atMost('CPU of JSON, metrics and every tenth request traced, of none', cpuOfNone(ofJson, 'sampled'), 1.05, '');
    atMost('CPU of JSON, metrics and every request traced, of none', cpuOfNone(ofJson, 'all'), 1.15, '');
    atMost('CPU of streams, metrics and every request traced, of none', cpuOfNone(ofStreams, 'all'), 1.1, '');
  }
  return verdicts;
}

/** CPU of the server with telemetry, as a multiple of that without. */
function cpuOfNone(rounds: TelemetryRounds, name: keyof TelemetryRounds): number {
  return medianRatio(rounds[name].cpuUs, rounds.none.cpuUs);
}

function verdict(what: string, value: number, target: string, passed: boolean, unit: string): Verdict {
  const measured = `${value.toFixed(2)}${unit}`;
  return { what, measured, target, passed, line: `${passed ? 'pass' : 'FAIL'}  ${what}: ${measured} (${target})` };
}

/** The gateway's requests per second as a share of the floor's. */
function shareOfFloor({ gateway, floor }: Record<'gateway' | 'floor', Rounds>): number {
  return medianRatio(gateway.perSecond, floor.perSecond);
}

/** CPU of the server per event, gateway minus floor, in microseconds. */
function cpuPerEventUs({ gateway, floor }: Record<'gateway' | 'floor', Rounds>): number {
  return medianDifference(gateway.cpuUs, floor.cpuUs) / eventsPerStream;
}

/** The same comparisons by the servers' CPU time. They are steadier when other processes use the cores too. */
export function byCpu({ json, stream }: Findings): string {
  const share = ({ floor, gateway }: Record<Contestant, Rounds>) => medianRatio(floor.cpuUs, gateway.cpuUs).toFixed(2);
  const parts = [...(json ? [`json ${share(json)}`] : []), ...(stream ? [`stream ${share(stream)}`] : [])];
  return parts.length === 0 ? '' : `by CPU: ${parts.join(', ')} of floor`;
}

/** The last line of a run's output. */
export function headline({ json, stream }: Findings): string {
  const share = (rounds: Record<Contestant, Rounds> | undefined) => (rounds ? shareOfFloor(rounds).toFixed(2) : '-');
  return `bench: json ${share(json)} of floor, stream ${share(stream)} of floor`;
}

/** The findings as Markdown. */
export function report(findings: Findings, machine: Machine): string {
  const {
    json,
    large,
    garbage,
    stream,
    latency,
    inProcess,
    plan,
    dialects,
    responses,
    messages,
    growth,
    memory,
    start,
    lockStep,
    tenants,
    workers,
    telemetry,
    ledger,
    missing = [],
  } = findings;
  const sections = [
    '# Results of `npm run bench`',
    `${machine.date}, Node ${machine.node}, ${machine.system}, ${machine.processor}. ` +
      (machine.pinned
        ? 'The server under test has one core, upstream and load generator share another.'
        : 'The processes were not pinned to cores: expect noise.') +
      ` Before the run, ${machine.load.toFixed(1)} other processes wanted a core${machine.load > 1 ? ': expect noise' : ''}.`,
    'The servers take turns of a third of a second; a ratio is the median of the ratios within each round. ' +
      '[docs/performance.md](../docs/performance.md) explains the measurements and where the time goes.',
  ];
  const verdicts = judge(findings);
  if (verdicts.length > 0) sections.push(section('Targets', ['', 'measured', 'target', ''], verdicts.map(verdictRow)));
  if (json) sections.push(section('JSON, 64 connections, requests of 1 KB', contestHead, contestRows(json, names)));
  if (large) sections.push(section('JSON, 64 connections, requests of 40 KB', contestHead, contestRows(large, names)));
  if (garbage) sections.push(section('Garbage of a JSON request', garbageHead, garbageRows(garbage)));
  if (stream) {
    sections.push(
      section(`Streams of ${chunksPerStream} events, 32 connections`, contestHead, contestRows(stream, names)),
    );
    sections.push(section('CPU per forwarded event', ['', 'µs'], eventRows(stream, inProcess)));
  }
  if (lockStep) {
    const rows = eventsPerChunks.flatMap((events) => {
      const rounds = lockStep[events];
      if (!rounds) return [];
      const perChunk = (name: 'floor' | 'gateway') => (median(rounds[name].cpuUs) / eventsPerStream).toFixed(2);
      const share = shareOfFloor(rounds).toFixed(2);
      return [[String(events), perChunk('floor'), perChunk('gateway'), cpuPerEventUs(rounds).toFixed(2), share]];
    });
    const head = ['events a chunk', 'floor µs', 'gateway µs', 'over the floor µs', 'of the floor'];
    sections.push(section('CPU per chunk of streams in lock-step, 32 connections', head, rows));
  }
  if (latency)
    sections.push(section('Latency, one request after another', ['', 'p50 ms', 'p99 ms'], latencyRows(latency)));
  if (inProcess) {
    const { jsonUs, webObjectsUs } = inProcess;
    sections.push(
      section(
        'CPU per request of `gateway.fetch`, without sockets',
        ['', 'µs'],
        [
          ['JSON, total', jsonUs.toFixed(1)],
          ['of which making and reading `Request` and `Response`', webObjectsUs.toFixed(1)],
        ],
      ),
    );
  }
  if (plan) {
    const rows = [
      costRow('no preferences: weighted random choice by price', plan.none, 1),
      costRow('all but `order` and `sort`: filters, then weighted random choice', plan.weighted, 1),
      costRow('all but `order`, sorted by latency', plan.sort, 1),
      costRow('all, `order` of ten', plan.order, 1),
    ];
    sections.push(section(`CPU per plan of ${crowdSize} endpoints`, costHead, rows));
  }
  if (dialects) {
    const { translated, passedThrough } = dialects;
    const rows = Object.entries(translated).map(([name, cost]) => costRow(name, cost, 2));
    rows.push(costRow('openai-chat, passed through as bytes', passedThrough, 2));
    sections.push(section(`CPU per event of a translated stream of ${translatedEvents} events`, costHead, rows));
  }
  if (responses) {
    const rows = [costRow('to events of Responses', responses.converted, 2)];
    sections.push(section(`CPU per chunk of a stream of ${convertedChunks} chunks`, costHead, rows));
  }
  if (messages) {
    const rows = [
      ['Messages, to a provider that speaks them', messages.messagesUs.toFixed(2), messages.ratio.toFixed(2)],
      ['Gemini, to a provider that speaks it', messages.geminiUs.toFixed(2), messages.geminiRatio.toFixed(2)],
      ['chat completions, passed through', messages.chatUs.toFixed(2), '1.00'],
    ];
    sections.push(section('CPU per event of a stream in the format of its provider', ['', 'median µs', 'ratio'], rows));
  }
  if (growth) {
    const rows = growth.map(({ cause, sizes, costsUs, exponent }) => [
      cause,
      sizes.map((size) => size.toLocaleString('en')).join(', '),
      costsUs.map((cost) => cost.toFixed(cost < 1_000 ? 1 : 0)).join(', '),
      exponent.toFixed(2),
    ]);
    sections.push(section('CPU of a JSON request in process, as it grows', ['', 'sizes', 'µs', 'exponent'], rows));
  }
  if (memory) {
    const row = (name: string, { rss, rssWithReserve, heap }: PerStream) => [
      name,
      kilobytes(rss),
      kilobytes(rssWithReserve),
      kilobytes(heap),
    ];
    const rows = [row('floor', memory.floor), row('gateway', memory.gateway)];
    sections.push(
      section(
        `Memory per open stream, at ${memory.streams} idle ones`,
        ['', 'RSS KB', 'with V8’s reserve KB', 'heap and buffers KB'],
        rows,
      ),
    );
  }
  if (start) {
    const row = (name: string, ms: readonly number[]) => [
      name,
      median(ms).toFixed(1),
      Math.min(...ms).toFixed(1),
      Math.max(...ms).toFixed(1),
    ];
    const rows = [
      row('import', start.importMs),
      row('`createGateway`', start.createMs),
      row('both, and the first response', start.answerMs),
      row('the same, from a provider over a connection', start.connectedMs),
    ];
    sections.push(section('Start of a process', ['', 'median ms', 'least ms', 'most ms'], rows));
  }
  if (tenants) {
    const title = 'JSON, 64 connections, a budgeted workspace and a sealed credential';
    const rows = contestRows(tenants, { floor: names.floor, ...storeTitles });
    sections.push([section(title, contestHead, rows), ...missing].join('\n\n'));
  }
  if (workers) {
    const rows = [workerRow('1 worker', workers.one, workers.one), workerRow('2 workers', workers.two, workers.one)];
    const head = ['', 'per second', 'best round', 'of one worker', 'CPU µs of all processes'];
    sections.push(section('`model-gateway serve --workers`, JSON, 64 connections, one SQLite file', head, rows));
  }
  if (telemetry) {
    const head = ['', 'per second', 'CPU µs', 'of none'];
    sections.push(
      section('Spans and metrics, JSON, 64 connections', head, telemetryRows(telemetry.json)),
      section(`Spans and metrics, streams of ${chunksPerStream} events`, head, telemetryRows(telemetry.stream)),
    );
  }
  if (ledger) {
    const head = ['', 'per second', 'best round', 'our CPU µs'];
    sections.push([section('Hold and settle alone, 64 at once', head, ledgerRows(ledger)), ...missing].join('\n\n'));
  }
  return `${sections.join('\n\n')}\n`;
}

function workerRow(name: string, { perSecond, cpuUs }: Rounds, one: Rounds): string[] {
  return [
    name,
    median(perSecond).toFixed(0),
    Math.max(...perSecond).toFixed(0),
    medianRatio(perSecond, one.perSecond).toFixed(2),
    median(cpuUs).toFixed(0),
  ];
}

const telemetryNames = {
  none: 'no telemetry',
  sampled: 'metrics, and spans of every tenth request',
  all: 'metrics, and spans of every request',
} satisfies Record<keyof TelemetryRounds, string>;

function telemetryRows(rounds: TelemetryRounds): string[][] {
  return telemetries.map((name) => [
    telemetryNames[name],
    median(rounds[name].perSecond).toFixed(0),
    median(rounds[name].cpuUs).toFixed(0),
    cpuOfNone(rounds, name).toFixed(2),
  ]);
}

function verdictRow({ what, measured, target, passed }: Verdict): string[] {
  return [what, measured, target, passed ? 'pass' : '**fail**'];
}

const contestHead = [
  '',
  'per second',
  'best round',
  'of the floor',
  'server CPU µs',
  'of the floor by CPU',
  'server busy',
  'reads per response',
];

const names: Record<Contestant, string> = { floor: 'floor', fetchProxy: 'fetch proxy', gateway: 'gateway' };

/** One row per measured server, in the order of `titles`. Ratios are relative to `floor`. */
function contestRows<Name extends string>(
  rounds: { readonly [name in Name]?: Rounds } & { readonly floor: Rounds },
  titles: Record<Name, string>,
): string[][] {
  return (Object.keys(titles) as Name[]).flatMap((name) => {
    const one: Rounds | undefined = rounds[name];
    if (!one) return [];
    const { perSecond, cpuUs, serverLoad, reads } = one;
    return [
      [
        titles[name],
        median(perSecond).toFixed(0),
        percentile(perSecond, 1).toFixed(0),
        medianRatio(perSecond, rounds.floor.perSecond).toFixed(2),
        median(cpuUs).toFixed(0),
        medianRatio(rounds.floor.cpuUs, cpuUs).toFixed(2),
        percent(median(serverLoad)),
        median(reads).toFixed(1),
      ],
    ];
  });
}

const garbageHead = ['', 'new, KB', 'promoted, KB', 'paused, µs'];

function garbageRows(garbage: Record<'floor' | 'gateway', Collected>): string[][] {
  return (['floor', 'gateway'] as const).map((name) => {
    const { allocated, promoted, pausedUs } = garbage[name];
    return [name, (allocated / 1024).toFixed(1), (promoted / 1024).toFixed(2), pausedUs.toFixed(1)];
  });
}

function ledgerRows(found: LedgerFindings): string[][] {
  return (Object.keys(storeTitles) as StoreName[]).flatMap((store) => {
    const rounds = found[store];
    if (!rounds) return [];
    const { perSecond, cpuUs } = rounds;
    const best = percentile(perSecond, 1);
    return [[storeTitles[store], median(perSecond).toFixed(0), best.toFixed(0), median(cpuUs).toFixed(1)]];
  });
}

function eventRows(stream: Record<Contestant, Rounds>, inProcess: InProcess | undefined): string[][] {
  const perEvent = (name: Contestant) => (median(stream[name].cpuUs) / eventsPerStream).toFixed(2);
  const rows = [
    ['floor, total', perEvent('floor')],
    ['fetch proxy, total', perEvent('fetchProxy')],
    ['gateway, total', perEvent('gateway')],
    ['gateway, over the floor', cpuPerEventUs(stream).toFixed(2)],
  ];
  if (!inProcess) return rows;
  return [
    ...rows,
    ['gateway, without sockets, one event per chunk', inProcess.eventUs.toFixed(2)],
    ['the same without the gateway: an empty web stream', inProcess.webEventUs.toFixed(2)],
  ];
}

function latencyRows(latency: Record<'floor' | 'gateway', Latency>): string[][] {
  const row = (name: 'floor' | 'gateway') => {
    const { p50Ms, p99Ms } = latency[name];
    return [name, median(p50Ms).toFixed(3), median(p99Ms).toFixed(3)];
  };
  const added = ['added', addedMs(latency, 'p50Ms').toFixed(3), addedMs(latency, 'p99Ms').toFixed(3)];
  return [row('floor'), row('gateway'), added];
}

/** Median of the latency that the gateway adds, over pairs of turns. */
function addedMs({ floor, gateway }: Record<'floor' | 'gateway', Latency>, key: keyof Latency): number {
  return medianDifference(gateway[key], floor[key]);
}

function section(title: string, head: readonly string[], rows: readonly string[][]): string {
  return `## ${title}\n\n${table(head, rows)}`;
}

/** Makes a Markdown table with aligned columns: the first to the left, the others to the right. */
export function table(head: readonly string[], rows: readonly string[][]): string {
  const widths = head.map((_, at) => Math.max(3, ...[head, ...rows].map((cells) => cells[at]?.length ?? 0)));
  const pad = (cell: string, at: number) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0));
  const line = (cells: readonly string[]) => `| ${cells.map(pad).join(' | ')} |`;
  const rule = widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

function kilobytes(bytes: number): string {
  return (bytes / 1024).toFixed(1);
}
