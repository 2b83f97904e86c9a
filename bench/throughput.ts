import { chatRequest, apiKey as knownKey } from './bodies.ts';
import type { Rate, RateQuestion, Target } from './load.ts';
import type { Worker } from './processes.ts';

export const contestants = ['floor', 'fetchProxy', 'gateway'] as const;
export type Contestant = (typeof contestants)[number];

/** A server that takes part. */
export interface Server extends Worker {
  /** What callers present. Default: the key that all know. */
  apiKey?: string;
  /** What a right answer of it holds beside what the upstream has said. */
  signs: readonly string[];
}

/** Of the gateway's answers, in JSON and in streams. */
export const gatewaySigns = ['"service_metadata":', '"model":"bench/model-25"', '"cost":'];

/** Everything that runs during a measurement. */
export interface Field<Name extends string = Contestant> {
  /** The upstream, which is what its port is of, and the load generator. */
  peer: Worker;
  servers: Record<Name, Server>;
}

/** What one server did in each round. */
export interface Rounds {
  /** Requests it has answered in all, those before the first round included. */
  requests: number;
  /** Requests per second. */
  perSecond: number[];
  /** CPU of the server per request, in microseconds. */
  cpuUs: number[];
  /** The share of its core that the server used, 1 for all of it. */
  serverLoad: number[];
  /** Pieces per answer as the client reads them. */
  pieces: number[];
}

export interface Contest {
  kind: 'json' | 'stream';
  connections: number;
  rounds: number;
  roundMs: number;
  /** What each server answers before the first round; and after how long that has to do, for all together. */
  warmRequests: number;
  warmMs: number;
  /** After this long no further round begins, but for the third: a busy machine is not waited for. */
  enoughMs: number;
  /** Of the request, beyond 1 KB. */
  extraBytes?: number;
}

/** Lets the servers take turns, in short rounds, in another order each time. */
export async function compare<Name extends string>(
  field: Field<Name>,
  contest: Contest,
): Promise<Record<Name, Rounds>> {
  const { peer, servers } = field;
  const names = Object.keys(servers) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, noRounds()])) as Record<Name, Rounds>;
  await peer.ask('mode', contest.kind);
  for (const name of names)
    results[name].requests += await peer.ask<number>('open', question(servers[name], contest, 0));
  await warmUp(peer, servers, contest, results);
  const endMs = performance.now() + contest.enoughMs;
  for (let round = 0; round < contest.rounds; round += 1) {
    if (round >= 3 && performance.now() > endMs) break;
    for (const name of rotated(names, round)) await runRound(peer, servers[name], contest, results[name]);
  }
  await peer.ask('close');
  return results;
}

/** How long a server answers in one turn before it is measured, in ms; one that is warm only stays in practice. */
const warmTurnMs = { cold: 250, warm: 20 };

/**
 * Until each server has answered so many requests that its code is compiled. V8 still optimises after tens of thousands
 * of calls, on threads that share the server's core: after 10,000 requests that was a quarter of the gateway's CPU, after
 * 50,000 a fiftieth. In turns, so that no connection is idle for long.
 */
async function warmUp<Name extends string>(
  peer: Worker,
  servers: Record<Name, Server>,
  contest: Contest,
  results: Record<Name, Rounds>,
): Promise<void> {
  const names = Object.keys(servers) as Name[];
  const isWarm = (name: Name) => results[name].requests >= contest.warmRequests;
  const endMs = performance.now() + contest.warmMs;
  while (!names.every(isWarm) && performance.now() < endMs) {
    for (const name of names) {
      const durationMs = isWarm(name) ? warmTurnMs.warm : warmTurnMs.cold;
      const rate = await peer.ask<Rate>('rate', question(servers[name], contest, durationMs));
      results[name].requests += rate.requests;
    }
  }
}

/** In ms, not measured: at its beginning the caches of the core hold what the server before it needed. */
const leadInMs = 100;

async function runRound(peer: Worker, server: Server, contest: Contest, into: Rounds): Promise<void> {
  const leadIn = await peer.ask<Rate>('rate', question(server, contest, leadInMs));
  into.requests += leadIn.requests;
  const beforeUs = await server.ask<number>('cpu');
  const rate = await peer.ask<Rate>('rate', question(server, contest, contest.roundMs));
  const serverUs = (await server.ask<number>('cpu')) - beforeUs;
  into.requests += rate.requests;
  into.perSecond.push((rate.requests / rate.elapsedMs) * 1000);
  into.cpuUs.push(serverUs / rate.requests);
  into.serverLoad.push(serverUs / 1000 / rate.elapsedMs);
  into.pieces.push(rate.pieces / rate.requests);
}

/** What the load generator is to do. */
export function question(
  server: Server,
  contest: Pick<Contest, 'kind' | 'connections' | 'extraBytes'>,
  durationMs: number,
): RateQuestion {
  return { ...target(server, contest), connections: contest.connections, durationMs };
}

/** Where a request goes, and what the answer to it holds. */
export function target(
  { port, apiKey = knownKey, signs }: Server,
  { kind, extraBytes = 0 }: Pick<Contest, 'kind' | 'extraBytes'>,
): Target {
  const body = chatRequest({ stream: kind === 'stream', extraBytes });
  const ends = kind === 'stream' ? ['"finish_reason":"stop"', 'data: [DONE]'] : ['"finish_reason":"stop"', '"usage":'];
  return { port, apiKey, body, expect: [...ends, ...signs] };
}

/** The values, beginning with another one each time. */
export function rotated<T>(values: readonly T[], by: number): T[] {
  const first = by % values.length;
  return [...values.slice(first), ...values.slice(0, first)];
}

function noRounds(): Rounds {
  return { requests: 0, perSecond: [], cpuUs: [], serverLoad: [], pieces: [] };
}
