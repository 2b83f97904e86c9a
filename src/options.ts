import * as z from 'zod';
import type { Clock } from './base/clock.ts';
import type { Ids } from './base/ids.ts';
import { lazily } from './base/lazily.ts';
import { parseWorkspaceId, type WorkspaceId } from './call/workspace.ts';
import { type DialectName, dialects, type QuirksOf } from './dialects/index.ts';
import type { HostCaller } from './http/authenticate.ts';
import { brandOf, compatNames } from './operations/compat.ts';
import type { Provider } from './providers/provider.ts';
import { permissionSchema } from './schema/api-key.ts';
import { expectation } from './schema/expectations.ts';
import { masterSecretsSchema } from './schema/master-secrets.ts';
import { validationIssues } from './schema/validate.ts';
import { catalogOptions, count, dataPolicyOptions, modelOptions, slug } from './setup/model-options.ts';
import type { StoreOption } from './setup/stores.ts';
import type { Ledger } from './stores/ledger/ledger.ts';
import type { Sealer } from './stores/vault.ts';
import type { Logger, Recorder } from './telemetry/record.ts';
import type { Transport } from './transport/transport.ts';

const func = <T>(what: string) =>
  z.custom<T>((value) => typeof value === 'function', { error: expectation(`expected a function: ${what}`) });
const objectWith = <T>(methods: readonly string[], what: string) =>
  z.custom<T>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function'),
    {
      error: expectation(`expected ${what}`),
    },
  );

const milliseconds = lazily(() => z.int().min(1));
type AnyQuirks = QuirksOf<DialectName>;

/** Of any dialect: once that of the provider is known, `configureProviders` checks them by its own schema. */
const quirks = lazily((): z.ZodType<AnyQuirks, AnyQuirks> => {
  const schemas = Object.values(dialects).map((dialect) => dialect.quirks());
  const [only] = schemas;
  return schemas.length === 1 && only ? only : z.union(schemas);
});

const providerOptions = lazily(() =>
  z.strictObject({
    /** The key. Undefined for a built-in provider: it is not used. Undefined with a `baseUrl`: none is sent. */
    apiKey: z.string().min(1).optional(),
    /** The other parts of the credential, by name, where the provider asks for some, such as a region or an account. */
    credential: z.record(z.string(), z.string().min(1)).optional(),
    baseUrl: z.url({ protocol: /^https?$/, error: expectation('expected an http or https URL') }).optional(),
    /** Display name. Default: the built-in one, or the slug. */
    name: z.string().min(1).optional(),
    /** Sent with every request. */
    headers: z
      .record(
        z.string().regex(/^[!#$%&'*+.^_`|~\w-]+$/, expectation('expected a header name')),
        z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, expectation('expected a header value')),
      )
      .optional(),
    /** The wire format it speaks. Default `openai-chat`. */
    dialect: z.enum(Object.keys(dialects) as [DialectName, ...DialectName[]]).optional(),
    /** Those of its dialect. */
    quirks: quirks().optional(),
    dataPolicy: dataPolicyOptions().optional(),
  }),
);

const apiKeyOptions = lazily(() =>
  z.strictObject({
    key: z.string().min(8),
    /** Default `["inference"]`. */
    permissions: z.array(permissionSchema()).min(1).default(['inference']),
    /** Id of the workspace it is bound to: it sees no other. Default: none; it works for the default workspace and, with `management`, manages all. */
    workspace: z
      .custom<WorkspaceId>(
        (value) => typeof value === 'string' && parseWorkspaceId(value) !== null,
        expectation('expected the id of a workspace'),
      )
      .optional(),
  }),
);

const budgets = lazily(() =>
  z.strictObject({
    /** true: what goes through a workspace's own provider credentials counts against its budgets as well. */
    includeByok: z.boolean().default(false),
    /** true: a request whose worst case does not fit is sent with as small a largest output as fits. */
    shrinkToFit: z.boolean().default(false),
    /** Endpoints without a known price, where a budget is set: not tried (400 where that leaves none), or free of charge. */
    unknownPrice: z.enum(['refuse', 'allow']).default('refuse'),
    /** What becomes of the money held by a process that died. */
    onLostHold: z.enum(['charge', 'release']).default('charge'),
    /** How long a process may be silent before what it holds counts as lost. */
    leaseMs: z.int().min(1000).default(60_000),
    /** The largest output, in tokens, where a budget is set and neither request nor endpoint names one. Sent upstream. */
    defaultMaxTokens: count().default(16_384),
  }),
);

const limits = lazily(() =>
  z.strictObject({
    /** A request's body, in bytes. */
    bodyBytes: count().default(32 * 1024 * 1024),
    /** Levels of nesting in a JSON body, of a request and of an upstream's answer. */
    depth: count().default(100),
    /** An upstream's whole answer, decompressed. */
    upstreamBodyBytes: count().default(32 * 1024 * 1024),
    /** An upstream's whole stream, decompressed. */
    upstreamStreamBytes: count().default(256 * 1024 * 1024),
    /** One event of an upstream's stream. */
    upstreamEventBytes: count().default(8 * 1024 * 1024),
    /** Provider credentials of one workspace. */
    credentials: count().default(500),
    /** An upstream's error body; what is longer is cut. */
    upstreamErrorBytes: count().default(64 * 1024),
    /** All headers of an upstream's response. */
    upstreamHeaderBytes: count().default(32 * 1024),
  }),
);

const timeouts = lazily(() =>
  z.strictObject({
    /** To the upstream's response headers. */
    headersMs: milliseconds().default(60_000),
    /** From there to the first event of a stream. */
    firstEventMs: milliseconds().default(60_000),
    /** Between two events of a stream. */
    idleMs: milliseconds().default(60_000),
    /** The whole request, from arrival to the last byte. */
    totalMs: milliseconds().default(600_000),
  }),
);

const retry = lazily(() =>
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
    /** How long an endpoint rests that refused our credentials. */
    cooldownMs: z.int().min(0).default(60_000),
  }),
);

