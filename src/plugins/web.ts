import { GatewayError, isGatewayError } from '../base/errors.ts';
import { nanoToUsd } from '../base/money.ts';
import type { PlanningContext, PluginContext } from '../call/hooks.ts';
import { withNativeSearch } from '../call/native-search.ts';
import { boundsOf, mostTitleCharacters, type SearchRequest, type SearchResult } from '../call/search.ts';
import type { ChatRequest } from '../schema/chat.ts';
import type { PipelineStage } from '../schema/envelope.ts';
import { definePlugin, type Plugin } from './plugin.ts';
import { questionOf, usualPrompt, withResults } from './web/prompt.ts';

/** Settings of the plugin `web`; all have a default. */
export interface WebOptions {
  /** Whether the plugin acts on requests that do not name it. Default false. */
  isDefault?: boolean;
  /** Results of one search, where the request does not say. Default 5. */
  maxResults?: number;
  /** Characters of the text of one result. Default 2,000. */
  maxCharacters?: number;
  /** What introduces the results to the model, where the request does not say. Default: a text of our own, in English. */
  searchPrompt?: string;
}

/** Where the host app sets nothing. */
export const webDefaults = { maxResults: 5, maxCharacters: 2000 } as const;

type Settings = WebOptions & { maxResults: number; maxCharacters: number };

interface WebRequest {
  engine?: string;
  max_results?: number;
  max_uses?: number;
  search_prompt?: string;
  include_domains?: string[];
  exclude_domains?: string[];
  user_location?: { country?: string | null; [field: string]: unknown };
}

/**
 * Searches the web for the last message of the user, once, and puts what was found into the prompt.
 * @see docs/plugins/web.md
 */
export function web(options: WebOptions = {}): Plugin {
  const settings: Settings = { ...webDefaults, ...options };
  const isAsked = async (request: ChatRequest, context: PlanningContext) =>
    namesWeb(request) || options.isDefault === true || (await isAskedBySuffix(request, context));
  return definePlugin<WebRequest>({
    id: 'web',
    ...(options.isDefault === true ? { isDefault: true } : {}),
    async before(asked, context) {
      if (!(await isAsked(asked, context))) return asked;
      // The suffix `:online` is taken for served where the request has an entry.
      const request = namesWeb(asked)
        ? asked
        : { ...asked, plugins: [...(asked.plugins ?? []), { id: 'web' as const }] };
      return context.options.engine === 'native' ? natively(request, context) : searched(request, settings, context);
    },
    async foresee(request, context) {
      if (!(await isAsked(request, context))) return [];
      const purpose = 'answer';
      if (context.options.engine === 'native') return [{ purpose, request: await natively(request, context) }];
      const search = searchOf(request, settings, context);
      const costUsd = nanoToUsd(context.priceOfSearch(search));
      context.addStage({ ...stageOf('one search', { engine: search.engine ?? null }), cost_usd: costUsd });
      if (search.query === '') return [];
      return [{ purpose, request: withResults(request, promptOf(settings, context, 0), longestResults(search)) }];
    },
  });
}

function namesWeb({ plugins }: ChatRequest): boolean {
  return plugins?.some(({ id }) => id === 'web') === true;
}

/** Whether `:online` is a suffix here, and not the end of a model's own name. */
async function isAskedBySuffix(request: ChatRequest, { plan }: PlanningContext): Promise<boolean> {
  try {
    await plan(request);
    return false;
  } catch (error) {
    return isGatewayError(error) && error.metadata?.plugin === 'web';
  }
}

function searchOf(request: ChatRequest, settings: Settings, { options }: PlanningContext<WebRequest>): SearchRequest {
  return {
    query: questionOf(request),
    engine: options.engine,
    maxResults: options.max_results ?? settings.maxResults,
    maxCharacters: settings.maxCharacters,
    includeDomains: options.include_domains,
    excludeDomains: options.exclude_domains,
    country: options.user_location?.country,
  };
}

async function searched(
  request: ChatRequest,
  settings: Settings,
  context: PluginContext<WebRequest>,
): Promise<ChatRequest> {
  const { options, search, addStage, clock } = context;
  const { engine, results, ignored } = await search(searchOf(request, settings, context));
  const { type: _type, country: _country, ...elsewhere } = options.user_location ?? {};
  const urls = results.map(({ url }) => url);
  addStage(stageOf(`${urls.length} results`, { engine, results: urls, ...droppedOf(ignored, elsewhere) }));
  if (results.length === 0) return request;
  return withResults(request, promptOf(settings, context, clock.now()), results);
}

function promptOf(settings: Settings, { options }: PlanningContext<WebRequest>, nowMs: number): string {
  return options.search_prompt ?? settings.searchPrompt ?? usualPrompt(nowMs);
}

/** Characters of an address of usual length. */
const urlCharacters = 100;

/** What a search finds at most, for its length. */
function longestResults(search: SearchRequest): SearchResult[] {
  const { maxResults, maxCharacters } = boundsOf(search);
  const one = { url: 'u'.repeat(urlCharacters), title: 't'.repeat(mostTitleCharacters), publishedAt: null };
  return Array.from({ length: maxResults }, () => ({ ...one, text: 'x'.repeat(maxCharacters) }));
}

/** Nothing that a request says is without effect, unless the stage names it. */
function droppedOf(ignored: readonly string[], elsewhere: Record<string, unknown>): { dropped?: string[] } {
  const fields = Object.keys(elsewhere).filter((name) => (elsewhere[name] ?? null) !== null);
  const dropped = [...ignored, ...fields].map((name) => `user_location.${name}`);
  return dropped.length === 0 ? {} : { dropped };
}

/** Of a search by the gateway alone. */
const ownFields = ['max_results', 'max_uses', 'search_prompt', 'include_domains', 'exclude_domains'] as const;

/** The provider searches by itself: it is asked to, where its model can. */
async function natively(
  request: ChatRequest,
  { options, plan, addStage }: PlanningContext<WebRequest>,
): Promise<ChatRequest> {
  const { user_location: place } = options;
  const other = ownFields.filter((name) => options[name] !== undefined);
  if (other.length > 0)
    throw new GatewayError('invalid_request', `plugins: the engine native takes no ${other.join(', ')}`);
  const { type: _type, ...approximate } = place ?? {};
  const where = place === undefined ? {} : { user_location: { type: 'approximate', approximate } };
  const searching = withNativeSearch({ ...request, web_search_options: where });
  if (!(await canBeServed(searching, request, plan)))
    throw new GatewayError(
      'invalid_request',
      'plugins: no endpoint of this model is known to search the web by itself',
    );
  addStage(stageOf('the provider searches', { engine: 'native' }));
  return searching;
}

/** @throws what the request would be refused with without the search */
async function canBeServed(
  searching: ChatRequest,
  request: ChatRequest,
  plan: PlanningContext['plan'],
): Promise<boolean> {
  try {
    await plan(searching);
    return true;
  } catch {
    await plan(request);
    return false;
  }
}

function stageOf(summary: string, data: Record<string, unknown>): PipelineStage {
  return { type: 'plugin', name: 'web-search', summary, data };
}
