import type { ChatRequest } from '../schema/chat.ts';
import type { ProviderSort } from '../schema/preferences.ts';

export type SortBy = ProviderSort;

/** How endpoints are put in order. */
export interface Sort {
  /** null: the default strategy. */
  by: SortBy | null;
  /** `none`: the endpoints of all models together; `model`: those of one model before those of the next. */
  partition: 'model' | 'none';
}

const sorts: ReadonlySet<string> = new Set<SortBy>(['price', 'throughput', 'latency', 'exacto']);

/** What the request itself says. `route` is the old way to say what `sort.partition` does. */
export function requestedSort({ provider, route }: ChatRequest): Sort {
  const sort = provider?.sort ?? null;
  const byRoute = route === 'sort' ? 'none' : 'model';
  if (sort === null || typeof sort === 'string') return { by: sort, partition: byRoute };
  return { by: sort.by ?? null, partition: sort.partition ?? byRoute };
}

/** A sort by the name a workspace gave; null: none that is known here. */
export function knownSort(name: string | null): SortBy | null {
  return name !== null && sorts.has(name) ? (name as SortBy) : null;
}
