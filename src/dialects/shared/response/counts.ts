/** The most tokens that a model reads or writes in one call; a larger count is a mistake of the provider. */
const implausibleTokens = 100_000_000;
/** The most searches of the web in one response; a larger count is a mistake as well. */
export const implausibleSearches = 1_000;

/** Reads a count of tokens: a plausible non-negative integer, else null. */
export function tokenCount(value: unknown): number | null {
  return countUpTo(implausibleTokens, value);
}

/** Reads a count of tokens that is left out where it is 0. null: nonsense. */
export function tokensOrZero(value: unknown): number | null {
  return value === undefined || value === null ? 0 : tokenCount(value);
}

/** Reads a count of searches of the web, else null. */
export function searchCount(value: unknown): number | null {
  return countUpTo(implausibleSearches, value);
}

function countUpTo(most: number, value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most ? value : null;
}
