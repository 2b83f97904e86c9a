import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { expectation } from './expectations.ts';
import { rateLimitsSchema } from './rate-limits.ts';

export const count = lazily(() => z.int().min(1));
export const milliseconds = lazily(() => z.int().min(1));

/** Option `budgets`. */
export const budgetSettingsSchema = lazily(() =>
  z.strictObject({
    /** true: what goes through a workspace's own provider credentials counts against its budgets as well. */
    includeByok: z.boolean().default(false),
    /** true: a request whose worst case does not fit is sent with as small a largest output as fits. */
    shrinkToFit: z.boolean().default(false),
    /** Endpoints without a known price, where a budget is set: not tried (400 where that leaves none), or free of charge. */
    unknownPrice: z.enum(['refuse', 'allow']).default('refuse'),
    /** Request fields of which nobody knows what they may cost, where a budget is set: 400, or held for as text. */
    unknownFields: z.enum(['refuse', 'allow']).default('refuse'),
    /** What becomes of the money held by a process that died. */
    onLostHold: z.enum(['charge', 'release']).default('charge'),
    /** How long a process may be silent before what it holds counts as lost. */
    leaseMs: z.int().min(1000).default(60_000),
    /** The largest output, in tokens, where a limit is set and the request names none; less where the endpoint supports less. Sent upstream. */
    defaultMaxTokens: count().default(8_192),
  }),
);
export interface BudgetSettings extends z.infer<ReturnType<typeof budgetSettingsSchema>> {}

