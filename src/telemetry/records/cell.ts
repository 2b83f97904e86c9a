import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import type { RequestRecord } from '../record.ts';

/** Sums of the requests of one model, provider and key, and in rows of users of one user. Money is integer nano-USD. */
export const cellSchema = lazily(() =>
  z.object({
    /** null: no endpoint was tried, or there were too many different ones to tell apart. */
    model: z.string().nullable(),
    provider: z.string().nullable(),
    apiKeyHash: z.string().nullable(),
    /** Only in rows of users: the user and the tags of the requests. null: none, or too many to tell apart. */
    user: z.string().nullable().optional(),
    tags: z.array(z.string()).optional(),
    requests: z.int(),
    /** The number of requests by outcome; the others were ok. */
    failed: z.int(),
    cut: z.int(),
    cancelled: z.int(),
    /** Calls whose process died; older rows have none. */
    lost: z.int().default(0),
    promptTokens: z.int(),
    completionTokens: z.int(),
    reasoningTokens: z.int(),
    costNanoUsd: z.int(),
    /** The number of requests whose cost is not known; older rows have none. */
    unpriced: z.int().default(0),
    /** The charges of providers to workspaces' own credentials. */
    byokNanoUsd: z.int(),
  }),
);
export interface Cell extends z.infer<ReturnType<typeof cellSchema>> {}

/** One row: all sums of one instance in one minute, hour or day. */
export const rowSchema = lazily(() => z.array(cellSchema()));

export type CellKey = Pick<Cell, 'model' | 'provider' | 'apiKeyHash' | 'user' | 'tags'>;

export function emptyCell(key: CellKey): Cell {
  return {
    ...key,
    requests: 0,
    failed: 0,
    cut: 0,
    cancelled: 0,
    lost: 0,
    promptTokens: 0,
    completionTokens: 0,
    reasoningTokens: 0,
    costNanoUsd: 0,
    unpriced: 0,
    byokNanoUsd: 0,
  };
}

/** The key of the cell of a request. It has only names of the catalogue: names from callers could be any number. */
function cellKeyOf({ model, provider, attempts, apiKeyHash }: RequestRecord): CellKey {
  const last = attempts.at(-1);
  return { model: model ?? last?.model ?? null, provider: provider ?? last?.provider ?? null, apiKeyHash };
}

/** The key of the same request in a row of users. */
export function userKeyOf(record: RequestRecord): CellKey {
  const { userId, user, tags } = record;
  return { ...cellKeyOf(record), user: userId ?? user, tags: [...tags] };
}

/** A text for a key, for maps. */
export function textOfKey({ model, provider, apiKeyHash, user, tags }: CellKey): string {
  return JSON.stringify([model, provider, apiKeyHash, user, tags]);
}

export function cellOf(record: RequestRecord): Cell {
  const { usage, outcome, costNanoUsd, byokNanoUsd } = record;
  return {
    ...cellKeyOf(record),
    requests: 1,
    failed: outcome === 'failed' ? 1 : 0,
    cut: outcome === 'cut' ? 1 : 0,
    cancelled: outcome === 'cancelled' ? 1 : 0,
    lost: 0,
    promptTokens: usage?.prompt_tokens ?? 0,
    completionTokens: usage?.completion_tokens ?? 0,
    reasoningTokens: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
    costNanoUsd: costNanoUsd ?? 0,
    unpriced: costNanoUsd === null ? 1 : 0,
    byokNanoUsd,
  };
}

const sums = [
  'requests',
  'failed',
  'cut',
  'cancelled',
  'lost',
  'promptTokens',
  'completionTokens',
  'reasoningTokens',
  'costNanoUsd',
  'unpriced',
  'byokNanoUsd',
] as const;

export function addCell(to: Cell, more: Cell): void {
  for (const name of sums) to[name] += more[name];
}
