import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { largestLimitUsd } from '../base/money.ts';
import { list, nameUpTo, textUpTo } from './bounded.ts';
import { smallestLimitUsd } from './budget.ts';
import { expectation } from './expectations.ts';
import { limitParameter, offsetParameter, uuidText } from './page.ts';
import { rateLimit, rateLimitFields, rateLimitStateSchema } from './rate-limits.ts';

/** Every key that the gateway makes begins with it. */
export const storedKeyPrefix = 'sk-gw-';

export const permissionSchema = lazily(() => z.enum(['inference', 'management']));

const maxNameChars = 255;
const maxUserIdChars = 255;

const name = lazily(() => nameUpTo(maxNameChars));
const permissions = lazily(() => list(permissionSchema()).min(1).max(10));
/** USD; 0: the key may spend nothing; null: only the budgets of the workspace limit it. */
const limit = lazily(() =>
  z
    .number()
    .max(largestLimitUsd)
    .refine(
      (usd) => usd === 0 || usd >= smallestLimitUsd,
      expectation('expected 0, or at least 0.000000001, which is a nano-dollar'),
    )
    .nullable(),
);
/** How often the limit resets; null: never. */
const limitReset = lazily(() => z.enum(['daily', 'weekly', 'monthly']).nullable());
const creatorUserId = lazily(() => textUpTo(maxUserIdChars).min(1).nullable());

/** Body of POST /keys. `permissions` is an addition of this gateway. */
export const createApiKeySchema = lazily(() =>
  z.strictObject({
    name: name(),
    permissions: permissions().default(['inference']),
    limit: limit().default(null),
    limit_reset: limitReset().default(null),
    include_byok_in_limit: z.boolean().default(false),
    requests_per_minute: rateLimit().default(null),
    tokens_per_minute: rateLimit().default(null),
    requests_in_flight: rateLimit().default(null),
    expires_at: z.iso
      .datetime({ offset: true, error: expectation('expected a time such as "2030-01-31T12:00:00Z"') })
      .nullable()
      .default(null),
    creator_user_id: creatorUserId().optional(),
    workspace_id: uuidText().optional(),
  }),
);
export interface CreateApiKey extends z.infer<ReturnType<typeof createApiKeySchema>> {}

/** Body of PATCH /keys/{hash}: an absent field does not change, null clears, an array replaces. */
export const updateApiKeySchema = lazily(() =>
  z
    .strictObject({
      name: name(),
      permissions: permissions(),
      disabled: z.boolean(),
      limit: limit(),
      limit_reset: limitReset(),
      include_byok_in_limit: z.boolean(),
      ...rateLimitFields(),
    })
    .partial(),
);
export interface UpdateApiKey extends z.infer<ReturnType<typeof updateApiKeySchema>> {}

/** Query of GET /keys. */
export const listApiKeysQuery = lazily(() =>
  z.strictObject({
    include_disabled: z
      .enum(['true', 'false', '1', '0'])
      .default('false')
      .transform((text) => text === 'true' || text === '1'),
    offset: offsetParameter(),
    limit: limitParameter(),
    workspace_id: uuidText().optional(),
  }),
);
export interface ListApiKeysQuery extends z.infer<ReturnType<typeof listApiKeysQuery>> {}

/** What an operator set of a key: a caller bound to the workspace does not get beyond it. */
const operatorSet = lazily(() =>
  z.strictObject({
    limitNanoUsd: z.int().nonnegative().nullable(),
    limitReset: limitReset(),
    includeByokInLimit: z.boolean(),
    disabled: z.boolean(),
    requestsPerMinute: rateLimit().default(null),
    tokensPerMinute: rateLimit().default(null),
    requestsInFlight: rateLimit().default(null),
  }),
);
export interface OperatorSet extends z.infer<ReturnType<typeof operatorSet>> {}

