import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { largestLimitUsd } from '../../base/money.ts';
import { intervals } from '../../base/windows.ts';
import { list } from '../bounded.ts';

/** The interval after which a budget resets; `lifetime`: never. */
export const intervalSchema = lazily(() => z.enum(intervals));

/** A nano-dollar, the gateway's unit of money. */
export const smallestLimitUsd = 1e-9;

/** Body of PUT /workspaces/{id}/budgets/{interval}. */
export const putBudgetSchema = lazily(() =>
  z.strictObject({
    limit_usd: z.number().positive({ abort: true }).min(smallestLimitUsd).max(largestLimitUsd),
  }),
);
export interface PutBudget extends z.infer<ReturnType<typeof putBudgetSchema>> {}

export const storedBudgetSchema = lazily(() =>
  z.strictObject({
    id: z.string(),
    interval: intervalSchema(),
    /** Integer nano-USD. */
    limitNanoUsd: z.int().positive(),
    /**
     * The limit that an operator has set: a caller bound to the workspace cannot exceed it. Integer nano-USD; null: an
     * operator has set none; absent: `limitNanoUsd`.
     */
    ceilingNanoUsd: z.int().positive().nullable().optional(),
    /** Epoch ms. */
    createdAtMs: z.int(),
    updatedAtMs: z.int(),
  }),
);
export interface StoredBudget extends z.infer<ReturnType<typeof storedBudgetSchema>> {}

/** All budgets of a workspace, at most one per interval. They are one record, so that a request needs one read. */
export const storedBudgetsSchema = lazily(() =>
  z.strictObject({ budgets: list(storedBudgetSchema()).max(intervals.length) }),
);
export interface StoredBudgets extends z.infer<ReturnType<typeof storedBudgetsSchema>> {}

/** A budget in responses. */
export const budgetSchema = lazily(() =>
  z.object({
    id: z.uuid(),
    workspace_id: z.uuid(),
    limit_usd: z.number(),
    /** null: a compatibility preset's form of `lifetime`. */
    reset_interval: intervalSchema().nullable(),
    /** The booked amount of the current interval, and the most that requests in flight may still cost. */
    spent_usd: z.number(),
    held_usd: z.number(),
    /** The rest, neither spent nor held; 0 where more is spent than the limit. */
    remaining_usd: z.number(),
    /** The spent amount beyond the limit. */
    overspent_usd: z.number(),
    /** null: never. */
    resets_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  }),
);
export interface Budget extends z.infer<ReturnType<typeof budgetSchema>> {}
