/** No model reads or writes this much in one call; a larger count is a mistake of the provider. */
const implausibleTokens = 100_000_000;

/** A count of tokens: a plausible non-negative integer, else null. */
export function tokenCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= implausibleTokens
    ? value
    : null;
}
