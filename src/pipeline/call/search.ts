import type { StopSignal } from '../../base/async/stop.ts';
import { disregard } from '../../base/async/tell.ts';
import { withSignal } from '../../base/async/within.ts';
import type { Clock } from '../../base/clock.ts';
import { GatewayError } from '../../base/errors.ts';
import { cleanName } from '../../base/text/clean-text.ts';
import { firstWords } from '../../base/text/first-words.ts';
import type { Expense } from '../../call/hooks.ts';
import {
  boundsOf,
  type FoundPages,
  mostTitleCharacters,
  type SearchAnswer,
  type SearchEngine,
  type SearchQuery,
  type SearchRequest,
  type SearchResult,
} from '../../call/search.ts';
import { isOfDomains } from '../../search/domains.ts';

/** The search engines that may be asked, and the party that asks. */
export interface SearchChoice {
  engines: readonly SearchEngine[];
  /** The plugin that searches, which errors name; null: a server tool or a guardrail. */
  plugin: string | null;
}

/** The parts of a call that a search needs. */
export interface SearchDeps extends SearchChoice {
  clock: Clock;
  timeoutMs: number;
  signal: StopSignal;
  hold: (nanoUsd: number) => Promise<Expense>;
}

/**
 * The most characters of a query. Engines refuse longer ones, and the first words of a long prompt seldom matter more
 * than the rest.
 */
const queryCharacters = 400;
const domainForm = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?:\/[\w.~%/+-]*)?$/i;
const mostDomains = 100;

/** A search that can be made. */
interface Checked {
  engine: SearchEngine;
  query: Omit<SearchQuery, 'signal'>;
  /** Integer nano-USD. */
  price: number;
}

/**
 * Returns the most a search may cost, integer nano-USD.
 * @throws GatewayError invalid_request (400) where there is no such engine, or it cannot search as asked
 */
export function priceOfSearch(asked: SearchRequest, choice: SearchChoice): number {
  return checked(asked, choice).price;
}

/**
 * Searches the web and pays for it.
 * @throws GatewayError invalid_request (400) with the errors of `priceOfSearch`; payment_required (402);
 * upstream_failed (502) where the engine fails; the reason of the signal
 */
export async function searchWeb(asked: SearchRequest, deps: SearchDeps): Promise<FoundPages> {
  const { engine, query, price } = checked(asked, deps);
  const ignored = query.country === null || engine.takesCountry === true ? [] : (['country'] as const);
  if (query.query === '') return { engine: engine.name, results: [], nanoUsd: 0, ignored };
  const expense = await deps.hold(price);
  const limits = { timeoutMs: deps.timeoutMs, signals: [deps.signal], late: () => new Error('too slow') };
  const answer = await withSignal(deps.clock, limits, (signal) => engine.search({ ...query, signal })).catch(
    (error: unknown): SearchAnswer => {
      deps.signal.throwIfAborted();
      // The held amount stays booked: the engine may have charged for the search.
      throw new GatewayError('upstream_failed', 'The web search failed; try again later', { cause: error });
    },
  );
  const { nanoUsd = price } = answer;
  expense.settle(nanoUsd);
  return { engine: engine.name, results: usable(answer, query), nanoUsd: isAmount(nanoUsd) ? nanoUsd : price, ignored };
}

/** true: the value is an amount. Any other value is booked as the price. */
function isAmount(nanoUsd: number): boolean {
  return Number.isSafeInteger(nanoUsd) && nanoUsd >= 0;
}

function checked(asked: SearchRequest, choice: SearchChoice): Checked {
  const engine = engineOf(asked.engine, choice);
  const { includeDomains = [], excludeDomains = [], country = null } = asked;
  checkDomains(includeDomains, excludeDomains, engine);
  const { maxResults, maxCharacters } = boundsOf(asked);
  const query = firstWords(asked.query, queryCharacters);
  return {
    engine,
    query: { query, maxResults, maxCharacters, includeDomains, excludeDomains, country },
    price: priceOf(engine, maxResults),
  };
}

/** @throws TypeError where the engine names no price: a search whose cost was not held is not made */
function priceOf(engine: SearchEngine, maxResults: number): number {
  const price: unknown = engine.priceOf(maxResults);
  if (Number.isSafeInteger(price) && (price as number) >= 0) return price as number;
  disregard(price);
  throw new TypeError(`The search engine ${engine.name}: expected priceOf to return integer nano-USD`);
}

/** @throws GatewayError invalid_request (400) */
function engineOf(name: string | undefined, { engines, plugin }: SearchChoice): SearchEngine {
  const found = name === undefined ? engines[0] : engines.find((engine) => engine.name === name);
  if (found !== undefined) return found;
  const known = engines.map((engine) => engine.name).join(', ');
  throw new GatewayError(
    'invalid_request',
    engines.length === 0
      ? 'Web search is not set up in this gateway: it has no search engine'
      : `The search engine ${cleanName(name ?? '', 40)} is not set up in this gateway; expected one of ${known}`,
    plugin === null ? {} : { metadata: { plugin } },
  );
}

/** @throws GatewayError invalid_request (400) */
function checkDomains(included: readonly string[], excluded: readonly string[], engine: SearchEngine): void {
  const wrong = [...included, ...excluded].find((domain) => domain.length > 300 || !domainForm.test(domain));
  if (wrong !== undefined)
    throw new GatewayError(
      'invalid_request',
      `${cleanName(wrong, 80)} is no domain; expected one such as "example.com", "*.example.com" or "example.com/blog"`,
    );
  if (included.length + excluded.length > mostDomains)
    throw new GatewayError('invalid_request', `A search takes at most ${mostDomains} domains`);
  if (engine.takesOneDomainList === true && included.length > 0 && excluded.length > 0)
    throw new GatewayError(
      'invalid_request',
      `The search engine ${engine.name} takes either domains to include or domains to exclude, not both`,
    );
}

/** Returns the results that the request allows: engines do not always keep to it. */
function usable(
  { results }: SearchAnswer,
  { maxResults, maxCharacters, includeDomains, excludeDomains }: Checked['query'],
): SearchResult[] {
  const seen = new Set<string>();
  const wanted = results.filter(({ url }) => {
    if (seen.has(url) || !URL.canParse(url)) return false;
    seen.add(url);
    const parsed = new URL(url);
    const isIncluded = includeDomains.length === 0 || isOfDomains(parsed, includeDomains);
    return isIncluded && !isOfDomains(parsed, excludeDomains);
  });
  return wanted.slice(0, maxResults).map((result) => ({
    ...result,
    title: result.title.slice(0, mostTitleCharacters),
    text: result.text.slice(0, maxCharacters),
  }));
}
