import { isoTime } from '../../base/clock.ts';
import { nanoToUsd } from '../../base/money.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { Activity, ActivityGroup, ActivitySort } from '../../schema/records/activity.ts';
import { addCell, type Cell, emptySum, type Sum } from '../../telemetry/records/cell.ts';
import type { SumRow, WantedSums } from '../../telemetry/records/sums.ts';
import { percentilesOf } from '../../telemetry/records/time-classes.ts';
import type { Presentation } from '../compat.ts';

/** Selects sums; absent fields select all. `user` and `tag` select among the rows of users. */
export interface CellFilter {
  api_key_hash?: string | undefined;
  model?: string | undefined;
  provider?: string | undefined;
  user?: string | undefined;
  tag?: string | undefined;
  /** true: only requests of which the host app itself has named the user. */
  isOfHost?: true | undefined;
}

export function fitsCell(cell: Cell, { api_key_hash, model, provider, user, tag, isOfHost }: CellFilter): boolean {
  return (
    (isOfHost === undefined || cell.isOfHost) &&
    (api_key_hash === undefined || cell.apiKeyHash === api_key_hash) &&
    (model === undefined || cell.model === model) &&
    (provider === undefined || cell.provider === provider) &&
    (user === undefined || cell.user === user) &&
    (tag === undefined || cell.tags.includes(tag))
  );
}

/** The names of cells by the groups of which they are. */
const names = { user: 'user', tag: 'tags', model: 'model', provider: 'provider', key: 'apiKeyHash' } as const;
const namedGroups = Object.keys(names) as (keyof typeof names)[];

/** The names that sums must tell apart for a filter and for groups, and the values of the filter. */
export function neededFor(
  { api_key_hash, model, provider, user, tag }: CellFilter,
  groups: readonly ActivityGroup[],
): Pick<WantedSums, 'names' | 'only'> {
  const given = { user, tag, model, provider, key: api_key_hash };
  const needed = namedGroups.filter((group) => given[group] !== undefined || groups.includes(group));
  // Cells are found by a name that is one text.
  const found = namedGroups.find((group) => group !== 'tag' && given[group] !== undefined);
  return {
    names: new Set(needed.map((group) => names[group])),
    only: found && { name: names[found], values: new Set([given[found] as string]) },
  };
}

/** The names of a group of sums; null: not told apart, or none. */
interface Group {
  date: string | null;
  time: string | null;
  workspaceId: string | null;
  model: string | null;
  provider: string | null;
  apiKeyHash: string | null;
  user: string | null;
  tag: string | null;
}

/** A question to sums. */
export interface AskedSums {
  filter: CellFilter;
  groups: readonly ActivityGroup[];
  /** The highest first; undefined: in order of day, workspace, model, provider, key, user and tag. */
  sort: ActivitySort | undefined;
  /** The groups beside time that are wanted; see `highestOf`. null: all. */
  highest: Highest | null;
}

/** Groups by a text of their names, and a cell of each. */
export type Highest = ReadonlyMap<string, Cell>;

/** Sums over all rows by the groups. */
export function sumActivity(
  rows: readonly SumRow[],
  { filter, groups, sort, highest }: AskedSums,
  { activityName, usd }: Pick<Presentation, 'activityName' | 'usd'>,
): Activity[] {
  const by = new Set(groups);
  const nameOf = namerFor(by);
  const isTold = by.has('time') || by.has('day');
  /** The sums of each time, by the name of their group. A page has a thousand rows of the same time. */
  const times = new Map<string, Map<string, { group: Group; sum: Sum }>>();
  const ofStart = new Map<number, { time: string; sums: Map<string, { group: Group; sum: Sum }> }>();
  function sumsOf(startMs: number) {
    const known = ofStart.get(startMs);
    if (known) return known;
    const time = isTold ? isoTime(startMs) : '';
    const key = by.has('time') ? time : time.slice(0, 10);
    const sums = times.get(key) ?? new Map<string, { group: Group; sum: Sum }>();
    times.set(key, sums);
    const made = { time, sums };
    ofStart.set(startMs, made);
    return made;
  }
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  for (const { startMs, workspaceId, cells } of rows) {
    const { time, sums } = sumsOf(startMs);
    for (const cell of cells) {
      if (isFiltered && !fitsCell(cell, filter)) continue;
      for (const tag of tagsOf(cell, by, filter.tag)) {
        const name = nameOf(workspaceId, cell, tag);
        if (highest !== null && !highest.has(name)) continue;
        let found = sums.get(name);
        if (!found) {
          found = { group: groupOf(time, workspaceId, cell, tag, by), sum: emptySum({}) };
          sums.set(name, found);
        }
        addCell(found.sum, cell);
      }
    }
  }
  const running = new Map<string, number>();
  const sorted = [...times.values()]
    .flatMap((sums) => [...sums.values()])
    .map(({ group, sum }) => ({ group, sum, text: JSON.stringify(Object.values(group)) }))
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ group, sum }) => ({ ...activityOf(group, sum), ...runningCost(running, group, sum) }));
  if (sort !== undefined) sorted.sort((a, b) => (b[sort] ?? -1) - (a[sort] ?? -1));
  return sorted.map((sum) => ({
    ...sum,
    model: activityName(sum.model),
    model_permaslug: activityName(sum.model_permaslug),
    endpoint_id: activityName(sum.endpoint_id),
    provider_name: activityName(sum.provider_name),
    usage: usd(sum.usage),
  }));
}

