import { isObject, type Loose } from '../../base/values.ts';
import type { Usage } from '../../schema/chat/chat.ts';

/**
 * Returns the usage of one response after a further report of it. No count falls: a provider counts up, and one that
 * reports less at the end, or nothing, has charged the amount that it reported before. Only tokens that are cheaper
 * than the rest of the prompt may fall: their number comes from the last report of the longest prompt.
 */
export function largestUsage(known: Usage | null, next: Usage): Usage {
  if (known === null || reaches(next, known)) return next;
  const usage = largest(known, next) as Usage;
  usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
  const longest = next.prompt_tokens >= known.prompt_tokens ? next : known;
  const cached = longest.prompt_tokens_details?.cached_tokens;
  if (usage.prompt_tokens_details)
    usage.prompt_tokens_details = {
      ...usage.prompt_tokens_details,
      ...(cached === undefined ? {} : { cached_tokens: cached }),
    };
  return usage;
}

/**
 * Tells whether a report adds up, and has all counts of the one before, none of them smaller: then it is the usage, as most
 * reports of a stream are.
 */
function reaches(next: Usage, known: Usage): boolean {
  return next.total_tokens === next.prompt_tokens + next.completion_tokens && hasAtLeast(next, known);
}

function hasAtLeast(next: Loose, known: Loose): boolean {
  for (const name in known) {
    const before = known[name];
    const value = next[name];
    const isReached =
      typeof before === 'number'
        ? typeof value === 'number' && value >= before
        : isObject(before) && isObject(value) && hasAtLeast(value, before);
    if (!isReached) return false;
  }
  return true;
}

/** Merges reports as a provider writes them. A list counts as it came last, unless it got shorter. */
export function largest(known: object, next: object): Loose {
  const merged: Loose = { ...known };
  for (const [name, value] of Object.entries(next)) {
    const before = merged[name];
    if (value === null || value === undefined) continue;
    if (typeof before === 'number' && typeof value === 'number') merged[name] = Math.max(before, value);
    else if (isObject(before) && isObject(value)) merged[name] = largest(before, value);
    else if (!(Array.isArray(before) && Array.isArray(value) && value.length < before.length)) merged[name] = value;
  }
  return merged;
}
