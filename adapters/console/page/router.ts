import { computed, signal } from '@preact/signals';

const hash = signal(location.hash);
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

/** The place in the console: `#/requests?outcome=failed` is the page `requests` with one filter. */
export const route = computed(() => {
  const [path = '', query = ''] = hash.value.replace(/^#\/?/, '').split('?', 2);
  const [page = '', ...rest] = path.split('/').map(decoded);
  return { page: page || 'overview', rest, query: new URLSearchParams(query) };
});

/** A part of an address, which anybody can write: one that is no URL encoding is taken as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A path with a query, behind the one that it may have; empty values are left out. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${text}`;
}

/** The address of a place. Empty values are left out. */
export function link(page: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  return withQuery(`#/${page}`, query);
}

/** Changes the query of this place, so that the address shows what is seen. */
export function setQuery(changes: Readonly<Record<string, string>>): void {
  const { page, rest, query } = route.value;
  const next = { ...Object.fromEntries(query), ...changes };
  location.hash = link([page, ...rest.map(encodeURIComponent)].join('/'), next);
}
