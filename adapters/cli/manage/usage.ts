import { UsageError } from '../config.ts';
import type { Terminal } from '../terminal.ts';
import { type Body, openSource, type SourceFlags } from './source.ts';
import { type Cell, moneyOf, tableOf } from './table.ts';

export interface UsageFlags extends SourceFlags {
  by?: string;
  from?: string;
  to?: string;
  workspace?: string;
  sort?: string;
  top?: string;
}

/** The groups, each with the field that tells them apart. */
const groups: Readonly<Record<string, string>> = {
  day: 'date',
  model: 'model',
  provider: 'provider_name',
  key: 'api_key_hash',
  workspace: 'workspace_id',
  user: 'user',
  tag: 'tag',
};

/** The columns by which rows can be sorted, each with the field of the operation. */
const sorts: Readonly<Record<string, string>> = {
  cost: 'usage',
  requests: 'requests',
  failed: 'failed',
  in: 'prompt_tokens',
  out: 'completion_tokens',
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
  const { sort, top } = flags;
  if (sort !== undefined && !Object.hasOwn(sorts, sort))
    throw new UsageError(`Expected one of ${Object.keys(sorts).join(', ')} for sort, not ${JSON.stringify(sort)}`);
  if (top !== undefined && !/^(?:[1-9]\d{0,2}|1000)$/.test(top))
    throw new UsageError(`Expected a number from 1 to 1000 for top, not ${JSON.stringify(top)}`);
  const source = await openSource(terminal, flags, { needsStore: true });
  try {
    const query = new URLSearchParams({ group_by: by.join(',') });
    if (flags.from !== undefined) query.set('from', flags.from);
    if (flags.to !== undefined) query.set('to', flags.to);
    if (flags.workspace !== undefined) {
      const { data } = await source.ask('GET', `/workspaces/${encodeURIComponent(flags.workspace)}`);
      query.set('workspace_id', data.id);
    }
    if (sort !== undefined) query.set('sort', sorts[sort] as string);
    else if (top !== undefined) query.set('sort', 'usage');
    if (top !== undefined) query.set('limit', top);
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
