import { isObject, type Loose } from '../../base/values.ts';
import { camelName } from './fields.ts';

/** Settings of a search that do not change what it costs. */
const settings: ReadonlySet<string> = new Set([
  'excludeDomains',
  'timeRangeFilter',
  'blockingConfidence',
  'dynamicRetrievalConfig',
]);

/**
 * true: the field of a tool of Google's is its web search, and each search has the list price. With a setting that is not
 * known, nobody here knows what it searches.
 */
export function isPricedSearch(name: string, value: unknown): boolean {
  if (!/^googleSearch(?:Retrieval)?$/.test(camelName(name)) || !isObject(value)) return false;
  return Object.entries(value).every(([setting, own]) => own === null || settings.has(camelName(setting)));
}

/** true: a request in Google's own format lets Google search the web at the list price. */
export function asksForPricedSearch({ tools }: Loose): boolean {
  return (
    Array.isArray(tools) &&
    tools.some((tool) => isObject(tool) && Object.entries(tool).some(([name, value]) => isPricedSearch(name, value)))
  );
}
