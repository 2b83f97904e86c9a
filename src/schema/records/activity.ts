import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { expectation } from '../chat/expectations.ts';
import { fromText, toText } from '../instant.ts';
import { type QueryFields, uuidText } from '../page.ts';
import { count } from '../scalars.ts';

/** The groups by which sums are divided. */
export const activityGroups = ['time', 'day', 'model', 'provider', 'key', 'workspace', 'user', 'tag'] as const;
export type ActivityGroup = (typeof activityGroups)[number];

/** The sums by which sums can be sorted, the highest first. */
export const activitySorts = ['usage', 'requests', 'prompt_tokens', 'completion_tokens', 'failed'] as const;
export type ActivitySort = (typeof activitySorts)[number];

/** The lengths of time that sums are kept for. */
export const activityGrains = ['minute', 'hour', 'day'] as const;
export type ActivityGrain = (typeof activityGrains)[number];

const timePercentiles = lazily(() => z.object({ p50: count(), p95: count(), p99: count() }).nullable());

/** Sums of requests: the fields of the public wire, then our own. What the sums are not told apart by is null. */
export const activitySchema = lazily(() =>
  z.object({
    /** `2026-01-31`, UTC. */
    date: z.string().nullable(),
    /** The beginning of the minute, the hour or the day: see `grain`. ISO 8601. */
    time: z.string().nullable(),
    /** Slug of the model; null also for requests for which no endpoint was tried. */
    model: z.string().nullable(),
    /** As `model`. */
    model_permaslug: z.string().nullable(),
    /** The model and the provider, as `author/model@Provider`; null where one of them is not told apart. */
    endpoint_id: z.string().nullable(),
    /** Display name of the provider. */
    provider_name: z.string().nullable(),
    /** USD; null: none of the requests has a known price. See `unpriced`. */
    usage: z.number().nullable(),
    /** USD that providers charged to workspaces' own credentials. */
    byok_usage_inference: z.number(),
    /** The number of requests. */
    requests: count(),
    /** Tokens. */
    prompt_tokens: count(),
    /** Tokens. */
    completion_tokens: count(),
    /** Reasoning tokens of the response. */
    reasoning_tokens: count(),
    /** Tokens of prompts that were read from a cache. */
    cached_tokens: count(),
    /** SHA-256 of the API key, hex. */
    api_key_hash: z.string().nullable(),
    /** Id of the workspace. */
    workspace_id: z.string().nullable(),
    /** The host app's id of the user, else the request's field `user`; null also for users beyond those told apart. */
    user: z.string().nullable(),
    /** A label of the API key. A request counts under each label of its key, and under null where it has none. */
    tag: z.string().nullable(),
    /** Requests that failed before the first token. */
    failed: count(),
    /** Requests that failed after it. */
    cut: count(),
    /** Requests whose client left. */
    cancelled: count(),
    /** Requests whose process died. */
    lost: count(),
    /** As `usage`, integer nano-USD. */
    cost_nano_usd: z.int().nullable(),
    /**
     * The cost from the beginning of the asked time to the end of this `time`, integer nano-USD; null: sums are not told
     * apart by time.
     */
    running_cost_nano_usd: z.int().nullable(),
    /** Requests whose price is not known: no sum of money contains them. */
    unpriced: count(),
    /** Requests by the type of the error that their clients got; empty in sums by user and tag. */
    errors: z.record(z.string(), count()),
    /** Milliseconds to the first token, at most 8 % off; null: there are none, as in sums by user and tag. */
    first_token_ms: timePercentiles(),
    /** Milliseconds to the end of requests that went well; as `first_token_ms`. */
    duration_ms: timePercentiles(),
  }),
);
export interface Activity extends z.infer<ReturnType<typeof activitySchema>> {}

const groupText = lazily(() =>
  z
    .string()
    .refine(
      (text) =>
        text === 'none' || text.split(',').every((name) => (activityGroups as readonly string[]).includes(name)),
      expectation('expected some of time, day, model, provider, key, workspace, user and tag, with commas; or none'),
    )
    .default('day,model,provider')
    .transform((text) => (text === 'none' ? [] : text.split(',')) as ActivityGroup[]),
);

const upTo1000 = lazily(() =>
  z
    .string()
    .regex(/^(?:[1-9]\d{0,2}|1000)$/, expectation('expected an integer from 1 to 1000'))
    .transform(Number),
);

/** Query of GET /activity. */
export const activityQuery = lazily(() =>
  z
    .strictObject({
      /** One day, instead of `from` and `to`. */
      date: fromText().optional(),
      from: fromText().optional(),
      /** The last day. */
      to: toText().optional(),
      group_by: groupText(),
      /** The length of time that `from` and `to` count by, and that `time` tells apart. */
      grain: z.enum(activityGrains).default('day'),
      workspace_id: uuidText().optional(),
      api_key_hash: z.string().min(1).max(64).optional(),
      model: z.string().min(1).max(256).optional(),
      provider: z.string().min(1).max(256).optional(),
      user: z.string().min(1).max(256).optional(),
      tag: z.string().min(1).max(256).optional(),
      /** The highest first, instead of the order of days and names. */
      sort: z.enum(activitySorts).optional(),
      /** The most rows, 1 to 1,000. Default: all. */
      limit: upTo1000().optional(),
      /**
       * The most different groups beside time, 1 to 1,000: those that are the highest in `sort` (`usage` unless it is
       * given) over the whole time, each at all of its times. Default: all.
       */
      top: upTo1000().optional(),
    })
    .refine(({ date, from, to }) => date === undefined || (from === undefined && to === undefined), {
      path: ['date'],
      error: expectation('expected no date beside from and to'),
    }),
);
export interface ActivityQuery extends z.infer<ReturnType<typeof activityQuery>> {}
export interface ActivityFields extends QueryFields<z.input<ReturnType<typeof activityQuery>>> {}
