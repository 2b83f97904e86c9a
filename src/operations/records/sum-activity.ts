import { isoTime } from '../../base/clock.ts';
import { nanoToUsd } from '../../base/money.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { Activity, ActivityGroup, ActivitySort } from '../../schema/records/activity.ts';
import { addCell, type Cell, emptyCell } from '../../telemetry/records/cell.ts';
import type { SumRow } from '../../telemetry/records/sums.ts';
import type { Presentation } from '../compat.ts';

/** Selects sums; absent fields select all. `user` and `tag` select among the rows of users. */
export interface CellFilter {
  api_key_hash?: string | undefined;
  model?: string | undefined;
  provider?: string | undefined;
  user?: string | undefined;
  tag?: string | undefined;
}

export function fitsCell(cell: Cell, { api_key_hash, model, provider, user, tag }: CellFilter): boolean {
  return (
    (api_key_hash === undefined || cell.apiKeyHash === api_key_hash) &&
    (model === undefined || cell.model === model) &&
    (provider === undefined || cell.provider === provider) &&
    (user === undefined || cell.user === user) &&
    (tag === undefined || cell.tags?.includes(tag) === true)
  );
}

/** true: the sums need the rows that tell users and tags apart. */
export function isOfUsers({ user, tag }: CellFilter, groups: readonly ActivityGroup[]): boolean {
  return user !== undefined || tag !== undefined || groups.includes('user') || groups.includes('tag');
}

/** The names of a group of sums; null: not told apart, or none. */
interface Group {
  date: string | null;
  workspaceId: string | null;
  model: string | null;
  provider: string | null;
  apiKeyHash: string | null;
  user: string | null;
  tag: string | null;
}

/**
 * Sums over all rows by the groups.
 * @param sort  the highest first; undefined: in order of day, workspace, model, provider, key, user and tag
 */
export function sumActivity(
  rows: readonly (SumRow & { workspaceId: WorkspaceId })[],
  filter: CellFilter,
  groups: readonly ActivityGroup[],
  { activityName, usd }: Pick<Presentation, 'activityName' | 'usd'>,
  sort?: ActivitySort,
): Activity[] {
  const by = new Set(groups);
  const sums = new Map<string, { group: Group; cell: Cell }>();
  for (const row of rows) {
    for (const cell of row.cells) {
      if (!fitsCell(cell, filter)) continue;
      for (const group of groupsOf(row, cell, by, filter.tag)) {
        const key = JSON.stringify(Object.values(group));
        let sum = sums.get(key);
        if (!sum) {
          sum = { group, cell: emptyCell(group) };
          sums.set(key, sum);
        }
        addCell(sum.cell, cell);
      }
    }
  }
  const sorted = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { group, cell }]) => activityOf(group, cell));
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

/** The groups of a cell: one for each of its tags, where sums are told apart by tags. */
function groupsOf(
  { startMs, workspaceId }: SumRow & { workspaceId: WorkspaceId },
  cell: Cell,
  by: ReadonlySet<ActivityGroup>,
  tag: string | undefined,
): Group[] {
  const group: Group = {
    date: by.has('day') ? isoTime(startMs).slice(0, 10) : null,
    workspaceId: by.has('workspace') ? workspaceId : null,
    model: by.has('model') ? cell.model : null,
    provider: by.has('provider') ? cell.provider : null,
    apiKeyHash: by.has('key') ? cell.apiKeyHash : null,
    user: by.has('user') ? (cell.user ?? null) : null,
    tag: null,
  };
  const { tags = [] } = cell;
  if (!by.has('tag') || tags.length === 0) return [group];
  return (tag === undefined ? [...new Set(tags)] : [tag]).map((one) => ({ ...group, tag: one }));
}

function activityOf({ date, workspaceId, model, provider, apiKeyHash, user, tag }: Group, cell: Cell): Activity {
  const isUnpriced = cell.unpriced > 0 && cell.unpriced === cell.requests && cell.costNanoUsd === 0;
  return {
    date,
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
  };
}