const health = lazily(() =>
  z.strictObject({
    /** Failures in a row after which an endpoint is left alone for a while. */
    failuresToCooldown: count().default(5),
    /** For how long at first; twice as long each time the one attempt after it fails as well. */
    cooldownMs: milliseconds().default(5_000),
    maxCooldownMs: milliseconds().default(60_000),
  }),
);

const hedge = lazily(() =>
  z.strictObject({
    /** true: when the first token of a stream is late, the next try is started beside it, and the first to speak serves. */
    enabled: z.boolean().default(false),
    /**
     * What is late where too little is known of an endpoint, in ms; null: nothing is. Where enough is known, what is later
     * than 95 of 100 of its first tokens in 5 minutes.
     */
    afterMs: milliseconds().nullable().default(null),
    /** Share of the streams that may be hedged. */
    maxShare: z.number().min(0).max(1).default(0.05),
  }),
);

const sticky = lazily(() =>
  z.strictObject({
    /** How long after its last success a conversation keeps its endpoint. */
    ttlMs: milliseconds().default(600_000),
    /** Conversations that are remembered; of more, the latest. */
    max: count().default(100_000),
  }),
);

const keepAlive = lazily(() =>
  z.strictObject({
    /** Silence before the first event after which the stream is opened with a comment; failures then travel in-band. */
    firstMs: milliseconds().default(10_000),
    /** Silence within a stream after which a comment is sent. */
    everyMs: milliseconds().default(10_000),
  }),
);

const sectionDefault = <T extends z.ZodType>(schema: T) => schema.prefault({} as z.input<T>);

