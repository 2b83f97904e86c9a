import { UsageError } from '../config.ts';
import type { Terminal } from '../terminal.ts';
import { type Body, openSource, type SourceFlags } from './source.ts';
import { type Cell, moneyOf, printable, tableOf } from './table.ts';

export interface ExplainFlags extends SourceFlags {
  model?: string;
}

/** Says where a request would go, why, and what it would cost at most. */
export async function explain(terminal: Terminal, message: string | undefined, flags: ExplainFlags): Promise<void> {
  if (!message) throw new UsageError('Expected a message: model-gateway explain --model author/model "Hello"');
  const source = await openSource(terminal, flags, { needsStore: false });
  try {
    const model = flags.model === undefined ? {} : { model: flags.model };
    const { data } = await source.ask('POST', '/chat/completions/explain', {
      ...model,
      messages: [{ role: 'user', content: message }],
    });
    terminal.print(flags.json ? `${JSON.stringify({ data }, null, 2)}\n` : shown(data));
  } finally {
    await source.close();
  }
}

function shown({ requested, strategy, candidates, excluded, error, hold_usd: hold, budgets }: Body): string {
  const texts = [`${printable(requested)}, by ${strategy}\n`];
  if (candidates.length > 0) {
    const rows = candidates.map((one: Body, at: number): Cell[] => [
      at + 1,
      one.provider,
      one.model,
      one.is_byok ? 'BYOK' : 'own',
      moneyOf(one.ceiling_usd),
      remarks(one),
    ]);
    texts.push(tableOf(['', 'endpoint', 'model', 'key', 'at most', ''], rows));
  }
  if (excluded.length > 0) {
    const rows = excluded.map((one: Body): Cell[] => [one.provider ?? null, one.model ?? null, one.filter ?? null]);
    texts.push(tableOf(['left out', 'model', 'by'], rows));
  }
  if (budgets.length > 0) {
    const rows = budgets.map((one: Body): Cell[] => [
      `${one.scope}, ${one.interval}`,
      moneyOf(one.limit_usd),
      moneyOf(one.spent_usd),
      moneyOf(one.remaining_usd),
    ]);
    texts.push(tableOf(['budget', 'limit', 'spent', 'left after it'], rows));
  }
  const held = moneyOf(hold);
  if (held !== null) texts.push(`Held for it: ${held.usd} USD\n`);
  texts.push(
    error === null ? 'The first endpoint would be asked.\n' : `Refused: ${error.code}: ${printable(error.message)}\n`,
  );
  return texts.join('\n');
}

function remarks(one: Body): string {
  const said = [
    one.is_pinned ? 'served the conversation last' : null,
    one.lacks ? 'lacks something that the request needs' : null,
    one.has_outage ? 'many failures lately' : null,
    one.is_slow ? 'slower than asked for' : null,
  ];
  return said.filter((text) => text !== null).join('; ');
}
