import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { largestLimitNanoUsd, largestLimitUsd } from '../../base/money.ts';
import { list, nameUpTo, textUpTo } from '../bounded.ts';
import { expectation } from '../chat/expectations.ts';
import { limitParameter, offsetParameter, type QueryFields, uuidText } from '../page.ts';
import { smallestLimitUsd } from './budget.ts';
import { allowedModelPatterns, keyTags } from './key-scope.ts';
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
/** The interval after which the limit resets; null: never. */
const limitReset = lazily(() => z.enum(['daily', 'weekly', 'monthly']).nullable());
const creatorUserId = lazily(() => textUpTo(maxUserIdChars).min(1).nullable());

/** Body of POST /keys. `permissions` is an addition of this gateway. */
export const createApiKeySchema = lazily(() =>
  z.strictObject({
    /** For display. */
    name: name(),
    /** The permissions of the key. */
    permissions: permissions().default(['inference']),
    /** USD; 0: the key may spend nothing; null: only the budgets of the workspace limit the key. */
    limit: limit().default(null),
    /** The interval after which the limit resets; null: never. */
    limit_reset: limitReset().default(null),
    /** true: requests through BYOK credentials count against the limit too. */
    include_byok_in_limit: z.boolean().default(false),
    /** null: the limit that the options give to every key. */
    requests_per_minute: rateLimit().default(null),
    /** Tokens of prompts and responses together; null: as above. */
    tokens_per_minute: rateLimit().default(null),
    /** Client calls at the same time; null: as above. */
    requests_in_flight: rateLimit().default(null),
    /** Patterns of the models that the key may use, such as `openai/*`; null: all of them. */
    allowed_models: allowedModelPatterns().nullable().default(null),
    /** Labels, copied into records. */
    tags: keyTags().default([]),
    /** The time at which the key stops to work; null: never. */
    expires_at: z.iso
      .datetime({ offset: true, error: expectation('expected a time such as "2030-01-31T12:00:00Z"') })
      .nullable()
      .default(null),
    /** Id of the user who made the key. */
    creator_user_id: creatorUserId().optional(),
    /** Id of the workspace that the key is bound to. */
    workspace_id: uuidText().optional(),
  }),
);
export interface CreateApiKey extends z.infer<ReturnType<typeof createApiKeySchema>> {}
/** The same before defaults are filled in. */
export interface ApiKeyFields extends z.input<ReturnType<typeof createApiKeySchema>> {}

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
      allowed_models: allowedModelPatterns().nullable(),
      tags: keyTags(),
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
export interface ListApiKeysFields extends QueryFields<z.input<ReturnType<typeof listApiKeysQuery>>> {}

/** The limits that an operator has set on a key: a caller bound to the workspace cannot exceed them. */
const operatorSet = lazily(() =>
  z.strictObject({
    /** As the field of the key. */
    limitNanoUsd: z.int().nonnegative().nullable(),
    /** As the field of the key. */
    limitReset: limitReset(),
    /** As the field of the key. */
    includeByokInLimit: z.boolean(),
    /** As the field of the key. */
    disabled: z.boolean(),
    /** As the field of the key. */
    requestsPerMinute: rateLimit().default(null),
    /** As the field of the key. */
    tokensPerMinute: rateLimit().default(null),
    /** As the field of the key. */
    requestsInFlight: rateLimit().default(null),
    /** As the field of the key. */
    allowedModels: allowedModelPatterns().nullable().default(null),
  }),
);
export interface OperatorSet extends z.infer<ReturnType<typeof operatorSet>> {}

