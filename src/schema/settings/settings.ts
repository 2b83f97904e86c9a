import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { expectation } from '../chat/expectations.ts';
import { rateLimitsSchema } from '../tenants/rate-limits.ts';

export const count = lazily(() => z.int().min(1));
export const milliseconds = lazily(() => z.int().min(1));

/** Option `budgets`. */
export const budgetSettingsSchema = lazily(() =>
  z.strictObject({
    /** true: requests through BYOK credentials of a workspace count against its budgets too. */
    includeByok: z.boolean().default(false),
    /** true: where the worst-case cost does not fit, the gateway lowers the largest output to what fits. */
    shrinkToFit: z.boolean().default(false),
    /**
     * Endpoints without a known price, where a budget is set. `refuse`: not tried, and 400 where no other is left.
     * `allow`: used free of charge.
     */
    unknownPrice: z.enum(['refuse', 'allow']).default('refuse'),
    /**
     * Request fields of which the gateway does not know what they may cost, where a budget is set. `refuse`: 400.
     * `allow`: forwarded, and held as text only.
     */
    unknownFields: z.enum(['refuse', 'allow']).default('refuse'),
    /** The treatment of money that a process held when it died. */
    onLostHold: z.enum(['charge', 'release']).default('charge'),
    /** A hold expires this long after its process renewed it last. */
    leaseMs: z.int().min(1000).default(60_000),
    /**
     * true: a process takes a small slice of what a budget has left, holds money for its requests out of the slice, and
     * reports the costs together (docs/budgets.md#slices). false: each request is held and settled at the store. On
     * SQLite, Redis, PostgreSQL and a `ledger` with `draw`. Needs `onLostHold: 'charge'`.
     * @default true on Redis and PostgreSQL with `onLostHold: 'charge'`, else false
     */
    escrow: z.boolean().optional(),
    /**
     * The hold for the output. `worst`: the largest output. `p99`: as much as 99 of 100 such requests of the workspace
     * needed (docs/budgets.md#holding-less-than-the-worst-case); a limit can then be overspent.
     */
    estimate: z.enum(['worst', 'p99']).default('worst'),
    /**
     * A `store` on which budgets hold within one process only (docs/storage.md#any-other-keyv), without a `ledger`.
     * `warn`: a warning at the start. `refuse`: an error at the start, also for a `store` in memory.
     */
    onUnsharedStore: z.enum(['warn', 'refuse']).default('warn'),
    /**
     * The largest output, where a limit is set and the request names none; less where the endpoint supports less. It
     * is sent to the provider. A small value holds little money for a short question, and cuts long responses
     * (`finish_reason: "length"`).
     */
    defaultMaxTokens: count().default(8_192),
  }),
);
export interface BudgetSettings extends z.infer<ReturnType<typeof budgetSettingsSchema>> {}

/** Option `tokenCounts`. */
export const tokenCountSettingsSchema = lazily(() =>
  z.strictObject({
    /**
     * true: a client that asks for the number of tokens of a request gets the count of the provider that would serve it,
     * where the provider has one. The provider then gets the request, free of charge. false: the gateway estimates.
     */
    atProviders: z.boolean().default(true),
  }),
);
export interface TokenCountSettings extends z.infer<ReturnType<typeof tokenCountSettingsSchema>> {}

/** Option `redis`. */
export const redisSettingsSchema = lazily(() =>
  z.strictObject({
    /**
     * The reaction to a Redis that deletes data when its memory is short (any `maxmemory-policy` but `noeviction`), or
     * does not tell its policy. `warn`: a warning in the log. `refuse`: every request that needs the store is a 503
     * until the policy is changed.
     */
    onEviction: z.enum(['warn', 'refuse']).default('warn'),
  }),
);
export interface RedisSettings extends z.infer<ReturnType<typeof redisSettingsSchema>> {}

