import type { ChatRequest } from '../schema/chat/chat.ts';
import type { ProviderSort } from '../schema/chat/preferences.ts';

export type SortBy = ProviderSort;

/** The order of endpoints. */
export interface Sort {
  /** null: the default strategy. */
  by: SortBy | null;
  /** `none`: the endpoints of all models are sorted together; `model`: each model's endpoints are sorted separately. */
  partition: 'model' | 'none';
}

const sorts: ReadonlySet<string> = new Set<SortBy>(['price', 'throughput', 'latency', 'exacto']);

/** Returns the sort that the request asks for. `route` is the deprecated form of `sort.partition`. */
export function requestedSort({ provider, route }: Pick<ChatRequest, 'provider' | 'route'>): Sort {
  const sort = provider?.sort ?? null;
  const byRoute = route === 'sort' ? 'none' : 'model';
  if (sort === null || typeof sort === 'string') return { by: sort, partition: byRoute };
  return { by: sort.by ?? null, partition: sort.partition ?? byRoute };
}

/** Returns a workspace's default sort when the gateway knows its name, else null. */
export function knownSort(name: string | null): SortBy | null {
  return name !== null && sorts.has(name) ? (name as SortBy) : null;
}
