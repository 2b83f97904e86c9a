import { chatRequest } from './bodies.ts';
import type { Rate, RateQuestion, Target } from './load.ts';
import type { Worker } from './processes.ts';

export const contestants = ['floor', 'fetchProxy', 'gateway'] as const;
export type Contestant = (typeof contestants)[number];

/** Everything that runs during a measurement. */
export interface Field {
  upstream: Worker;
  load: Worker;
  servers: Record<Contestant, Worker>;
}

/** What one server did in each round. */
export interface Rounds {
  /** Requests per second. */
  perSecond: number[];
  /** CPU of the server per request, in microseconds. */
  cpuUs: number[];
  /** Shares of a core in use, 1 for all of it: the server's, and of upstream and load generator together. */
  serverLoad: number[];
  peerLoad: number[];
  /** Pieces per answer as the client reads them. */
  pieces: number[];
}

export interface Contest {
  kind: 'json' | 'stream';
  connections: number;
  rounds: number;
  roundMs: number;
  /** After this long no further round begins, but for the third: a busy machine is not waited for. */
  enoughMs: number;
  /** Of the request, beyond 1 KB. */
  extraBytes?: number;
}

/** Lets the servers take turns, in short rounds, in another order each time. */
export async function compare(field: Field, contest: Contest): Promise<Record<Contestant, Rounds>> {
  const { upstream, load } = field;
  const results = { floor: noRounds(), fetchProxy: noRounds(), gateway: noRounds() };
  const endMs = performance.now() + contest.enoughMs;
  await upstream.ask('mode', contest.kind);
  for (const name of contestants) {
    await load.ask('open', question(field, name, contest));
    await warmUp(field, name, contest);
  }
  for (let round = 0; round < contest.rounds; round += 1) {
    if (round >= 3 && performance.now() > endMs) break;
    for (const name of rotated(contestants, round)) await runRound(field, name, contest, results[name]);
  }
  await load.ask('close');
  return results;
}

/** Until the server has had a second of its core, or has waited long for it: only then is its code compiled. */
async function warmUp({ servers, load }: Field, name: Contestant, contest: Contest): Promise<void> {
  const server = servers[name];
  const startUs = await cpuOf([server]);
  const start = performance.now();
  while ((await cpuOf([server])) - startUs < 1e6 && performance.now() - start < 4000) {
    await load.ask('rate', { ...question({ servers }, name, contest), durationMs: 250 });
  }
}

async function runRound(field: Field, name: Contestant, contest: Contest, into: Rounds): Promise<void> {
  const server = field.servers[name];
  const peers = [field.upstream, field.load];
  const before = { server: await cpuOf([server]), peers: await cpuOf(peers) };
  const rate = await field.load.ask<Rate>('rate', question(field, name, contest));
  const serverUs = (await cpuOf([server])) - before.server;
  const peersUs = (await cpuOf(peers)) - before.peers;
  into.perSecond.push((rate.requests / rate.elapsedMs) * 1000);
  into.cpuUs.push(serverUs / rate.requests);
  into.serverLoad.push(serverUs / 1000 / rate.elapsedMs);
  into.peerLoad.push(peersUs / 1000 / rate.elapsedMs);
  into.pieces.push(rate.pieces / rate.requests);
}

async function cpuOf(workers: readonly Worker[]): Promise<number> {
  let us = 0;
  for (const worker of workers) us += await worker.ask<number>('cpu');
  return us;
}

function question({ servers }: Pick<Field, 'servers'>, name: Contestant, contest: Contest): RateQuestion {
  const { connections, roundMs: durationMs } = contest;
  return { ...target(servers[name], name, contest), connections, durationMs };
}

/** Where a request goes, and what the answer to it holds. */
export function target(
  { port }: Worker,
  name: Contestant,
  { kind, extraBytes = 0 }: Pick<Contest, 'kind' | 'extraBytes'>,
): Target {
  const body = chatRequest({ stream: kind === 'stream', extraBytes });
  const ours = name === 'gateway' ? ['"service_metadata":', '"model":"bench/model-25"', '"cost":'] : [];
  const ends = kind === 'stream' ? ['"finish_reason":"stop"', 'data: [DONE]'] : ['"finish_reason":"stop"', '"usage":'];
  return { port, body, expect: [...ends, ...ours] };
}

function rotated<T>(values: readonly T[], by: number): T[] {
  const first = by % values.length;
  return [...values.slice(first), ...values.slice(0, first)];
}

function noRounds(): Rounds {
  return { perSecond: [], cpuUs: [], serverLoad: [], peerLoad: [], pieces: [] };
}