/** As a browser sends it: scheme, host in lower case, and a port that is not the scheme's own. */
const origin = lazily(() =>
  z
    .string()
    .regex(/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@A-Z*]+$/, expectation('expected an origin such as https://app.example')),
);
const headerName = lazily(() => z.string().regex(/^[!#$%&'+.^_`|~\w-]+$/, expectation('expected a header name')));

export type Origins = '*' | readonly string[] | ((origin: string) => boolean);

/** Origins of web sites, a function of an origin, or `*` for all. */
export const originsSchema = (isEmptyAllowed: boolean) =>
  z.custom<Origins>(
    (value) =>
      value === '*' ||
      typeof value === 'function' ||
      (Array.isArray(value) &&
        (isEmptyAllowed || value.length > 0) &&
        value.every((one) => origin().safeParse(one).success)),
    expectation('expected "*", a list of origins such as "https://app.example", or (origin) => boolean'),
  );

/** Option `cors`. */
export const corsSettingsSchema = lazily(() =>
  z
    .strictObject({
      /**
       * The sites whose pages may read responses: all; a list of origins such as `https://app.example`; or `(origin)
       * => boolean`, which must return `true` itself, not a promise.
       */
      origins: originsSchema(false),
      /** Request headers that pages may send, beside those of the interface. */
      headers: z.array(headerName()).default([]),
      /** Response headers that pages may read, beside those of the interface. */
      exposedHeaders: z.array(headerName()).default([]),
      /** true: browsers send the cookies of your server along; not with `"*"`. */
      credentials: z.boolean().default(false),
      /** The time for which a browser may remember the answer to a preflight. */
      maxAgeMs: z.int().min(0).default(7_200_000),
    })
    .check((payload) => {
      const { origins, credentials } = payload.value;
      if (origins !== '*' || !credentials) return;
      payload.issues.push({
        code: 'custom',
        path: ['credentials'],
        message: expectation('expected false, because cors.origins is "*": any web site could act for your users'),
        input: credentials,
      });
    }),
);
export interface CorsSettings extends z.infer<ReturnType<typeof corsSettingsSchema>> {}

/** Option `rateLimits`. */
export const rateLimitSettingsSchema = lazily(() =>
  z.strictObject({
    /**
     * The limits of every API key; a key's own limits replace them, each by itself.
     * @default no limit
     */
    key: rateLimitsSchema().prefault({}),
    /**
     * The limits of every workspace.
     * @default no limit
     */
    workspace: rateLimitsSchema().prefault({}),
    /** By id: the limits of single workspaces, instead of `workspace`. */
    workspaces: z.record(z.string(), rateLimitsSchema()).default({}),
    /**
     * The output that is held where tokens are limited and the request names no largest output; nothing is sent to
     * the provider.
     */
    assumedOutputTokens: count().default(1_024),
    /** Limited requests while the store does not respond. `refuse`: 503. `allow`: served without being counted. */
    onStoreFailure: z.enum(['refuse', 'allow']).default('refuse'),
    /** The requests of a process that died count as in flight for this long. */
    leaseMs: z.int().min(1000).default(60_000),
  }),
);
export interface RateLimitSettings extends z.infer<ReturnType<typeof rateLimitSettingsSchema>> {}

/** Option `overload`: when requests are refused (503) before anything is done for them. */
export const overloadSettingsSchema = lazily(() =>
  z.strictObject({
    /** Requests in flight in this process. */
    maxInFlight: count().nullable().default(null),
    /** The most by which the timers of this process may be late. */
    maxLoopLagMs: milliseconds().nullable().default(null),
  }),
);
export interface OverloadSettings extends z.infer<ReturnType<typeof overloadSettingsSchema>> {}

/** Option `limits`. */
export const limitSettingsSchema = lazily(() =>
  z.strictObject({
    /** The body of a request, as it was sent, and inflated. */
    bodyBytes: count().default(32 * 1024 * 1024),
    /** Levels of nesting in a JSON body, of a request and of a provider's response. */
    depth: count().default(100),
    /** Values in a JSON body of a request: numbers, texts, flags, nulls, lists, objects and the names of their members. */
    jsonValues: count().default(50_000),
    /** Slugs in `models` of a request. */
    models: count().default(20),
    /** One slug or pattern in a request. */
    slugChars: count().default(256),
    /**
     * Each list or map of settings in a request, such as `tools`, `plugins`, `provider.order` and `logit_bias`, and
     * the fields of the request itself.
     */
    listItems: count().default(1_000),
    /** Items of a request for embeddings. */
    embeddingItems: count().default(2_048),
    /** Documents of a request for a ranking. */
    rerankDocuments: count().default(10_000),
    /** Prompts of a request for text completions. */
    completionPrompts: count().default(32),
    /** Different patterns with a `*` in `allowed_models`, over all provider credentials of one workspace. */
    credentialPatterns: count().default(1_000),
    /** Guardrails of one workspace. Every request reads them all. */
    guardrails: count().default(50),
    /**
     * One expression of a guardrail: its compiled instructions times the characters that it is looked for in at once, which
     * are `max_length` and a quarter. It is the work that cannot be paused. A stored guardrail with a larger one blocks.
     */
    expressionSteps: count().default(150_000),
    /** The same of all expressions of one guardrail. A larger guardrail is not made (400). */
    guardrailSteps: count().default(1_000_000),
    /** The same of all guardrails that act on the same request. More are not assigned (400). */
    imposedSteps: count().default(5_000_000),
    /** The complete response of a provider, decompressed. */
    upstreamBodyBytes: count().default(32 * 1024 * 1024),
    /** The complete stream of a provider, decompressed. */
    upstreamStreamBytes: count().default(256 * 1024 * 1024),
    /** One event of a provider's stream. */
    upstreamEventBytes: count().default(8 * 1024 * 1024),
    /** The citations of a choice: addresses, titles and what the pages say, characters together. */
    citationCharacters: count().default(100_000),
    /** Work of finding the article of a web page, about µs of a thread; a page that takes more is read as plain text. */
    pageWork: count().default(1_000_000),
    /** Provider credentials of one workspace. */
    credentials: count().default(500),
    /** API keys of one workspace, also disabled and expired ones; a workspace that has more gets no new ones (400). */
    apiKeys: count().default(1_000),
    /** A provider's error body; a longer body is cut, not refused. */
    upstreamErrorBytes: count().default(64 * 1024),
    /** All headers of a provider's response. */
    upstreamHeaderBytes: count().default(32 * 1024),
  }),
);
export interface LimitSettings extends z.infer<ReturnType<typeof limitSettingsSchema>> {}

/** The limits on what an upstream may send, without their prefix: `upstreamBodyBytes` is `bodyBytes`. */
export type UpstreamLimitSettings = Pick<LimitSettings, 'depth'> & {
  [Name in keyof LimitSettings as Name extends `upstream${infer Rest}`
    ? Uncapitalize<Rest>
    : never]: LimitSettings[Name];
};

const addressOrRange = lazily(() => z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]));

/** Option `fetching`. */
export const fetchingSettingsSchema = lazily(() =>
  z.strictObject({
    /** Redirects of one URL that are followed. */
    maxRedirects: z.int().min(0).max(20).default(5),
    /** One URL with all its redirects. */
    timeoutMs: milliseconds().default(15_000),
    /** Ports that a URL may name. */
    ports: z.array(z.int().min(1).max(65_535)).default([80, 443, 8080, 8443]),
    /** Addresses that may be reached although they are not public: single ones, and ranges such as `10.1.0.0/16`. */
    allowedAddresses: z
      .array(
        z.string().refine((text) => addressOrRange().safeParse(text).success, {
          error: expectation('expected an IP address, or a range such as 10.1.0.0/16'),
        }),
      )
      .default([]),
  }),
);
export interface FetchingSettings extends z.infer<ReturnType<typeof fetchingSettingsSchema>> {}

/** Option `retry`. */
export const retrySettingsSchema = lazily(() =>
  z.strictObject({
    /** Attempts of one request, over all endpoints. */
    maxAttempts: z.int().min(1).max(50).default(5),
    /** Attempts at one endpoint before the next endpoint is tried. */
    attemptsPerEndpoint: z.int().min(1).max(50).default(2),
    /** The first pause; it doubles with each attempt at the same endpoint. A random part of up to half is taken off. */
    baseDelayMs: z.int().min(0).default(250),
    /** The longest pause, before the random part is taken off. */
    maxDelayMs: z.int().min(0).default(5_000),
    /**
     * The longest pause that is waited for. Where a provider asks for a longer one, the endpoint goes into cooldown for
     * that pause, and the next endpoint is tried.
     */
    maxRetryAfterMs: z.int().min(0).default(10_000),
    /** The cooldown of an endpoint that refused our credentials. */
    cooldownMs: z.int().min(0).default(60_000),
    /** The cooldown of one of several keys (`apiKeys`) after a 429 without `Retry-After`. */
    keyCooldownMs: z.int().min(0).default(5_000),
  }),
);
export interface RetrySettings extends z.infer<ReturnType<typeof retrySettingsSchema>> {}

/** Option `streams`. */
export const streamSettingsSchema = lazily(() =>
  z.strictObject({
    /**
     * The form of a stream that breaks after its first event: an error event, or a connection closed without a clean
     * end.
     */
    onCut: z.enum(['error', 'close']).default('error'),
  }),
);
export interface StreamSettings extends z.infer<ReturnType<typeof streamSettingsSchema>> {}

/** Option `keepAlive`. */
export const keepAliveSettingsSchema = lazily(() =>
  z.strictObject({
    /**
     * After this silence before the first token, the stream is opened with a comment; later failures are sent inside
     * the stream.
     */
    firstMs: milliseconds().default(10_000),
    /** After this silence within a stream, a comment is sent. */
    everyMs: milliseconds().default(10_000),
  }),
);
export interface KeepAliveSettings extends z.infer<ReturnType<typeof keepAliveSettingsSchema>> {}

/** Option `health`: when an endpoint is left alone after failures. */
export const cooldownSettingsSchema = lazily(() =>
  z.strictObject({
    /** Failures in a row after which an endpoint goes into cooldown. */
    failuresToCooldown: count().default(5),
    /** The first cooldown; then one attempt tests the endpoint, and each failed test doubles the cooldown. */
    cooldownMs: milliseconds().default(5_000),
    /** The longest cooldown. */
    maxCooldownMs: milliseconds().default(60_000),
  }),
);
export interface CooldownSettings extends z.infer<ReturnType<typeof cooldownSettingsSchema>> {}

/** Option `hedge`. */
export const hedgeSettingsSchema = lazily(() =>
  z.strictObject({
    /**
     * true: when the first token of a stream is late, the next target is started beside it; the first of the two to
     * send a token serves the request.
     */
    enabled: z.boolean().default(false),
    /**
     * The time after which a first token is late at an endpoint with too few figures (fewer than 20 streams in 5
     * minutes); null: never. With enough figures, a first token is late when it takes longer than 95 of 100 did.
     */
    afterMs: milliseconds().nullable().default(null),
    /** The share of streams that may be hedged, 0 to 1. */
    maxShare: z.number().min(0).max(1).default(0.05),
  }),
);
export interface HedgeSettings extends z.infer<ReturnType<typeof hedgeSettingsSchema>> {}

/** Option `sticky`. */
export const stickySettingsSchema = lazily(() =>
  z.strictObject({
    /** The time for which a conversation keeps its endpoint after its last success. */
    ttlMs: milliseconds().default(600_000),
    /** The most conversations that are remembered; of more, the workspace that has most forgets its oldest. */
    max: count().default(100_000),
  }),
);
export interface StickySettings extends z.infer<ReturnType<typeof stickySettingsSchema>> {}