/** The stored record of a key. It holds the key's hash, never the key. */
export const storedApiKeySchema = lazily(() =>
  z.strictObject({
    /** SHA-256 of the key, hex; also the id of the record. */
    hash: z.string().regex(/^[0-9a-f]{64}$/),
    name: z.string(),
    /** First and last characters only. */
    label: z.string(),
    permissions: z.array(permissionSchema()).min(1),
    workspaceId: z.string().min(1),
    disabled: z.boolean(),
    /** Integer nano-USD; null: only the budgets of the workspace limit the key. */
    limitNanoUsd: z.int().nonnegative().nullable(),
    /** How often the limit resets; null: never. */
    limitReset: limitReset(),
    /** true: requests with BYOK credentials count against the limit too. */
    includeByokInLimit: z.boolean(),
    /** Rate limits; null: those that the options give to every key. */
    requestsPerMinute: rateLimit().default(null),
    tokensPerMinute: rateLimit().default(null),
    requestsInFlight: rateLimit().default(null),
    creatorUserId: z.string().nullable(),
    /** Epoch ms. */
    createdAtMs: z.int(),
    /** Epoch ms; null: never updated. */
    updatedAtMs: z.int().nullable(),
    /** Epoch ms; null: never. */
    expiresAtMs: z.int().nullable(),
    /** Absent: what the fields above say. */
    operatorSet: operatorSet().optional(),
  }),
);
export interface StoredApiKey extends z.infer<ReturnType<typeof storedApiKeySchema>> {}

/** The host app's input for a new key. */
export const newApiKeySchema = lazily(() =>
  z.strictObject({
    name: name().default('API key'),
    permissions: permissions().default(['inference']),
    /** Id or slug; default: the default workspace. */
    workspace: z.string().optional(),
    /** Default null: only the budgets of the workspace limit the key. */
    limitUsd: limit().default(null),
    /** Default null: the limit never resets. */
    limitReset: limitReset().default(null),
    /** Default false. */
    includeByokInLimit: z.boolean().default(false),
    /** Default null: the limit that the options give to every key. */
    requestsPerMinute: rateLimit().default(null),
    tokensPerMinute: rateLimit().default(null),
    requestsInFlight: rateLimit().default(null),
    creatorUserId: creatorUserId().default(null),
    /** Epoch ms; default null: never. */
    expiresAtMs: z.int().positive().nullable().default(null),
  }),
);
export interface NewApiKey extends z.input<ReturnType<typeof newApiKeySchema>> {}

const usage = lazily(() => ({
  /** Settled USD. `usage` and `byok_usage` count from the key's creation, the others in the current UTC window. */
  usage: z.number(),
  usage_daily: z.number(),
  usage_weekly: z.number(),
  usage_monthly: z.number(),
  byok_usage: z.number(),
  byok_usage_daily: z.number(),
  byok_usage_weekly: z.number(),
  byok_usage_monthly: z.number(),
}));

const limits = lazily(() => ({
  limit: z.number().nullable(),
  /** The unspent part of the limit in the current window; null: there is no limit. */
  limit_remaining: z.number().nullable(),
  limit_reset: limitReset(),
  include_byok_in_limit: z.boolean(),
}));

/** A key in responses. */
export const apiKeySchema = lazily(() =>
  z.object({
    hash: z.string(),
    name: z.string(),
    label: z.string(),
    permissions: z.array(permissionSchema()),
    workspace_id: z.string(),
    disabled: z.boolean(),
    ...limits(),
    /** Of this key alone; null: the limit that the options give to every key. */
    ...rateLimitFields(),
    ...usage(),
    creator_user_id: z.string().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime().nullable(),
    expires_at: z.iso.datetime().nullable(),
  }),
);
export interface ApiKey extends z.infer<ReturnType<typeof apiKeySchema>> {}

/** The request's own key, as GET /key returns it. */
export const currentApiKeySchema = lazily(() =>
  z.object({
    label: z.string(),
    permissions: z.array(permissionSchema()),
    ...limits(),
    ...usage(),
    creator_user_id: z.string().nullable(),
    expires_at: z.iso.datetime().nullable(),
    is_free_tier: z.boolean(),
    is_management_key: z.boolean(),
    /** Deprecated: same as `is_management_key`. */
    is_provisioning_key: z.boolean(),
    /** What limits the key's requests, and what is left: of the key, and of its workspace. */
    rate_limits: z.array(rateLimitStateSchema()),
    /** Deprecated: `rate_limits` says more. `requests` is -1 where requests per minute are not limited. */
    rate_limit: z.object({ requests: z.int(), interval: z.string(), note: z.string() }),
  }),
);
export interface CurrentApiKey extends z.infer<ReturnType<typeof currentApiKeySchema>> {}
