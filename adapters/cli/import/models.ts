import type { Written } from '../config-source.ts';

/** An endpoint of the new config. */
export interface ImportedEndpoint {
  provider: string;
  model: string;
  baseModel?: string | undefined;
  weight?: number | undefined;
  pricing?: Written;
  maxPromptTokens?: number | undefined;
  maxCompletionTokens?: number | undefined;
}

/** A model of the new config. */
export interface ImportedModel {
  slug: string;
  aliases: string[];
  fallbacks: string[];
  defaults: Record<string, Written>;
  order?: 'price' | undefined;
  endpoints: ImportedEndpoint[];
}

/** The most that the options take. */
const mostFallbacks = 20;
const mostAliases = 100;
const mostAttempts = 50;

export function writtenModel({ slug, aliases, fallbacks, defaults, order, endpoints }: ImportedModel): Written {
  return {
    slug,
    aliases: aliases.length > 0 ? aliases.slice(0, mostAliases) : undefined,
    fallbacks: fallbacks.length > 0 ? fallbacks.slice(0, mostFallbacks) : undefined,
    defaults: Object.keys(defaults).length > 0 ? defaults : undefined,
    order,
    endpoints: endpoints.map((endpoint) => ({ ...endpoint })),
  };
}

/** Tells whether a name has an author, as slugs have. */
export function isSlug(name: string): boolean {
  return /^[^\s/]+\/\S+$/.test(name) && !name.startsWith('~') && name.length <= 256;
}

/** Tells whether a name may be an alias. */
export function isAliasName(name: string): boolean {
  return /^[^\s~]\S{0,255}$/.test(name);
}

/** A slug for a name without an author. @param taken  gets the slug */
export function freeSlug(author: string, name: string, taken: Set<string>): string {
  const clean = name.replace(/\s+/g, '-').slice(0, 200);
  for (let at = 1; ; at++) {
    const slug = `${at === 1 ? author : `${author}-${at}`}/${clean}`;
    if (taken.has(slug)) continue;
    taken.add(slug);
    return slug;
  }
}

/** The most endpoints that one request may come to: those of a model and of all of its fallbacks. */
function mostEndpoints(models: readonly ImportedModel[]): number {
  const counts = new Map(models.map(({ slug, endpoints }) => [slug, endpoints.length]));
  const countOf = (slug: string) => counts.get(slug) ?? 0;
  return Math.max(
    1,
    ...models.map(({ slug, fallbacks }) => fallbacks.reduce((sum, one) => sum + countOf(one), countOf(slug))),
  );
}

/** The numbers of attempts: the retries of one endpoint must not use up those of the next. */
export interface Attempts {
  maxAttempts: number;
  attemptsPerEndpoint: number;
}

/** @param retries  of one endpoint, after its first attempt; undefined: as is usual here */
export function attemptsOf(retries: number | undefined, models: readonly ImportedModel[]): Attempts | undefined {
  const usual = { maxAttempts: 5, attemptsPerEndpoint: 2 };
  const endpoints = mostEndpoints(models);
  if (retries === undefined) return endpoints * usual.attemptsPerEndpoint <= usual.maxAttempts ? undefined : all(2);
  return all(Math.min(mostAttempts, Math.max(1, Math.floor(retries) + 1)));
  function all(attemptsPerEndpoint: number): Attempts {
    return { maxAttempts: Math.min(mostAttempts, attemptsPerEndpoint * endpoints), attemptsPerEndpoint };
  }
}

const usualTotalMs = 600_000;
const longestMs = 2 ** 31 - 1;

/** Time-outs of one attempt, in ms. */
export interface AttemptTimes {
  /** A complete response. */
  completeMs?: number | undefined;
  /** The first token of a stream. */
  firstTokenMs?: number | undefined;
  /** The complete request, with all of its attempts. */
  totalMs?: number | undefined;
}

/** The option `timeouts`: every attempt has its time, and the request has the time of all of them. */
export function timeoutsOf(times: AttemptTimes, attempts: Attempts | undefined): Written {
  const { completeMs, firstTokenMs = completeMs, totalMs } = times;
  if (completeMs === undefined && firstTokenMs === undefined && totalMs === undefined) return undefined;
  const whole = Math.max(completeMs ?? 0, firstTokenMs ?? 0) * (attempts?.maxAttempts ?? 5);
  const needed = whole > usualTotalMs ? Math.min(whole, longestMs) : undefined;
  return { headersMs: firstTokenMs, jsonHeadersMs: completeMs, firstEventMs: firstTokenMs, totalMs: totalMs ?? needed };
}

/** Milliseconds; undefined: none, or no time that a timer can wait. */
export function milliseconds(value: number | undefined, unitMs = 1000): number | undefined {
  const ms = value === undefined ? 0 : Math.round(value * unitMs);
  return ms > 0 && ms <= longestMs ? ms : undefined;
}
