import { UsageError } from '../config.ts';
import type { Terminal } from '../terminal.ts';
import { type Body, openSource, type SourceFlags } from './source.ts';
import { type Cell, moneyOf, tableOf } from './table.ts';

export interface UsageFlags extends SourceFlags {
  by?: string;
  from?: string;
  to?: string;
  workspace?: string;
}

/** The groups, each with the field that tells them apart. */
const groups: Readonly<Record<string, string>> = {
  day: 'date',
  model: 'model',
  provider: 'provider_name',
  key: 'api_key_hash',
  workspace: 'workspace_id',
};

/** Sums requests, tokens and costs. */
export async function usage(terminal: Terminal, flags: UsageFlags): Promise<void> {
  const by = (flags.by ?? 'model').split(',').map((name) => name.trim());
  const unknown = by.find((name) => !Object.hasOwn(groups, name));
  if (unknown !== undefined)
    throw new UsageError(`Expected some of ${Object.keys(groups).join(', ')} for by, not ${JSON.stringify(unknown)}`);
  for (const name of ['from', 'to'] as const)
    if (flags[name] !== undefined && Number.isNaN(Date.parse(flags[name])))
      throw new UsageError(`Expected a day such as 2026-01-31 for ${name}, not ${JSON.stringify(flags[name])}`);
  const source = await openSource(terminal, flags, { needsStore: true });
  try {
    const query = new URLSearchParams({ group_by: by.join(',') });
    if (flags.from !== undefined) query.set('from', flags.from);
    if (flags.to !== undefined) query.set('to', flags.to);
    if (flags.workspace !== undefined) {
      const { data } = await source.ask('GET', `/workspaces/${encodeURIComponent(flags.workspace)}`);
      query.set('workspace_id', data.id);
    }
    const { data } = await source.ask('GET', `/activity?${query}`);
    terminal.print(flags.json ? `${JSON.stringify({ data }, null, 2)}\n` : shown(data, by));
  } finally {
    await source.close();
  }
}

/** So many characters of a hash tell keys apart. */
const hashChars = 12;

function shown(list: Body[], by: readonly string[]): string {
  if (list.length === 0) return 'No request.\n';
  const rows = list.map((row): Cell[] => [
    ...by.map((name): Cell => {
      const value = row[groups[name] as string] ?? null;
      return name === 'key' && value !== null ? value.slice(0, hashChars) : value;
    }),
    row.requests,
    row.failed + row.cut + row.lost,
    row.prompt_tokens,
    row.completion_tokens,
    moneyOf(row.usage),
  ]);
  return tableOf([...by, 'requests', 'failed', 'tokens in', 'tokens out', 'cost'], rows);
}
