import { UsageError } from '../config.ts';
import type { Terminal } from '../terminal.ts';
import { type Body, openSource, type SourceFlags } from './source.ts';
import { type Cell, moneyOf, tableOf } from './table.ts';

export interface BudgetsFlags extends SourceFlags {
  workspace?: string;
}

const intervals = ['daily', 'weekly', 'monthly', 'lifetime'];

/** Lists the budgets of a workspace, sets one, or removes one. */
export async function budgets(terminal: Terminal, args: readonly string[], flags: BudgetsFlags): Promise<void> {
  const [action, interval, amount] = args;
  check(action, interval, amount);
  const source = await openSource(terminal, flags, { needsStore: true });
  try {
    const path = `/workspaces/${encodeURIComponent(flags.workspace ?? 'default')}/budgets`;
    if (action === 'set') await source.ask('PUT', `${path}/${interval}`, { limit_usd: Number(amount) });
    if (action === 'delete') await source.ask('DELETE', `${path}/${interval}`);
    const { data } = await source.ask('GET', path);
    terminal.print(flags.json ? `${JSON.stringify({ data }, null, 2)}\n` : shown(data));
  } finally {
    await source.close();
  }
}

function check(action: string | undefined, interval: string | undefined, amount: string | undefined): void {
  if (action === undefined) return;
  if (action !== 'set' && action !== 'delete')
    throw new UsageError(`Expected set or delete after budgets, not ${JSON.stringify(action)}`);
  if (interval === undefined || !intervals.includes(interval))
    throw new UsageError(`Expected ${intervals.join(', ')} after ${action}, not ${JSON.stringify(interval ?? '')}`);
  if (action === 'delete' && amount !== undefined) throw new UsageError(`Expected nothing after ${interval}`);
  if (action === 'set' && !(Number(amount) > 0))
    throw new UsageError(`Expected an amount in USD: model-gateway budgets set ${interval} 5`);
}

function shown(list: Body[]): string {
  if (list.length === 0) return 'No budget.\n';
  const rows = list.map((budget): Cell[] => [
    budget.reset_interval ?? 'lifetime',
    moneyOf(budget.limit_usd),
    moneyOf(budget.spent_usd),
    moneyOf(budget.held_usd),
    moneyOf(budget.remaining_usd),
    budget.resets_at,
  ]);
  return tableOf(['interval', 'limit', 'spent', 'held', 'left', 'begins again'], rows);
}