/** What is checked; for what tells of the options. */
export const optionsSchema = lazily(() =>
  z
    .strictObject({
      /** By slug: a built-in provider, your own, or one made by `defineProvider`. */
      providers: z
        .record(slug(), z.union([providerOptions(), objectWith<Provider>(['auth'], 'a provider')]))
        .default({}),
      models: z.array(modelOptions()).default([]),
      /** Where further models and their prices come from. */
      catalog: sectionDefault(catalogOptions()),
      /** Keys callers authenticate with. */
      apiKeys: z.array(apiKeyOptions()).optional(),
      /** Your own users instead of `apiKeys`: who asks, or null. */
      authenticate:
        func<(request: Request) => HostCaller | null | Promise<HostCaller | null>>(
          '(request) => caller or null',
        ).optional(),
      /** Where workspaces, budgets, credentials and keys live. Any Keyv or Keyv adapter; default in memory. */
      store: objectWith<StoreOption>(['get', 'set', 'delete'], 'a Keyv or a Keyv adapter').optional(),
      /** Holds and books money, instead of the store; for stores that have no atomic way. */
      ledger: objectWith<Ledger>(
        ['hold', 'settle', 'release', 'renew', 'expire', 'add', 'read', 'forget'],
        'a ledger',
      ).optional(),
      budgets: sectionDefault(budgets()),
      /** Master keys of the credentials that workspaces bring. Without, none can be stored. */
      secrets: masterSecretsSchema().optional(),
      /** Seals their data keys, such as by a KMS; wins over `secrets`. */
      sealer: objectWith<Sealer>(['seal', 'open'], 'a sealer with seal and open').optional(),
      /** How long the store may take before a request fails with 503. */
      storeTimeoutMs: milliseconds().default(250),
      /** How long what was read from the store is believed: a key revoked by another instance works on for so long. */
      storeCacheMs: z.int().min(0).default(5_000),
      /** For requests that name no model. */
      defaultModel: z.string().min(1).optional(),
      /** Names the header `X-{Brand}-Metadata` and the field `{brand}_metadata`. Default: that of `compat`, else `service`. */
      brand: z
        .string()
        .regex(/^[a-z][a-z0-9]{0,30}$/, expectation('expected up to 31 lower-case letters and digits'))
        .optional(),
      /** Whose wire to follow where it differs from the interface. */
      compat: z.enum(compatNames).optional(),
      /** Where requests come in, unless an adapter says otherwise. */
      basePath: z
        .string()
        .regex(/^(?:\/[^\s?#/]+)*$/, expectation('expected a path such as /v1'))
        .default('/v1'),
      /** Shown in routing metadata. */
      region: z.string().min(1).nullable().default(null),
      limits: sectionDefault(limits()),
      timeouts: sectionDefault(timeouts()),
      retry: sectionDefault(retry()),
      keepAlive: sectionDefault(keepAlive()),
      health: sectionDefault(health()),
      hedge: sectionDefault(hedge()),
      sticky: sectionDefault(sticky()),
      /** One line per request, and unexpected errors. Fits pino. Default: none. */
      logger: objectWith<Logger>(['info', 'warn', 'error'], 'a logger with info, warn and error').optional(),
      /** Takes a record of every finished request. */
      onRecord: func<Recorder>('(record) => void').optional(),
      /** The network, by the web's own interface. Default: undici on Node, fetch elsewhere. */
      fetch: func<typeof fetch>('fetch').optional(),
      /** The network, by ours; wins over `fetch`. */
      transport: objectWith<Transport>(['send'], 'a transport with send').optional(),
      /** Time, randomness and ids, for exact tests. */
      clock: objectWith<Clock>(['now', 'after'], 'a clock with now and after').optional(),
      random: func<() => number>('() => number in [0, 1)').optional(),
      ids: objectWith<Ids>(['uuid'], 'ids with uuid').optional(),
      randomBytes: func<(size: number) => Uint8Array>('(size) => Uint8Array').optional(),
    })
    .check((payload) => {
      const { apiKeys, authenticate, store } = payload.value;
      if (authenticate || store || (apiKeys && apiKeys.length > 0)) return;
      payload.issues.push({
        code: 'custom',
        path: ['apiKeys'],
        message: expectation(
          'expected at least one key, a store that holds some, or the option authenticate: else nobody could call the gateway',
        ),
        input: apiKeys,
      });
    }),
);

/** What `createGateway` takes. */
export interface GatewayOptions extends z.input<ReturnType<typeof optionsSchema>> {}

/** The same, checked and complete. */
export interface ResolvedOptions extends z.output<ReturnType<typeof optionsSchema>> {
  brand: string;
}

/** A mistake in the options: every one, by name, with what was expected. Never holds a value, which might be a key. */
export class OptionsError extends Error {
  readonly issues: readonly { path: string; message: string }[];

  constructor(issues: readonly { path: string; message: string }[]) {
    super(
      `createGateway: ${issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ')}`,
    );
    this.name = 'OptionsError';
    this.issues = issues;
  }
}

/** @throws OptionsError */
export function resolveOptions(options: GatewayOptions): ResolvedOptions {
  // Once, so that functions which zod would generate for it take longer than they save, some 10 ms.
  const parsed = optionsSchema().safeParse(options, { jitless: true });
  if (!parsed.success) throw new OptionsError(validationIssues(parsed.error));
  const { brand, compat } = parsed.data;
  return { ...parsed.data, brand: brand ?? brandOf(compat) ?? 'service' };
}