/** The stored record of a key. It holds the key's hash, never the key. */
export const storedApiKeySchema = lazily(() =>
  z.strictObject({
    /** SHA-256 of the key, hex; also the id of the record. */
    hash: z.string().regex(/^[0-9a-f]{64}$/),
    /** For display. */
    name: z.string(),
    /** First and last characters only. */
    label: z.string(),
    /** The permissions of the key. */
    permissions: z.array(permissionSchema()).min(1),
    /** Id of the workspace that the key is bound to. */
    workspaceId: z.string().min(1),
    /** true: requests with the key are refused. */
    disabled: z.boolean(),
    /** Integer nano-USD; null: only the budgets of the workspace limit the key. */
    limitNanoUsd: z.int().nonnegative().nullable(),
    /** The interval after which the limit resets; null: never. */
    limitReset: limitReset(),
    /** true: requests with BYOK credentials count against the limit too. */
    includeByokInLimit: z.boolean(),
    /** Rate limits; null: those that the options give to every key. */
    requestsPerMinute: rateLimit().default(null),
    /** Tokens of prompts and responses together; null: as above. */
    tokensPerMinute: rateLimit().default(null),
    /** Client calls at the same time; null: as above. */
    requestsInFlight: rateLimit().default(null),
    /** Patterns of the models that the key may use; null: all of them. */
    allowedModels: allowedModelPatterns().nullable().default(null),
    /** Labels, copied into records. */
    tags: keyTags().default([]),
    /** Id of the user who made the key; null: no user. */
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
/** An api key as it is shown: never the key itself. */
export interface StoredApiKey extends z.infer<ReturnType<typeof storedApiKeySchema>> {}

/** The host app's input for a new key. */
export const newApiKeySchema = lazily(() =>
  z.strictObject({
    /** For display. */
    name: name().default('API key'),
    /** The permissions of the key. */
    permissions: permissions().default(['inference']),
    /**
     * Id of the workspace that the key is bound to, or its slug.
     * @default the default workspace
     */
    workspaceId: z.string().optional(),
    /** Integer nano-USD (1e-9 USD); null: only the budgets of the workspace limit the key. */
    limitNanoUsd: z.int().min(0).max(largestLimitNanoUsd).nullable().default(null),
    /** Default null: the limit never resets. */
    limitReset: limitReset().default(null),
    /** Default false. */
    includeByokInLimit: z.boolean().default(false),
    /** Default null: the limit that the options give to every key. */
    requestsPerMinute: rateLimit().default(null),
    /** Tokens of prompts and responses together; null: the limit that the options give to every key. */
    tokensPerMinute: rateLimit().default(null),
    /** Client calls at the same time; null: the limit that the options give to every key. */
    requestsInFlight: rateLimit().default(null),
    /** Patterns of the models that the key may use, such as `openai/*`. Default null: all of them. */
    allowedModels: allowedModelPatterns().nullable().default(null),
    /** Labels, copied into records. Default: none. */
    tags: keyTags().default([]),
    /** Id of the user who made the key; null: no user. */
    creatorUserId: creatorUserId().default(null),
    /** Epoch ms; default null: never. */
    expiresAtMs: z.int().positive().nullable().default(null),
  }),
);
/** The same, complete. */
export interface CheckedNewApiKey extends z.output<ReturnType<typeof newApiKeySchema>> {}
/** An api key as it is created. */
export interface NewApiKey extends z.input<ReturnType<typeof newApiKeySchema>> {}

const usage = lazily(() => ({
  /** Settled USD. `usage` and `byok_usage` count from the key's creation, the others in the current UTC window. */
  usage: z.number(),
  /** Settled USD of the current day. */
  usage_daily: z.number(),
  /** Settled USD of the current week. */
  usage_weekly: z.number(),
  /** Settled USD of the current month. */
  usage_monthly: z.number(),
  /** As `usage`, through BYOK credentials. */
  byok_usage: z.number(),
  /** As `usage_daily`, through BYOK credentials. */
  byok_usage_daily: z.number(),
  /** As `usage_weekly`, through BYOK credentials. */
  byok_usage_weekly: z.number(),
  /** As `usage_monthly`, through BYOK credentials. */
  byok_usage_monthly: z.number(),
}));

const limits = lazily(() => ({
  /** USD; null: only the budgets of the workspace limit the key. */
  limit: z.number().nullable(),
  /** The unspent part of the limit in the current window; null: there is no limit. */
  limit_remaining: z.number().nullable(),
  /** The interval after which the limit resets; null: never. */
  limit_reset: limitReset(),
  /** true: requests through BYOK credentials count against the limit too. */
  include_byok_in_limit: z.boolean(),
}));

/** A key in responses. */
export const apiKeySchema = lazily(() =>
  z.object({
    /** SHA-256 of the key, hex: the id of the key. */
    hash: z.string(),
    /** For display. */
    name: z.string(),
    /** First and last characters of the key. */
    label: z.string(),
    /** The permissions of the key. */
    permissions: z.array(permissionSchema()),
    /** Id of the workspace that the key is bound to. */
    workspace_id: z.string(),
    /** true: requests with the key are refused. */
    disabled: z.boolean(),
    ...limits(),
    /** The limits of this key alone; null: the limit that the options give to every key. */
    ...rateLimitFields(),
    /** Patterns of the models that the key may use; null: all of them. */
    allowed_models: z.array(z.string()).nullable(),
    /** Labels, copied into records. */
    tags: z.array(z.string()),
    ...usage(),
    /** Id of the user who made the key; null: no user. */
    creator_user_id: z.string().nullable(),
    /** The time at which the key was made. */
    created_at: z.iso.datetime(),
    /** The time of the last change of the key; null: none. */
    updated_at: z.iso.datetime().nullable(),
    /** The time at which the key stops to work; null: never. */
    expires_at: z.iso.datetime().nullable(),
  }),
);
export interface ApiKey extends z.infer<ReturnType<typeof apiKeySchema>> {}

/** The request's own key, as GET /key returns it; the workspace in the same form for a caller without a key. */
export const currentApiKeySchema = lazily(() =>
  z.object({
    /** First and last characters of the key; of a caller without a key, the user or the workspace. */
    label: z.string(),
    /** An addition of this gateway. */
    workspace_id: z.string(),
    /** The permissions of the caller. */
    permissions: z.array(permissionSchema()),
    /** true: the caller manages every workspace. An addition of this gateway. */
    manages_all: z.boolean(),
    ...limits(),
    ...usage(),
    /** Patterns of the models that the key may use; null: all of them. */
    allowed_models: z.array(z.string()).nullable(),
    /** Labels, copied into records. */
    tags: z.array(z.string()),
    /** Id of the user who made the key; null: no user. */
    creator_user_id: z.string().nullable(),
    /** The time at which the key stops to work; null: never. */
    expires_at: z.iso.datetime().nullable(),
    /** Always false: there is no free tier. */
    is_free_tier: z.boolean(),
    /** true: the caller may manage. */
    is_management_key: z.boolean(),
    /** Deprecated: same as `is_management_key`. */
    is_provisioning_key: z.boolean(),
    /** The limits of the key's requests, and the rest of each: of the key, and of its workspace. */
    rate_limits: z.array(rateLimitStateSchema()),
    /** Deprecated: `rate_limits` says more. `requests` is -1 where requests per minute are not limited. */
    rate_limit: z.object({ requests: z.int(), interval: z.string(), note: z.string() }),
  }),
);
export interface CurrentApiKey extends z.infer<ReturnType<typeof currentApiKeySchema>> {}
