import type { Usage } from '../schema/chat/chat.ts';

/**
 * Usage of several generations, together. One is itself. Costs in USD stay exact to the nano-dollar.
 * @param usages  at least one
 */
export function sumUsage(usages: readonly Usage[]): Usage {
  const [first, ...more] = usages as [Usage, ...Usage[]];
  return more.reduce((sum, usage) => addedTo(sum, usage) as Usage, first);
}

/**
 * Adds members: counts are added up, a member that only one side has stays, a flag is true if it is true on one side.
 */
function addedTo(sum: object, more: object): object {
  const added: Record<string, unknown> = { ...sum };
  for (const [name, value] of Object.entries(more)) added[name] = plus(added[name], value);
  return added;
}

function plus(before: unknown, value: unknown): unknown {
  if (before === undefined || before === null) return value;
  if (typeof before === 'number' && typeof value === 'number') return rounded(before + value);
  if (typeof before === 'boolean' && typeof value === 'boolean') return before || value;
  if (typeof before === 'object' && typeof value === 'object' && value !== null) return addedTo(before, value);
  return before;
}

/** Rounds to the nano-dollar: a sum of decimal fractions is off by less than that. */
function rounded(sum: number): number {
  return Number.isSafeInteger(sum) ? sum : Math.round(sum * 1e9) / 1e9;
}
