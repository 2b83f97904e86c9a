import { refusal } from '../../base/refusal.ts';
import { endpointKey } from '../../call/facts.ts';
import { averagePrice } from '../../routing/rank.ts';
import {
  type ModelList,
  type ModelSort,
  type ModelsFields,
  type ModelsQuery,
  modelListSchema,
  modelsQuery,
} from '../../schema/models/model.ts';
import { partOf } from '../../schema/page.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { filterModels } from './filter-models.ts';
import { listGeminiModels } from './gemini-models.ts';
import { listMessagesModels } from './messages-models.ts';
import { contextOf, showModel } from './model-response.ts';
import { cheapest } from './pricing.ts';
import { type ListingDeps, type ReachedModel, reachedModels } from './reach.ts';

/** The parameters by which each wire format asks for a page. Others would have no effect, so they are refused. */
const pageFields = {
  chat: ['offset', 'limit'],
  messages: ['limit', 'after_id', 'before_id'],
  gemini: ['pageSize', 'pageToken'],
} as const;
const allPageFields = [...new Set(Object.values(pageFields).flat())];
const speakers = { chat: 'OpenAI’s interface', messages: 'Messages', gemini: 'Gemini' };

/** Lists the models that the caller could use. Default: only models that produce text. */
export function listModels(
  deps: ListingDeps,
): ApiOperation<'models.list', ModelsFields, ModelList, unknown, ModelsQuery> {
  return {
    name: 'getModels',
    api: 'models.list',
    method: 'GET',
    path: '/models',
    permissions: ['inference', 'management'],
    wire: 'asked',
    body: null,
    query: modelsQuery,
    result: modelListSchema,
    async run({ query, caller, basePath, wire }) {
      const found = filterModels(await reachedModels(deps, caller), query, deps.provider);
      const sorted = query.sort === undefined ? found : sortModels(found, query.sort, deps);
      const format = wire === 'messages' || wire === 'gemini' ? wire : 'chat';
      refuseOtherPages(query, format);
      if (format === 'messages') return jsonReply(listMessagesModels(sorted, query, basePath));
      if (format === 'gemini') return jsonReply(listGeminiModels(sorted, query, basePath));
      const data = partOf(sorted, query).map((one) => showModel(one, basePath));
      return jsonReply({ object: 'list', data });
    },
  };
}

/** @throws GatewayError invalid_request (400) for a page as another wire format asks for it */
function refuseOtherPages(query: ModelsQuery, format: keyof typeof pageFields): void {
  const own: readonly string[] = pageFields[format];
  const others = allPageFields.filter((name) => !own.includes(name) && query[name] !== undefined && query[name] !== 0);
  if (others.length === 0) return;
  const message = `clients that speak ${speakers[format]} ask for pages by ${own.join(', ')}`;
  throw refusal(
    'invalid_request',
    others.map((path) => ({ path, message })),
  );
}

/** The sort value of a model, lowest first; null: unknown, which comes last. */
type Key = (reached: ReachedModel) => number | null;

/** Sorts models. Equal ones stay in the catalogue's order, and so do all if the values are unknown. */
function sortModels(
  models: readonly ReachedModel[],
  sort: ModelSort,
  { health, clock }: Pick<ListingDeps, 'health' | 'clock'>,
): readonly ReachedModel[] {
  const nowMs = clock.now();
  const key = keyOf(sort, (endpoint) => health.statistics(endpointKey(endpoint), nowMs));
  if (key === null) return models;
  return models
    .map((reached) => ({ reached, key: key(reached) ?? Number.POSITIVE_INFINITY }))
    .sort((a, b) => (a.key === b.key ? 0 : a.key - b.key))
    .map(({ reached }) => reached);
}

type Statistics = (endpoint: ReachedModel['endpoints'][number]) => ReturnType<ListingDeps['health']['statistics']>;

function keyOf(sort: ModelSort, statistics: Statistics): Key | null {
  switch (sort) {
    case 'newest':
      return ({ model }) => negative(model.created);
    case 'pricing-low-to-high':
      return ({ endpoints }) => averagePrice(cheapest(endpoints));
    case 'pricing-high-to-low':
      return ({ endpoints }) => negative(averagePrice(cheapest(endpoints)));
    case 'context-high-to-low':
      return ({ model, endpoints }) => negative(contextOf(model, endpoints));
    case 'throughput-high-to-low':
      return ({ endpoints }) => lowest(endpoints.map((one) => negative(statistics(one).throughput30m?.p50)));
    case 'latency-low-to-high':
      return ({ endpoints }) => lowest(endpoints.map((one) => statistics(one).latency30m?.p50 ?? null));
    case 'intelligence-high-to-low':
      return ({ model }) => negative(model.quality);
    // The gateway has no data on popularity, and none on comparisons of models.
    case 'most-popular':
    case 'top-weekly':
    case 'design-arena-elo-high-to-low':
      return null;
  }
}

function negative(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : -value;
}

function lowest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}
