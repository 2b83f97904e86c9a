import { ZodError } from 'zod';
import type { BodyCheck } from '../schema.ts';
import type { LimitSettings } from '../settings/settings.ts';
import { fieldsWith } from './fields.ts';

/**
 * The bounds of the names in a request. The work for each name is done in this process, before any provider is called.
 */
export type RequestBounds = Pick<LimitSettings, 'models' | 'slugChars' | 'listItems'>;

type Issue = ZodError['issues'][number];
type Path = readonly PropertyKey[];
type Fields = Readonly<Record<string, unknown>>;

/** Lists and maps of settings in a request. What messages and items hold is bounded by the number of values alone. */
const settingLists: readonly string[] = [
  ...fieldsWith({ isList: true }),
  // Of a Responses request.
  'include',
  'context_management',
  'client_metadata',
];

/**
 * Refuses a request that names too much, before its schema looks at every item: a chat request or a Responses request.
 * @param check  of the request's schema
 */
export function checkWithBounds<Body>(check: () => BodyCheck<Body>, bounds: RequestBounds): () => BodyCheck<Body> {
  const safeParse: BodyCheck<Body>['safeParse'] = (value) => {
    const excess = isFields(value) ? excessIn(value, bounds) : null;
    if (excess === null) return check().safeParse(value);
    return { success: false, error: new ZodError([excess]) };
  };
  const bounded = { safeParse };
  return () => bounded;
}

/** @returns what is too much first; null: nothing */
function excessIn(request: Fields, { models, slugChars, listItems }: RequestBounds): Issue | null {
  if (holdsMore(request, listItems)) return excess(request, listItems, []);
  if (isLonger(request.model, slugChars)) return excess(request.model, slugChars, ['model']);
  for (const name of settingLists)
    if (holdsMore(request[name], listItems)) return excess(request[name], listItems, [name]);
  const { models: slugs, provider, plugins } = request;
  if (Array.isArray(slugs)) {
    if (slugs.length > models) return excess(slugs, models, ['models']);
    const long = longestIn(slugs, slugChars, 'models');
    if (long !== null) return long;
  }
  const inPreferences = isFields(provider) ? excessInLists(provider, listItems, slugChars, 'provider') : null;
  if (inPreferences !== null || !Array.isArray(plugins)) return inPreferences;
  for (let at = 0; at < plugins.length; at++) {
    const plugin: unknown = plugins[at];
    const inPlugin = isFields(plugin) ? excessInLists(plugin, listItems, slugChars, 'plugins', at) : null;
    if (inPlugin !== null) return inPlugin;
  }
  return null;
}

/** Looks into lists of providers, models, domains or patterns. */
function excessInLists(holder: Fields, listItems: number, slugChars: number, ...path: PropertyKey[]): Issue | null {
  for (const name in holder) {
    const list = holder[name];
    if (!Array.isArray(list)) continue;
    if (list.length > listItems) return excess(list, listItems, [...path, name]);
    const long = longestIn(list, slugChars, ...path, name);
    if (long !== null) return long;
  }
  return null;
}

function longestIn(list: readonly unknown[], maximum: number, ...path: PropertyKey[]): Issue | null {
  const at = list.findIndex((item) => isLonger(item, maximum));
  return at < 0 ? null : excess(list[at], maximum, [...path, at]);
}

/** Counts the items of a list, or the keys of an object. */
function holdsMore(value: unknown, maximum: number): boolean {
  if (Array.isArray(value)) return value.length > maximum;
  if (!isFields(value)) return false;
  let count = 0;
  for (const _ in value) if (++count > maximum) return true;
  return false;
}

function isLonger(value: unknown, maximum: number): boolean {
  return typeof value === 'string' && value.length > maximum;
}

/** `validationIssues` writes the message. */
function excess(value: unknown, maximum: number, path: Path): Issue {
  const origin = typeof value === 'string' ? 'string' : Array.isArray(value) ? 'array' : 'object';
  return { code: 'too_big', origin, maximum, inclusive: true, path: [...path], message: '' } as Issue;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
