import type { Endpoint } from '../../call/model.ts';
import { tasksOfModel } from '../../call/task.ts';
import { authorOf } from '../../routing/family.ts';
import { keepsNothing } from '../../routing/filter.ts';
import type { ModelsQuery } from '../../schema/models/model.ts';
import { inputModalities, outputModalities, tokenizerOf } from './architecture.ts';
import { contextOf } from './model-response.ts';
import { cheapest } from './pricing.ts';
import type { ListingDeps, ReachedModel } from './reach.ts';

type Filter = (reached: ReachedModel) => boolean;

/** The filters of a query for models, without the part of the list. */
type ModelsFilters = Omit<ModelsQuery, 'offset' | 'limit'>;

/** The models that a query selects. A model does not match a filter on an unknown fact. */
export function filterModels(
  models: readonly ReachedModel[],
  query: ModelsFilters,
  provider: ListingDeps['provider'],
): readonly ReachedModel[] {
  const filters = filtersOf(query, provider);
  return models.filter((one) => filters.every((passes) => passes(one)));
}

function filtersOf(query: ModelsFilters, provider: ListingDeps['provider']): Filter[] {
  const { q, context, min_price, max_price, arch, distillable } = query;
  const filters: Filter[] = [];
  const add = <T>(value: T | undefined | null, filter: (value: T) => Filter) => {
    if (value !== undefined && value !== null) filters.push(filter(value));
  };
  // The best category of a model and the region of its endpoints are unknown.
  if (query.category !== undefined || query.region !== undefined) filters.push(() => false);
  add(
    query.output_modalities,
    (wanted) =>
      ({ model }) =>
        outputModalities(model).some((kind) => wanted.includes(kind)) ||
        // A model that writes may serve a task beside.
        tasksOfModel(model)?.some((task) => task !== 'chat' && wanted.includes(task)) === true,
  );
  add(
    query.input_modalities,
    (wanted) =>
      ({ model }) =>
        wanted.every((kind) => inputModalities(model).includes(kind)),
  );
  add(
    q,
    (text) =>
      ({ model }) =>
        model.slug.includes(text) || model.name.toLowerCase().includes(text),
  );
  add(
    query.model_authors,
    (authors) =>
      ({ model }) =>
        authors.includes(authorOf(model.slug).toLowerCase()),
  );
  add(
    arch,
    (family) =>
      ({ model }) =>
        tokenizerOf(model.slug).toLowerCase().startsWith(family),
  );
  add(
    distillable,
    (wanted) =>
      ({ model }) =>
        model.isDistillable === (wanted === 'true'),
  );
  add(
    context,
    (least) =>
      ({ model, endpoints }) =>
        (contextOf(model, endpoints) ?? 0) >= least,
  );
  add(
    min_price,
    (least) =>
      ({ endpoints }) =>
        promptPrice(endpoints) >= least,
  );
  add(
    max_price,
    (most) =>
      ({ endpoints }) =>
        promptPrice(endpoints) <= most,
  );
  add(
    query.supported_parameters,
    (wanted) =>
      ({ endpoints }) =>
        endpoints.some(({ supportedParameters }) => wanted.every((name) => supportedParameters?.includes(name))),
  );
  add(
    query.providers,
    (wanted) =>
      ({ endpoints }) =>
        endpoints.some(
          ({ providerSlug, tag }) =>
            wanted.includes(providerSlug) ||
            wanted.includes(tag) ||
            wanted.includes((provider(providerSlug)?.name ?? providerSlug).toLowerCase()),
        ),
  );
  if (query.zdr === 'true') filters.push(({ endpoints }) => endpoints.some(keepsNothing));
  return filters;
}

/** The shown price in USD per million tokens; NaN, which is neither more nor less, if it is unknown. */
function promptPrice(endpoints: readonly Endpoint[]): number {
  const { pricing } = cheapest(endpoints);
  return pricing === null ? Number.NaN : pricing.promptPicoUsd / 1e6;
}
