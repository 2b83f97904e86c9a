import * as z from 'zod';
import type { Clock } from './base/clock.ts';
import type { Ids } from './base/ids.ts';
import { lazily } from './base/lazily.ts';
import { parseWorkspaceId, type WorkspaceId } from './call/workspace.ts';
import { type DialectName, dialects, type QuirksOf } from './dialects/index.ts';
import type { Guardrail } from './guardrails/guardrail.ts';
import type { HostCaller } from './http/authenticate.ts';
import { brandOf, compatNames } from './operations/compat.ts';
import type { Operation } from './operations/operation.ts';
import type { Plugin } from './plugins/plugin.ts';
import type { Provider } from './providers/provider.ts';
import { permissionSchema } from './schema/api-key.ts';
import { expectation } from './schema/expectations.ts';
import { masterSecretsSchema } from './schema/master-secrets.ts';
import {
  budgetSettingsSchema,
  cooldownSettingsSchema,
  corsSettingsSchema,
  hedgeSettingsSchema,
  keepAliveSettingsSchema,
  limitSettingsSchema,
  milliseconds,
  overloadSettingsSchema,
  rateLimitSettingsSchema,
  redisSettingsSchema,
  retrySettingsSchema,
  stickySettingsSchema,
  streamSettingsSchema,
  timeoutSettingsSchema,
} from './schema/settings.ts';
import { validationIssues } from './schema/validate.ts';
import { catalogOptions, dataPolicyOptions, modelOptions, slug } from './setup/model-options.ts';
import type { StoreOption } from './setup/stores.ts';
import type { Ledger } from './stores/ledger/ledger.ts';
import type { Sealer } from './stores/vault.ts';
import type { Logger, OperationRecorder, Recorder } from './telemetry/record.ts';
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

type AnyQuirks = QuirksOf<DialectName>;

/** Of any dialect: once that of the provider is known, `configureProviders` checks them by its own schema. */
const quirks = lazily((): z.ZodType<AnyQuirks, AnyQuirks> => {
  const schemas = Object.values(dialects).map((dialect) => dialect.quirks());
  const [only] = schemas;
  return schemas.length === 1 && only ? only : z.union(schemas);
});

const withId = <T>(what: string) =>
  z.custom<T>(
    (value) =>
      typeof value === 'object' && value !== null && /^\S{1,80}$/.test(String((value as { id?: unknown }).id ?? '')),
    { error: expectation(`expected ${what}`) },
  );

const providerOptions = lazily(() =>
  z.strictObject({
    /** The key. Undefined for a built-in provider: it is not used. Undefined with a `baseUrl`: none is sent. */
    apiKey: z.string().min(1).optional(),
    /** The other parts of the credential, by name, where the provider asks for some, such as a region or an account. */
    credential: z.record(z.string(), z.string().min(1)).optional(),
    baseUrl: z.url({ protocol: /^https?$/, error: expectation('expected an http or https URL') }).optional(),
    /** Whether it is sent the credentials that workspaces bring. Default: only at its built-in address. */
    byok: z.boolean().optional(),
    /** Display name. Default: the built-in one, or the slug. */
    name: z.string().min(1).optional(),
    /** Sent with every request that uses your own credential, and with no other. */
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
      /**
       * Your own users: who asks, or null. It is asked about requests without a known key. `host`: the host app names the
       * caller of each request, by `caller` of an adapter or by `gateway.as`.
       */
      authenticate: z
        .union([
          z.literal('host'),
          func<(request: Request) => HostCaller | null | Promise<HostCaller | null>>('(request) => caller or null'),
        ])
        .optional(),
      /** Where workspaces, budgets, credentials and keys live. Any Keyv or Keyv adapter; default in memory. */
      store: objectWith<StoreOption>(['get', 'set', 'delete'], 'a Keyv or a Keyv adapter').optional(),
      /** Holds and books money, instead of the store; for stores that have no atomic way. */
      ledger: objectWith<Ledger>(
        ['hold', 'settle', 'release', 'renew', 'expire', 'add', 'read', 'forget'],
        'a ledger',
      ).optional(),
      budgets: sectionDefault(budgetSettingsSchema()),
      /** Master keys of the credentials that workspaces bring. Without, none can be stored. */
      secrets: masterSecretsSchema().optional(),
      /** Seals their data keys, such as by a KMS; wins over `secrets`. */
      sealer: objectWith<Sealer>(['seal', 'open'], 'a sealer with seal and open').optional(),
      redis: sectionDefault(redisSettingsSchema()),
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
      /** For browsers, where the host app has no cross-origin rules of its own. Default: none. */
      cors: corsSettingsSchema().optional(),
      /** Shown in routing metadata. */
      region: z.string().min(1).nullable().default(null),
      limits: sectionDefault(limitSettingsSchema()),
      rateLimits: sectionDefault(rateLimitSettingsSchema()),
      overload: sectionDefault(overloadSettingsSchema()),
      timeouts: sectionDefault(timeoutSettingsSchema()),
      retry: sectionDefault(retrySettingsSchema()),
      streams: sectionDefault(streamSettingsSchema()),
      keepAlive: sectionDefault(keepAliveSettingsSchema()),
      health: sectionDefault(cooldownSettingsSchema()),
      hedge: sectionDefault(hedgeSettingsSchema()),
      sticky: sectionDefault(stickySettingsSchema()),
      /** One line per request, and unexpected errors. Fits pino. Default: none. */
      logger: objectWith<Logger>(['info', 'warn', 'error'], 'a logger with info, warn and error').optional(),
      /** The host app's plugins, beside those that are built in. One may take an id of the interface that is not built in. */
      plugins: z.array(withId<Plugin>('a plugin: an object with an id')).default([]),
      /** The host app's guardrails: they act whether a request asks for them or not. */
      guardrails: z.array(withId<Guardrail>('a guardrail: an object with an id')).default([]),
      /** The host app's operations, served beside those of the interface. */
      operations: z
        .array(
          objectWith<Operation>(['run', 'result'], 'an operation: name, method, path, permissions, result and run'),
        )
        .default([]),
      /** Takes a record of every finished request. */
      onRecord: func<Recorder>('(record) => void').optional(),
      /** Takes a record of every request that was refused before it was routed, and of every other operation. */
      onOperation: func<OperationRecorder>('(record) => void').optional(),
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
