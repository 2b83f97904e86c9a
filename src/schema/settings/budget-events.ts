import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import type { Interval } from '../../base/windows.ts';
import { expectation } from '../chat/expectations.ts';
import { func } from '../functions.ts';
import { milliseconds } from './settings.ts';

/** An event of a budget, or of the limit of a key. */
export interface BudgetEvent {
  /** A UUID: the same in every delivery of the event. */
  id: string;
  /** `budget.threshold`: so much is spent. `budget.refusal`: a request was refused, the first of the interval. */
  type: 'budget.threshold' | 'budget.refusal';
  /** ISO 8601. */
  created_at: string;
  /** The workspace whose money it is. */
  workspace_id: string;
  /** The owner of the limit: the workspace, the key itself, or a guardrail that gives it to the key. */
  scope: 'workspace' | 'key' | 'guardrail';
  /** SHA-256 of the key, hex; null: the limit is the workspace's, or that of calls without a key. */
  api_key_hash: string | null;
  /** null: no guardrail has set the limit. */
  guardrail_id: string | null;
  /** The interval after which the limit starts anew. */
  interval: Interval;
  /** The per cent of the limit that are reached; null for a refusal. */
  threshold_percent: number | null;
  /** The limit, in USD. */
  limit_usd: number;
  /** The spent amount, in USD. */
  spent_usd: number;
  /** The amount that requests in flight hold, in USD. */
  held_usd: number;
  /** ISO 8601; null: never. */
  resets_at: string | null;
}

const webhookSchema = lazily(() =>
  z.strictObject({
    /** The URL for events, as a POST with JSON. `https:`, or `http:` for a server of your own. */
    url: z.url({ protocol: /^https?$/ }),
    /** Signs each delivery: `whsec_` and 24 to 64 bytes in base64. See docs/budget-events.md#the-webhook. */
    secret: z
      .string()
      .regex(
        /^whsec_(?:[A-Za-z0-9+/]{4}){8,22}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
        expectation('expected whsec_ and 24 to 64 bytes in base64'),
      ),
    /** One delivery takes at most this long. */
    timeoutMs: milliseconds().default(10_000),
    /** The most repetitions of a failed delivery, with growing pauses. */
    maxRetries: z.int().min(0).max(20).default(5),
    /** Events that wait for their delivery; later ones are dropped, and the log says so. */
    maxWaiting: z.int().min(1).default(1_000),
  }),
);
export interface WebhookSettings extends z.infer<ReturnType<typeof webhookSchema>> {}

/** Option `budgetEvents`. */
export const budgetEventSettingsSchema = lazily(() =>
  z.strictObject({
    /** Per cent of a limit at which an event is raised, once for each interval. */
    thresholds: z.array(z.int().min(1).max(100)).max(20).default([50, 80, 100]),
    /** `(event) => void`, called for each event; see docs/budget-events.md. */
    onEvent: func<(event: BudgetEvent) => void>('(event) => void').optional(),
    /** An address of yours that is told of each event. */
    webhook: webhookSchema().optional(),
  }),
);
export interface BudgetEventSettings extends z.infer<ReturnType<typeof budgetEventSettingsSchema>> {}