/** Option `redis`. */
export const redisSettingsSchema = lazily(() =>
  z.strictObject({
    /** A Redis that deletes data when its memory is short: a warning in the log, or every request that needs the store is 503. */
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

/** Option `cors`. */
export const corsSettingsSchema = lazily(() =>
  z
    .strictObject({
      /** The web sites whose pages may read responses: their origins, a function of an origin, or `*` for all. */
      origins: z.custom<'*' | readonly string[] | ((origin: string) => boolean)>(
        (value) =>
          value === '*' ||
          typeof value === 'function' ||
          (Array.isArray(value) && value.length > 0 && value.every((one) => origin().safeParse(one).success)),
        expectation('expected "*", a list of origins such as "https://app.example", or (origin) => boolean'),
      ),
      /** Request headers that pages may send, beside those of the interface. */
      headers: z.array(headerName()).default([]),
      /** Response headers that pages may read, beside those of the interface. */
      exposedHeaders: z.array(headerName()).default([]),
      /** true: browsers send cookies of the host app along. Never with `*`. */
      credentials: z.boolean().default(false),
      /** How long a browser may remember that it may ask. */
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
    /** Of every API key that has none of its own. */
    key: rateLimitsSchema().prefault({}),
    /** Of every workspace that is not listed in `workspaces`. */
    workspace: rateLimitsSchema().prefault({}),
    /** Of single workspaces, by id: instead of `workspace`. */
    workspaces: z.record(z.string(), rateLimitsSchema()).default({}),
    /** The output, in tokens, that is held where the request names no largest output. */
    assumedOutputTokens: count().default(1_024),
    /** When the store does not respond: refuse the request (503), or serve it without counting. */
    onStoreFailure: z.enum(['refuse', 'allow']).default('refuse'),
    /** How long a process may be silent before its calls no longer count as in flight. */
    leaseMs: z.int().min(1000).default(60_000),
  }),
);
export interface RateLimitSettings extends z.infer<ReturnType<typeof rateLimitSettingsSchema>> {}

/** Option `overload`: when requests are refused (503) before anything is done for them. */
export const overloadSettingsSchema = lazily(() =>
  z.strictObject({
    /** Requests in flight in this process; null: no limit. */
    maxInFlight: count().nullable().default(null),
    /** How late the timers of this process may be, in ms; null: no limit. */
    maxLoopLagMs: milliseconds().nullable().default(null),
  }),
);
export interface OverloadSettings extends z.infer<ReturnType<typeof overloadSettingsSchema>> {}

/** Option `limits`. */
export const limitSettingsSchema = lazily(() =>
  z.strictObject({
    /** A request's body, in bytes. */
    bodyBytes: count().default(32 * 1024 * 1024),
    /** Levels of nesting in a JSON body, of a request and of an upstream's response. */
    depth: count().default(100),
    /** Values in a JSON body of a request: numbers, texts, flags, nulls, lists and objects. */
    jsonValues: count().default(100_000),
    /** Slugs in `models` of a request. */
    models: count().default(20),
    /** One slug or pattern in a request, in UTF-16 units. */
    slugChars: count().default(256),
    /** Each list or map of settings in a request, such as `tools`, `provider.order` and `logit_bias`, and its own fields. */
    listItems: count().default(1_000),
    /** Different patterns with a `*` in `allowed_models`, over all provider credentials of one workspace. */
    credentialPatterns: count().default(1_000),
    /** An upstream's complete response, decompressed. */
    upstreamBodyBytes: count().default(32 * 1024 * 1024),
    /** All bytes of an upstream's stream, decompressed. */
    upstreamStreamBytes: count().default(256 * 1024 * 1024),
    /** One event of an upstream's stream. */
    upstreamEventBytes: count().default(8 * 1024 * 1024),
    /** Provider credentials of one workspace. */
    credentials: count().default(500),
    /** API keys of one workspace, those that are disabled or expired too. */
    apiKeys: count().default(1_000),
    /** An upstream's error body; what is longer is cut. */
    upstreamErrorBytes: count().default(64 * 1024),
    /** All headers of an upstream's response. */
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

/** Option `timeouts`. */
export const timeoutSettingsSchema = lazily(() =>
  z.strictObject({
    /** To the upstream's response headers, where a stream was asked for. */
    headersMs: milliseconds().default(60_000),
    /**
     * The same where JSON was asked for: many upstreams send no header before the complete response is there, and models that
     * reason take minutes. Less than `totalMs`, so that the client hears of the upstream's time-out.
     */
    jsonHeadersMs: milliseconds().default(540_000),
    /** From the headers to the first token of a stream, or to the first byte of a JSON body. */
    firstEventMs: milliseconds().default(300_000),
    /** Between two events of a stream. */
    idleMs: milliseconds().default(60_000),
    /** The request, from arrival to the last byte. */
    totalMs: milliseconds().default(600_000),
  }),
);
export interface TimeoutSettings extends z.infer<ReturnType<typeof timeoutSettingsSchema>> {}

/** Option `retry`. */
export const retrySettingsSchema = lazily(() =>
  z.strictObject({
    /** Attempts of one request, over all endpoints. */
    maxAttempts: z.int().min(1).max(50).default(5),
    /** Attempts at one endpoint before the next is tried. */
    attemptsPerEndpoint: z.int().min(1).max(50).default(2),
    /** The first backoff; doubles with each attempt at the same endpoint, less a random part of up to half. */
    baseDelayMs: z.int().min(0).default(250),
    maxDelayMs: z.int().min(0).default(5_000),
    /** A provider that asks for a longer pause is left alone, and the next endpoint is tried. */
    maxRetryAfterMs: z.int().min(0).default(10_000),
    /** The cooldown of an endpoint that refused our credentials. */
    cooldownMs: z.int().min(0).default(60_000),
  }),
);
export interface RetrySettings extends z.infer<ReturnType<typeof retrySettingsSchema>> {}

/** Option `streams`. */
export const streamSettingsSchema = lazily(() =>
  z.strictObject({
    /** What a client sees when a stream breaks after its first event: an error event, or a connection closed without a clean end. */
    onCut: z.enum(['error', 'close']).default('error'),
  }),
);
export interface StreamSettings extends z.infer<ReturnType<typeof streamSettingsSchema>> {}

/** Option `keepAlive`. */
export const keepAliveSettingsSchema = lazily(() =>
  z.strictObject({
    /** Silence before the first event after which the stream is opened with a comment; failures then travel in-band. */
    firstMs: milliseconds().default(10_000),
    /** Silence within a stream after which a comment is sent. */
    everyMs: milliseconds().default(10_000),
  }),
);
export interface KeepAliveSettings extends z.infer<ReturnType<typeof keepAliveSettingsSchema>> {}

/** Option `health`: when an endpoint is left alone after failures. */
export const cooldownSettingsSchema = lazily(() =>
  z.strictObject({
    /** Failures in a row, without a success in between, after which an endpoint has a cooldown. */
    failuresToCooldown: count().default(5),
    /** The first cooldown; twice as long each time the one attempt after it fails as well. */
    cooldownMs: milliseconds().default(5_000),
    maxCooldownMs: milliseconds().default(60_000),
  }),
);
export interface CooldownSettings extends z.infer<ReturnType<typeof cooldownSettingsSchema>> {}

/** Option `hedge`. */
export const hedgeSettingsSchema = lazily(() =>
  z.strictObject({
    /** true: when the first token of a stream is late, the next attempt starts beside it, and the first to send a token serves. */
    enabled: z.boolean().default(false),
    /**
     * When a first token is late where too little is known of an endpoint, in ms; null: never. Where enough is known, it is
     * late when it takes longer than 95 of 100 of the endpoint's first tokens in 5 minutes.
     */
    afterMs: milliseconds().nullable().default(null),
    /** Share of the streams that may be hedged. */
    maxShare: z.number().min(0).max(1).default(0.05),
  }),
);
export interface HedgeSettings extends z.infer<ReturnType<typeof hedgeSettingsSchema>> {}

/** Option `sticky`. */
export const stickySettingsSchema = lazily(() =>
  z.strictObject({
    /** How long after its last success a conversation keeps its endpoint. */
    ttlMs: milliseconds().default(600_000),
    /** Conversations that are remembered; of more, the latest. */
    max: count().default(100_000),
  }),
);
export interface StickySettings extends z.infer<ReturnType<typeof stickySettingsSchema>> {}
