import { type Clock, isoTime } from '../../base/clock.ts';
import { tryParseJson } from '../../base/json.ts';
import { nanoToUsd } from '../../base/money.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { type Generation, generationSchema } from '../../schema/records/generation.ts';
import type { RecordSettings } from '../../schema/settings/records.ts';
import { damagedRecord } from '../../stores/damaged.ts';
import { unlessDeleted } from '../../stores/deletion.ts';
import type { LostCall } from '../../stores/spending/lost-call.ts';
import type { Change, Storage } from '../../stores/storage/storage.ts';
import { blankCell, type Cell } from './cell.ts';
import {
  activeAt,
  hourOf,
  indexAt,
  ownerText,
  recordAt,
  recordKind,
  removal,
  rowAt,
  rowRank,
  rowSeries,
  rowStartOf,
} from './places.ts';
import type { Sweeper } from './sweeper.ts';
import { textOfCell } from './tables.ts';

export interface LostRecorderDeps {
  storage: Storage;
  clock: Clock;
  settings: Pick<RecordSettings, 'ttlMs'>;
  sweeper: Pick<Sweeper, 'wrote'>;
}

/** The most tries of a write that depends on a read: others may write in between. */
const maxTries = 5;

/**
 * Makes the writer of records of calls whose process died. If the call already has a record, the charge for its lost
 * holds is added to it. Every value is absolute: the sums of a lost call have rows of their own, which are named after
 * it. So any number of instances may write them, any number of times.
 * @returns the writer; it returns the record if the call had none before, otherwise null
 */
export function lostRecorder({ storage, clock, settings, sweeper }: LostRecorderDeps) {
  return async (workspaceId: WorkspaceId, call: LostCall, isExact: boolean): Promise<Generation | null> => {
    if (call.holds > 0 && call.receivedAtMs < clock.now() - settings.ttlMs) return null;
    const at = recordAt(workspaceId, call.id);
    for (let tries = 0; tries < maxTries; tries++) {
      const text = await storage.get(at);
      const known = text === null ? null : parsed(text);
      const before = known?.lost_nano_usd ?? 0;
      const lostNanoUsd = isExact ? call.nanoUsd : Math.max(before, call.nanoUsd);
      const isGone = call.holds === 0 && known?.outcome === 'lost' && isExact;
      // An exact charge is always written: the call's own instance may have overwritten the record, and does not know
      // the sums.
      if (known === null ? call.holds === 0 : !isExact && lostNanoUsd === before) return null;
      const changes = isGone
        ? removal(workspaceId, call.id)
        : [
            {
              at,
              value: JSON.stringify(recordWith(known, workspaceId, call, lostNanoUsd)),
              rank: -timeOf(known, call),
            },
          ];
      const [first, ...more] = changes as [Change, ...Change[]];
      const isWritten = await storage.commit([
        { ...first, expect: text },
        ...more,
        ...rowsOf(workspaceId, call, known, isGone ? null : lostNanoUsd),
        unlessDeleted(workspaceId),
      ]);
      if (!isWritten) continue;
      if (isGone) await storage.commit([{ at: indexAt(call.id), value: null }]);
      if (known !== null) return null;
      const { receivedAtMs } = call;
      await storage.commit([
        { at: indexAt(call.id), value: ownerText(workspaceId, receivedAtMs), rank: receivedAtMs },
        { at: activeAt(workspaceId), value: '1', rank: clock.now() },
      ]);
      sweeper.wrote(workspaceId, 1);
      return recordWith(null, workspaceId, call, lostNanoUsd);
    }
    return null;
  };
}

function parsed(text: string): Generation {
  const found = generationSchema().safeParse(tryParseJson(text));
  if (!found.success) throw damagedRecord(recordKind);
  return found.data;
}

function timeOf(known: Generation | null, { receivedAtMs }: LostCall): number {
  return known === null ? receivedAtMs : Date.parse(known.created_at);
}

/** @param lostNanoUsd  null: nothing of the call is lost any more */
function rowsOf(
  workspaceId: WorkspaceId,
  call: LostCall,
  known: Generation | null,
  lostNanoUsd: number | null,
): Change[] {
  const receivedAtMs = timeOf(known, call);
  const isWhole = known === null || known.outcome === 'lost';
  const cell: Cell = {
    ...blankCell,
    apiKeyHash: call.apiKeyHash ?? known?.api_key_hash ?? null,
    user: known?.external_user ?? null,
    tags: known?.tags ?? [],
    hour: hourOf(receivedAtMs),
    requests: isWhole ? 1 : 0,
    lost: isWhole ? 1 : 0,
    costNanoUsd: lostNanoUsd ?? 0,
  };
  const isEmpty = lostNanoUsd === null || (!isWhole && lostNanoUsd === 0);
  return rowSeries.map((series) => {
    const startMs = rowStartOf(series, receivedAtMs);
    return {
      at: rowAt(workspaceId, series, startMs, `lost-${call.id}`),
      value: isEmpty ? null : textOfCell(series, cell),
      ...(isEmpty ? {} : { rank: rowRank(series, startMs) }),
    };
  });
}

function recordWith(
  known: Generation | null,
  workspaceId: WorkspaceId,
  call: LostCall,
  lostNanoUsd: number,
): Generation {
  const record = known ?? lostGeneration(workspaceId, call);
  const costNanoUsd = (record.cost_nano_usd ?? 0) - (record.lost_nano_usd ?? 0) + lostNanoUsd;
  const costUsd = nanoToUsd(costNanoUsd);
  return { ...record, total_cost: costUsd, usage: costUsd, cost_nano_usd: costNanoUsd, lost_nano_usd: lostNanoUsd };
}

/** The record of a call whose process died. Only its holds are known of it. */
function lostGeneration(workspaceId: WorkspaceId, { id, apiKeyHash, receivedAtMs }: LostCall): Generation {
  return {
    id,
    upstream_id: null,
    total_cost: 0,
    cache_discount: null,
    upstream_inference_cost: null,
    created_at: isoTime(receivedAtMs),
    model: '',
    app_id: null,
    streamed: null,
    data_discount_logging: null,
    cancelled: false,
    provider_name: null,
    latency: null,
    moderation_latency: null,
    generation_time: null,
    finish_reason: null,
    service_tier: null,
    tokens_prompt: null,
    tokens_completion: null,
    native_tokens_prompt: null,
    native_tokens_completion: null,
    native_tokens_completion_images: null,
    native_tokens_reasoning: null,
    native_tokens_cached: null,
    num_media_prompt: null,
    num_input_audio_prompt: null,
    num_media_completion: null,
    num_search_results: null,
    num_fetches: null,
    web_search_engine: null,
    origin: '',
    usage: 0,
    is_byok: false,
    native_finish_reason: null,
    external_user: null,
    api_type: 'completions',
    preset_id: null,
    router: null,
    provider_responses: null,
    user_agent: null,
    http_referer: null,
    data_region: 'global',
    session_id: null,
    workspace_id: workspaceId,
    api_key_hash: apiKeyHash,
    tags: [],
    operation: '',
    requested: '',
    outcome: 'lost',
    status: 500,
    error: { type: 'internal', message: 'The process that served this request has died; what it held is booked' },
    total_ms: 0,
    cost_nano_usd: 0,
    held_nano_usd: 0,
    is_estimated: true,
    generations: 0,
    attempts: [],
    excluded: [],
    pipeline: [],
    trace: null,
  };
}
