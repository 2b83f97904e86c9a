import type { RequestRecord } from '../record.ts';
import { hourOf } from './places.ts';
import { addTimes, classOf, type Times } from './time-classes.ts';

/** The names by which sums are told apart. null: none, or too many to tell apart. */
export interface CellNames {
  /** null: no endpoint was tried, or there were too many different ones to tell apart. */
  model: string | null;
  provider: string | null;
  apiKeyHash: string | null;
  user: string | null;
  tags: readonly string[];
  /**
   * true: the user is the host app's own id of who asked, so that he may see these sums. false: the request itself named
   * the user, or there is none.
   */
  isOfHost: boolean;
  /** The number of the hour in its quarter of the day; 0 where sums are not told apart by it. */
  hour: number;
}
export type CellName = keyof CellNames;

/** The numbers of sums, in the order in which rows have them: those that are 0 more often come later. */
export const numberNames = [
  'requests',
  'promptTokens',
  'completionTokens',
  'costNanoUsd',
  'cachedTokens',
  'reasoningTokens',
  'failed',
  'cancelled',
  'cut',
  'unpriced',
  'byokNanoUsd',
  'lost',
] as const;

/**
 * - requests: all of them. failed, cut, cancelled, lost: by outcome; the others were ok. unpriced: their cost is not known
 * - costNanoUsd: integer nano-USD. byokNanoUsd: the charges of providers to workspaces' own credentials
 * - cachedTokens: tokens of prompts that were read from a cache
 */
type CellNumbers = Record<(typeof numberNames)[number], number>;

/** Sums of the requests of one model, provider and key, or of whatever a table tells apart. Names that it does not are null. */
export interface Cell extends CellNames, CellNumbers {
  /** The number of requests by the type of the error that their clients got. */
  errors: Readonly<Record<string, number>>;
  /** The times to the first token, by class. */
  firstMs: Times;
  /** The whole times of requests that went well; as `firstMs`. */
  totalMs: Times;
}

/** A cell to which others are added. */
export interface Sum extends CellNames, CellNumbers {
  errors: Record<string, number>;
  /** The number of times by class. */
  firstMs: number[];
  totalMs: number[];
  /** The cell as a row has it; null: it has changed since. A row is written for each request, and one cell of it changes. */
  text: string | null;
}

const noNames: CellNames = {
  model: null,
  provider: null,
  apiKeyHash: null,
  user: null,
  tags: [],
  isOfHost: false,
  hour: 0,
};

export function emptySum(names: Partial<CellNames>): Sum {
  return {
    ...noNames,
    ...names,
    requests: 0,
    promptTokens: 0,
    completionTokens: 0,
    costNanoUsd: 0,
    cachedTokens: 0,
    reasoningTokens: 0,
    failed: 0,
    cancelled: 0,
    cut: 0,
    unpriced: 0,
    byokNanoUsd: 0,
    lost: 0,
    errors: {},
    firstMs: [],
    totalMs: [],
    text: null,
  };
}

/** A cell of nothing. */
export const blankCell: Readonly<Cell> = blank();

function blank(): Cell {
  const { text: _, ...sum } = emptySum({});
  return { ...sum, firstMs: [], totalMs: [] };
}

/** The cell of a request. Its model and provider are names of the catalogue: names from callers could be any number. */
export function cellOf(record: RequestRecord): Cell {
  const { usage, outcome, costNanoUsd, byokNanoUsd, error, firstMs, totalMs, userId, user, tags } = record;
  const last = record.attempts.at(-1);
  return {
    model: record.model ?? last?.model ?? null,
    provider: record.provider ?? last?.provider ?? null,
    apiKeyHash: record.apiKeyHash,
    user: userId ?? user,
    tags,
    isOfHost: userId !== null,
    hour: hourOf(record.receivedAtMs),
    requests: 1,
    promptTokens: usage?.prompt_tokens ?? 0,
    completionTokens: usage?.completion_tokens ?? 0,
    costNanoUsd: costNanoUsd ?? 0,
    cachedTokens: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    reasoningTokens: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
    failed: outcome === 'failed' ? 1 : 0,
    cancelled: outcome === 'cancelled' ? 1 : 0,
    cut: outcome === 'cut' ? 1 : 0,
    unpriced: costNanoUsd === null ? 1 : 0,
    byokNanoUsd,
    lost: 0,
    errors: error === null ? {} : { [error.type]: 1 },
    firstMs: firstMs === null ? [] : [classOf(firstMs), 1],
    totalMs: outcome === 'ok' ? [classOf(totalMs), 1] : [],
  };
}

/** Adds numbers, errors and times. */
export function addCell(to: Sum, more: Cell): void {
  addNumbers(to, more);
  for (const type in more.errors) to.errors[type] = (to.errors[type] ?? 0) + (more.errors[type] as number);
  addTimes(to.firstMs, more.firstMs);
  addTimes(to.totalMs, more.totalMs);
}

/** Adds numbers alone. One name after the other: a loop over the names took three times as long. */
export function addNumbers(to: Sum, more: CellNumbers): void {
  to.text = null;
  to.requests += more.requests;
  to.promptTokens += more.promptTokens;
  to.completionTokens += more.completionTokens;
  to.costNanoUsd += more.costNanoUsd;
  to.cachedTokens += more.cachedTokens;
  to.reasoningTokens += more.reasoningTokens;
  to.failed += more.failed;
  to.cancelled += more.cancelled;
  to.cut += more.cut;
  to.unpriced += more.unpriced;
  to.byokNanoUsd += more.byokNanoUsd;
  to.lost += more.lost;
}
