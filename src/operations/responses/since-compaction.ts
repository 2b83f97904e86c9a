import type { Loose } from '../../base/values.ts';

/** The items that stand for all that was said before them. */
const compactions: ReadonlySet<unknown> = new Set(['compaction', 'compaction_summary']);

/**
 * Returns the items of a kept conversation that a model still needs: those from the latest compaction on. Of those before, the
 * instructions stay, calls whose outputs are still to come, and the messages of the user right before the compaction, as
 * `POST /responses/compact` gives them.
 * @returns the same list where it has no compaction
 */
export function sinceCompaction(items: readonly Loose[]): readonly Loose[] {
  const at = items.findLastIndex(({ type }) => compactions.has(type));
  if (at <= 0) return items;
  let from = at;
  while (from > 0 && isMessage(items[from - 1] as Loose, ['user'])) from--;
  const before = items.slice(0, from);
  const answered = new Set(before.filter(isOutput).map(({ call_id: id }) => id));
  const isNeeded = (item: Loose) =>
    isMessage(item, ['system', 'developer']) || (isCall(item) && !answered.has(item.call_id));
  return [...before.filter(isNeeded), ...items.slice(from)];
}

function isMessage({ type, role }: Loose, roles: readonly unknown[]): boolean {
  return (type === undefined || type === 'message') && roles.includes(role);
}

function isCall({ type, call_id: id }: Loose): boolean {
  return typeof id === 'string' && typeof type === 'string' && type.endsWith('_call');
}

function isOutput({ type, call_id: id }: Loose): boolean {
  return typeof id === 'string' && typeof type === 'string' && type.endsWith('_output');
}
