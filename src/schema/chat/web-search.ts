const webSearch = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/;

/** Tells whether a type of tool is web search, in any of its dated forms. */
export function isWebSearch(type: unknown): boolean {
  return typeof type === 'string' && webSearch.test(type);
}
