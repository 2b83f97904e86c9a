import { chatRequest, apiKey as knownKey } from './bodies.ts';
import type { Rate, RateQuestion, Target } from './load.ts';
import type { Worker } from './processes.ts';

export const contestants = ['floor', 'fetchProxy', 'gateway'] as const;
export type Contestant = (typeof contestants)[number];

/** A measured server. */
export interface Server extends Worker {
  /** The callers' API key. Default: `apiKey` of `bodies.ts`. */
  apiKey?: string;
  /** Texts that its correct responses contain, besides the upstream's. */
  signs: readonly string[];
}

/** Texts in the gateway's responses, both JSON and streams. */
export const gatewaySigns = ['"service_metadata":', '"model":"bench/model-25"', '"cost":'];

/** Everything that runs during a measurement. */
export interface Field<Name extends string = Contestant> {
  /** The upstream and the load generator; the port is the upstream's. */
  peer: Worker;
  servers: Record<Name, Server>;
}

/** Results of one server, one value per round. */
export interface Rounds {
  /** Total number of requests, those before the first round included. */
  requests: number;
  /** Requests per second. */
  perSecond: number[];
  /** CPU of the server per request, in microseconds. */
  cpuUs: number[];
  /** Share of its core that the server used, from 0 to 1. */
  serverLoad: number[];
  /** The client's socket reads per response. */
  reads: number[];
}

export interface Contest {
  kind: 'json' | 'stream';
  /** Streams come in lock-step, in chunks of so many events: see `lock-step.ts`. Absent: as fast as they are taken. */
  eventsPerChunk?: number;
  connections: number;
  rounds: number;
  roundMs: number;
  /** Number of requests to each server before the first round. */
  warmRequests: number;
  /** Time limit for the warm-up of all servers together. */
  warmMs: number;
  /** After this time no new round begins, so that a busy machine does not take too long. Three rounds always run. */
  enoughMs: number;
  /** Size of the request beyond 1 KB. */
  extraBytes?: number;
}

/** Measures the servers in short rounds. In each round all servers take a turn, and another server starts. */
export async function compare<Name extends string>(
  field: Field<Name>,
  contest: Contest,
): Promise<Record<Name, Rounds>> {
  const { peer, servers } = field;
  const names = Object.keys(servers) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, noRounds()])) as Record<Name, Rounds>;
  const { kind, eventsPerChunk } = contest;
  await peer.ask('mode', eventsPerChunk === undefined ? kind : { eventsPerChunk });
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

/** Duration of one turn of the warm-up in ms. A server that is warm already only gets short turns to stay warm. */
const warmTurnMs = { cold: 250, warm: 20 };

/**
 * Sends requests until V8 has compiled each server's code. V8 still optimises after tens of thousands of calls, on
 * threads that share the server's core: after 10,000 requests this was a quarter of the gateway's CPU, after 50,000 a
 * fiftieth. The servers take turns, so that no connection is idle for long.
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

/** Duration in ms of requests before each measurement. At first, the core's caches hold data of the server before. */
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
  into.reads.push(rate.reads / rate.requests);
}

/** Makes a task for the load generator. */
export function question(
  server: Server,
  contest: Pick<Contest, 'kind' | 'connections' | 'extraBytes'>,
  durationMs: number,
): RateQuestion {
  return { ...target(server, contest), connections: contest.connections, durationMs };
}

/** Makes a request for a server, with the texts that its response contains. */
export function target(
  { port, apiKey = knownKey, signs }: Server,
  { kind, extraBytes = 0 }: Pick<Contest, 'kind' | 'extraBytes'>,
): Target {
  const body = chatRequest({ stream: kind === 'stream', extraBytes });
  const ends = kind === 'stream' ? ['"finish_reason":"stop"', 'data: [DONE]'] : ['"finish_reason":"stop"', '"usage":'];
  return { port, apiKey, body, expect: [...ends, ...signs] };
}

/** Rotates the values: the one at index `by` (modulo the length) comes first. */
export function rotated<T>(values: readonly T[], by: number): T[] {
  const first = by % values.length;
  return [...values.slice(first), ...values.slice(0, first)];
}

function noRounds(): Rounds {
  return { requests: 0, perSecond: [], cpuUs: [], serverLoad: [], reads: [] };
}
