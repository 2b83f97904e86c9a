import { isoTime } from '../../base/clock.ts';
import { nanoToUsd } from '../../base/money.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { Activity, ActivityGroup } from '../../schema/records/activity.ts';
import { addCell, type Cell, emptyCell } from '../../telemetry/records/cell.ts';
import type { SumRow } from '../../telemetry/records/sums.ts';
import type { Presentation } from '../compat.ts';

/** Selects sums; absent fields select all. */
export interface CellFilter {
  api_key_hash?: string | undefined;
  model?: string | undefined;
  provider?: string | undefined;
}

export function fitsCell(cell: Cell, { api_key_hash, model, provider }: CellFilter): boolean {
  return (
    (api_key_hash === undefined || cell.apiKeyHash === api_key_hash) &&
    (model === undefined || cell.model === model) &&
    (provider === undefined || cell.provider === provider)
  );
}

/** Sums over all rows by the groups, in order of day, workspace, model, provider and key. */
export function sumActivity(
  rows: readonly (SumRow & { workspaceId: WorkspaceId })[],
  filter: CellFilter,
  groups: readonly ActivityGroup[],
  { activityName }: Pick<Presentation, 'activityName'>,
): Activity[] {
  const by = new Set(groups);
  const sums = new Map<string, { date: string | null; workspaceId: string | null; cell: Cell }>();
  for (const row of rows) {
    const date = by.has('day') ? isoTime(row.startMs).slice(0, 10) : null;
    const workspaceId = by.has('workspace') ? row.workspaceId : null;
    for (const cell of row.cells) {
      if (!fitsCell(cell, filter)) continue;
      const model = by.has('model') ? cell.model : null;
      const provider = by.has('provider') ? cell.provider : null;
      const apiKeyHash = by.has('key') ? cell.apiKeyHash : null;
      const key = JSON.stringify([date, workspaceId, model, provider, apiKeyHash]);
      let sum = sums.get(key);
      if (!sum) {
        sum = { date, workspaceId, cell: emptyCell({ model, provider, apiKeyHash }) };
        sums.set(key, sum);
      }
      addCell(sum.cell, cell);
    }
  }
  const sorted = [...sums].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([, { date, workspaceId, cell }]) => ({
    date,
    model: activityName(cell.model),
    model_permaslug: activityName(cell.model),
    endpoint_id: activityName(cell.model === null || cell.provider === null ? null : `${cell.model}@${cell.provider}`),
    provider_name: activityName(cell.provider),
    usage: nanoToUsd(cell.costNanoUsd),
    byok_usage_inference: nanoToUsd(cell.byokNanoUsd),
    requests: cell.requests,
    prompt_tokens: cell.promptTokens,
    completion_tokens: cell.completionTokens,
    reasoning_tokens: cell.reasoningTokens,
    api_key_hash: cell.apiKeyHash,
    workspace_id: workspaceId,
    failed: cell.failed,
    cut: cell.cut,
    cancelled: cell.cancelled,
    lost: cell.lost,
    cost_nano_usd: cell.costNanoUsd,
  }));
}