const numberOf = {
  usage: 'costNanoUsd',
  requests: 'requests',
  prompt_tokens: 'promptTokens',
  completion_tokens: 'completionTokens',
  failed: 'failed',
} as const satisfies Record<ActivitySort, keyof Sum>;

/** Finds the groups beside time that are the highest over all rows. */
export function highestOf(
  rows: readonly SumRow[],
  { filter, groups, sort = 'usage' }: Pick<AskedSums, 'filter' | 'groups' | 'sort'>,
  top: number,
): Highest {
  const by = new Set(groups);
  const nameOf = namerFor(by);
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const number = numberOf[sort];
  const sums = new Map<string, { total: number; cell: Cell }>();
  for (const { cells, workspaceId } of rows)
    for (const cell of cells) {
      if (isFiltered && !fitsCell(cell, filter)) continue;
      for (const tag of tagsOf(cell, by, filter.tag)) {
        const name = nameOf(workspaceId, cell, tag);
        const sum = sums.get(name);
        if (sum) sum.total += cell[number];
        else sums.set(name, { total: cell[number], cell });
      }
    }
  const sorted = [...sums].sort(([a, one], [b, other]) => other.total - one.total || (a < b ? -1 : 1));
  return new Map(sorted.slice(0, top).map(([name, { cell }]) => [name, cell]));
}

/** The values by which the cells of the highest groups are found; undefined: they have no name that is one text. */
export function onlyOf(groups: readonly ActivityGroup[], highest: Highest): WantedSums['only'] {
  const group = namedGroups.find((one) => one !== 'tag' && groups.includes(one));
  if (group === undefined || group === 'tag') return undefined;
  const name = names[group];
  return { name, values: new Set([...highest.values()].map((cell) => cell[name])) };
}

/** Makes a function that returns a text for the names of a group beside its time, for maps. */
function namerFor(
  by: ReadonlySet<ActivityGroup>,
): (workspaceId: WorkspaceId, cell: Cell, tag: string | null) => string {
  const [isByWorkspace, isByTag] = [by.has('workspace'), by.has('tag')];
  const fields = namedGroups.filter((group) => group !== 'tag' && by.has(group)).map((group) => names[group]);
  const texts = new Map<unknown, string>();
  /** A name in the form that JSON has: a name cannot end another one. */
  function textOf(name: unknown): string {
    const known = texts.get(name);
    if (known !== undefined) return known;
    const text = `${JSON.stringify(name)}\n`;
    texts.set(name, text);
    return text;
  }
  return (workspaceId, cell, tag) => {
    let text = isByWorkspace ? textOf(workspaceId) : '';
    for (const field of fields) text += textOf(cell[field]);
    return isByTag ? text + textOf(tag) : text;
  };
}

/** Adds a cost to those of earlier times of the same group. Groups come in order of time. */
function runningCost(
  running: Map<string, number>,
  { date: _, time, ...others }: Group,
  { costNanoUsd }: Sum,
): Pick<Activity, 'running_cost_nano_usd'> {
  if (time === null) return { running_cost_nano_usd: null };
  const key = JSON.stringify(Object.values(others));
  const sum = (running.get(key) ?? 0) + costNanoUsd;
  running.set(key, sum);
  return { running_cost_nano_usd: sum };
}

/** The tags under which a cell counts: each of its own, where sums are told apart by tags. */
function tagsOf(cell: Cell, by: ReadonlySet<ActivityGroup>, tag: string | undefined): readonly (string | null)[] {
  if (!by.has('tag') || cell.tags.length === 0) return noTag;
  return tag === undefined ? [...new Set(cell.tags)] : [tag];
}

const noTag = [null];

/** @param time  the beginning of the row, ISO 8601 */
function groupOf(
  time: string,
  workspaceId: WorkspaceId,
  cell: Cell,
  tag: string | null,
  by: ReadonlySet<ActivityGroup>,
): Group {
  return {
    date: by.has('day') ? time.slice(0, 10) : null,
    time: by.has('time') ? time : null,
    workspaceId: by.has('workspace') ? workspaceId : null,
    model: by.has('model') ? cell.model : null,
    provider: by.has('provider') ? cell.provider : null,
    apiKeyHash: by.has('key') ? cell.apiKeyHash : null,
    user: by.has('user') ? cell.user : null,
    tag,
  };
}

function activityOf(
  { date, time, workspaceId, model, provider, apiKeyHash, user, tag }: Group,
  cell: Sum,
): Omit<Activity, 'running_cost_nano_usd'> {
  const isUnpriced = cell.unpriced > 0 && cell.unpriced === cell.requests && cell.costNanoUsd === 0;
  return {
    date,
    time,
    model,
    model_permaslug: model,
    endpoint_id: model === null || provider === null ? null : `${model}@${provider}`,
    provider_name: provider,
    usage: isUnpriced ? null : nanoToUsd(cell.costNanoUsd),
    byok_usage_inference: nanoToUsd(cell.byokNanoUsd),
    requests: cell.requests,
    prompt_tokens: cell.promptTokens,
    completion_tokens: cell.completionTokens,
    reasoning_tokens: cell.reasoningTokens,
    cached_tokens: cell.cachedTokens,
    api_key_hash: apiKeyHash,
    workspace_id: workspaceId,
    user,
    tag,
    failed: cell.failed,
    cut: cell.cut,
    cancelled: cell.cancelled,
    lost: cell.lost,
    cost_nano_usd: isUnpriced ? null : cell.costNanoUsd,
    unpriced: cell.unpriced,
    errors: cell.errors,
    first_token_ms: percentilesOf(cell.firstMs),
    duration_ms: percentilesOf(cell.totalMs),
  };
}
