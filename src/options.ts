import * as z from 'zod';
import type { GivenClock } from './base/clock.ts';
import { GatewayError } from './base/errors.ts';
import type { Ids } from './base/ids.ts';
import { lazily } from './base/lazily.ts';
import { type Issue, issueText } from './base/refusal.ts';
import { pastedKey } from './base/text/pasted-key.ts';
import type { FetchUrl } from './call/fetch-url.ts';
import type { SearchEngine } from './call/search.ts';
import { parseWorkspaceId, type WorkspaceId } from './call/workspace.ts';
import { type Guardrail, guardrailIssues } from './guardrails/guardrail.ts';
import type { HostCaller } from './http/host-caller.ts';
import { brandOf, compatNames } from './operations/compat.ts';
import { type Operation, operationIssues } from './operations/operation.ts';
import { type Plugin, pluginIssues } from './plugins/plugin.ts';
import type { ChatRequest } from './schema/chat/chat.ts';
import { expectation } from './schema/chat/expectations.ts';
import { thoughtBindingSettingsSchema } from './schema/chat/thought-bindings.ts';
import { validationIssues } from './schema/chat/validate.ts';
import { func } from './schema/functions.ts';
import { type LateFields, madeFields, partFor } from './schema/late-fields.ts';
import { type AuditEntry, auditSettingsSchema } from './schema/records/audit.ts';
import { budgetEventSettingsSchema } from './schema/settings/budget-events.ts';
import { masterSecretsSchema } from './schema/settings/master-secrets.ts';
import { proxySchema } from './schema/settings/proxy.ts';
import { recordSettingsSchema } from './schema/settings/records.ts';
import { routerSettingsSchema } from './schema/settings/router.ts';
import {
  budgetSettingsSchema,
  cooldownSettingsSchema,
  corsSettingsSchema,
  fetchingSettingsSchema,
  hedgeSettingsSchema,
  keepAliveSettingsSchema,
  limitSettingsSchema,
  milliseconds,
  originsSchema,
  overloadSettingsSchema,
  rateLimitSettingsSchema,
  redisSettingsSchema,
  retrySettingsSchema,
  stickySettingsSchema,
  streamSettingsSchema,
  tokenCountSettingsSchema,
} from './schema/settings/settings.ts';
import { timeoutSettingsSchema } from './schema/settings/timeouts.ts';
import { webSocketSettingsSchema } from './schema/settings/web-sockets.ts';
import { permissionSchema } from './schema/tenants/api-key.ts';
import { allowedModelPatterns, keyTags } from './schema/tenants/key-scope.ts';
import { type ServerTool, serverToolIssues } from './server-tools/server-tool.ts';
import { optionDefaults } from './setup/options/defaults.ts';
import { catalogOptions, modelAlias, modelOptions, modelsPart, modelTarget } from './setup/options/model.ts';
import { providersOptions, providersPart } from './setup/options/provider.ts';
import { sandboxSettings } from './setup/sandbox.ts';
import type { StoreOption } from './setup/stores.ts';
import type { Ledger } from './stores/ledger/ledger.ts';
import type { Sealer } from './stores/vault/index.ts';
import type { Recorder } from './telemetry/follow.ts';
import { type Logger, type OperationRecorder, safeLogger } from './telemetry/record.ts';
import type { Transport } from './transport/transport.ts';

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

/** An object that the host app's own code has written, checked as by the function that defines it. */
const definedBy = <T>(issuesOf: (given: unknown) => readonly Issue[]) =>
  z.custom<T>().check((payload) => {
    for (const { path, message } of issuesOf(payload.value))
      payload.issues.push({
        code: 'custom',
        path: path === '' ? [] : path.split('.'),
        message,
        params: { isWorded: true },
        input: undefined,
      });
  });

const workspaceId = lazily(
  () =>
    z.custom<WorkspaceId>(
      (value) => typeof value === 'string' && parseWorkspaceId(value) !== null,
      expectation('expected the id of a workspace'),
    ) as unknown as z.ZodType<WorkspaceId, string>,
);

export const apiKeyOptions = lazily(() =>
  z.strictObject({
    /** At least 8 visible ASCII characters without blanks; kept as a hash. Blanks and quotation marks around it are left out. */
    key: z
      .string()
      .overwrite((key) => pastedKey(key).key)
      .min(8)
      .regex(/^[\x21-\x7e]*$/, expectation('expected visible ASCII characters without blanks')),
    /** Permissions of the key: chat needs `inference`; workspaces, budgets, credentials and keys need `management`. */
    permissions: z.array(permissionSchema()).min(1).default(['inference']),
    /**
     * Patterns of the models that the key may use, such as `openai/*`; 1 to 100; see
     * docs/workspaces.md#models-of-a-key.
     * @default all
     */
    models: allowedModelPatterns().optional(),
    /** Labels that the records of its requests hold, such as `team-a`; at most 20 of 64 characters. */
    tags: keyTags().default([]),
    /**
     * Id of the workspace that the key is bound to; the key sees no other workspace. Without it, the key works for
     * the default workspace and manages all workspaces.
     */
    workspaceId: workspaceId().optional(),
  }),
);

const sectionDefault = <T extends z.ZodType>(schema: T) => schema.prefault({} as z.input<T>);

/** The options, each with its check. */
const optionFields = {
  /** By slug: a built-in provider, your own server, or a provider made by `defineProvider`. */
  providers: () => providersOptions().default({}),
  /**
   * Your models, with the endpoints that serve them; docs/catalogue.md lists the other sources of models.
   */
  models: () => z.array(modelOptions()).default([]),
  /**
   * Further names that requests may use, each with the slug that it stands for: `{ 'gpt-4o': 'openai/gpt-4o' }`;
   * see docs/routing.md#other-names-of-a-model.
   */
  aliases: () => z.record(modelAlias(), modelTarget()).default({}),
  /** Sources of further models and their prices. */
  catalog: () => sectionDefault(catalogOptions()),
  /** Keys that callers authenticate with. */
  apiKeys: () => z.array(apiKeyOptions()).optional(),
  /**
   * `(request) => caller`, or null: your own users; may be asynchronous. It is asked about requests without a
   * known key. `'host'`: only your app names its users, request by request. Your own users
   * (docs/options.md#your-own-users).
   */
  authenticate: () =>
    z
      .union([
        z.literal('host'),
        func<(request: Request) => HostCaller | null | Promise<HostCaller | null>>('(request) => caller or null'),
      ])
      .optional(),
  /**
   * The store of workspaces, budgets, credentials and keys; see docs/storage.md.
   * @default in memory
   */
  store: () => objectWith<StoreOption>(['get', 'set', 'delete'], 'a Keyv or a Keyv adapter').optional(),
  /**
   * Holds and books money, for a store that has no atomic operations.
   * @default the store's
   */
  ledger: () =>
    objectWith<Ledger>(
      ['hold', 'settle', 'release', 'renew', 'expire', 'add', 'read', 'forget'],
      'a ledger',
    ).optional(),
  /** Settings of the holds of budgets. */
  budgets: () => sectionDefault(budgetSettingsSchema()),
  /** Encrypts BYOK credentials (none without it: 503), and prompts and responses that are kept. */
  secrets: () => masterSecretsSchema().optional(),
  /** Encrypts them with a key service (KMS) instead; wins over `secrets`. */
  sealer: () => objectWith<Sealer>(['seal', 'open'], 'a sealer with seal and open').optional(),
  /** Demands on the safety of a Redis. */
  redis: () => sectionDefault(redisSettingsSchema()),
  /** The longest time of a store call; then the request fails with 503. */
  storeTimeoutMs: () => milliseconds().default(250),
  /** The time for which data from the store is cached: a key that another instance has revoked works for so long. */
  storeCacheMs: () => z.int().min(0).default(5_000),
  /** The model of requests that name none; without it such a request is a 400. */
  defaultModel: () => z.string().min(1).optional(),
  /**
   * Names the headers `X-{Brand}-Metadata` and `X-{Brand}-Timeout-Ms`, the field `{brand}_metadata` and the
   * comment `: {BRAND} PROCESSING`; up to 31 lower-case letters and digits.
   * @default that of `compat`, else `"service"`
   */
  brand: () =>
    z
      .string()
      .regex(/^[a-z][a-z0-9]{0,30}$/, expectation('expected up to 31 lower-case letters and digits'))
      .optional(),
  /** The service whose wire format to follow where it differs from the interface; see docs/listings.md#compat. */
  compat: () => z.enum(compatNames).optional(),
  /** The path under which requests arrive, unless an adapter sets another. */
  basePath: () =>
    z
      .string()
      .regex(/^(?:\/[^\s?#/]+)*$/, expectation('expected a path such as /v1'))
      .default('/v1'),
  /**
   * The web pages of other sites that may use the gateway, where your server has no rules for that; see
   * docs/options-requests.md#cors and docs/hosts.md#web-pages-of-other-sites.
   */
  cors: () => corsSettingsSchema().optional(),
  /**
   * Web sites, beside those of `cors`, whose pages may act for your own users: their origins, a function of an
   * origin, or `*` for all, where your app itself guards against forged requests; see
   * docs/hosts.md#forged-requests.
   */
  trustedOrigins: () => originsSchema(true).default([]),
  /** Shown in routing metadata. */
  region: () => z.string().min(1).nullable().default(null),
  /** Maximum sizes. */
  limits: () => sectionDefault(limitSettingsSchema()),
  /** Requests and tokens per minute, and requests in flight; see [rate limits](rate-limits.md). */
  rateLimits: () => sectionDefault(rateLimitSettingsSchema()),
  /**
   * Limits behind which requests are refused because the process has too much to do; see [rate
   * limits](rate-limits.md#overload).
   */
  overload: () => sectionDefault(overloadSettingsSchema()),
  /** Maximum durations. */
  timeouts: () => sectionDefault(timeoutSettingsSchema()),
  /** Retries of a provider's failures: how many, and after which time. */
  retry: () => sectionDefault(retrySettingsSchema()),
  /** The end of a broken stream, as clients see it. */
  streams: () => sectionDefault(streamSettingsSchema()),
  /** Connections of clients that speak Responses over a WebSocket; see docs/websockets.md. */
  webSockets: () => sectionDefault(webSocketSettingsSchema()),
  /** Comments in silent streams. */
  keepAlive: () => sectionDefault(keepAliveSettingsSchema()),
  /** Failures after which an endpoint goes into cooldown; see docs/routing.md#health. */
  health: () => sectionDefault(cooldownSettingsSchema()),
  /** A second attempt beside a stream whose first token is late; see docs/routing.md#hedging. */
  hedge: () => sectionDefault(hedgeSettingsSchema()),
  /** Defaults of routers, where a request does not say; see docs/routing.md#routers-and-aliases. */
  routers: () => sectionDefault(routerSettingsSchema()),
  /** The time for which a conversation keeps its endpoint; see docs/routing.md#conversations. */
  sticky: () => sectionDefault(stickySettingsSchema()),
  /** Thoughts that a provider binds to their conversation; see docs/dialects/anthropic-messages.md. */
  thoughtBindings: () => sectionDefault(thoughtBindingSettingsSchema()),
  /** Counts of the tokens of a request; see docs/messages.md#counts-of-tokens. */
  tokenCounts: () => sectionDefault(tokenCountSettingsSchema()),
  /** The log of changes that management operations made; see docs/audit.md. */
  audit: () => sectionDefault(auditSettingsSchema()),
  /** `info`, `warn` and `error`, each `(fields, message)`, as in pino: one line per request, and unexpected errors. */
  logger: () => objectWith<Logger>(['info', 'warn', 'error'], 'a logger with info, warn and error').optional(),
  /** Your plugins, made by `definePlugin`; see docs/plugins.md. */
  plugins: () => z.array(definedBy<Plugin>(pluginIssues)).default([]),
  /**
   * `(request) => number`, from 0, easy, to 1, hard, or a promise of it: your own scorer for `service/auto`; see
   * docs/routing.md#routers-and-aliases.
   * @default the gateway's own
   */
  difficulty: () => func<(request: ChatRequest) => number | Promise<number>>('(request) => number').optional(),
  /**
   * Your guardrails, made by `textGuardrail` or `defineGuardrail`: they act whether a request asks for them or not;
   * see docs/guardrails.md.
   */
  guardrails: () => z.array(definedBy<Guardrail>(guardrailIssues)).default([]),
  /** Rules for fetching URLs that requests and models name; see docs/fetching.md. */
  fetching: () => sectionDefault(fetchingSettingsSchema()),
  /**
   * `(url, { maxBytes, mediaTypes, isAllowed, signal }) => Promise<FetchedFile>`: fetches these URLs instead. It
   * must refuse addresses that callers must not reach.
   * @default the gateway's own, on Node
   */
  fetchUrl: () => func<FetchUrl>('(url, options) => promise of a file').optional(),
  /**
   * The search engines, such as `exaSearch({ apiKey })`, for the plugin `web` and the tool `service:web_search`; the
   * first is used where a request names none. See docs/plugins/web.md.
   */
  searchEngines: () =>
    z.array(objectWith<SearchEngine>(['search', 'priceOf'], 'a search engine: name, priceOf and search')).default([]),
  /** Your server tools, made by `defineServerTool`; see docs/server-tools.md. */
  serverTools: () => z.array(definedBy<ServerTool>(serverToolIssues)).default([]),
  /**
   * Your operations, made by `defineOperation`, served beside those of the interface; see
   * docs/plugins.md#operations-of-your-own.
   */
  operations: () => z.array(definedBy<Operation>(operationIssues)).default([]),
  /** Scripted answers for your own tests; see docs/sandbox.md#scripted-answers. */
  sandbox: () => sandboxSettings().optional(),
  /** Records of requests in the store; see docs/records.md. */
  records: () => sectionDefault(recordSettingsSchema()),
  /** `(record) => void`, called for every client call that ran, when it has ended; see docs/record-fields.md#fields-of-records. */
  onRecord: () => func<Recorder>('(record) => void').optional(),
  /** `(record) => void`, called for refused requests and for other operations; see docs/record-fields.md#fields-of-records. */
  onOperation: () => func<OperationRecorder>('(record) => void').optional(),
  /** `(entry) => void`, called for every change that a management operation made; see docs/audit.md. */
  onAudit: () => func<(entry: AuditEntry) => void>('(entry) => void').optional(),
  /** Receivers of the news how much of budgets is spent; see docs/budget-events.md. */
  budgetEvents: () => sectionDefault(budgetEventSettingsSchema()),
  /**
   * The network, with the interface of the web's `fetch`.
   * @default undici on Node, else the global `fetch`
   */
  fetch: () => func<typeof fetch>('fetch').optional(),
  /**
   * The proxy through which providers are called: an http or https URL, or `{ url, noProxy }`. `"environment"`: the
   * one that `HTTPS_PROXY` and `HTTP_PROXY` name, but for the hosts in `NO_PROXY`. false: none. On Node only, and not
   * beside `fetch` or `transport`; see docs/hosts.md#behind-a-proxy.
   * @default `"environment"`
   */
  proxy: () => proxySchema().optional(),
  /** The network, with our interface; wins over `fetch`. */
  transport: () => objectWith<Transport>(['send'], 'a transport with send').optional(),
  /**
   * Time, for exact tests.
   * @default the system's
   */
  clock: () => objectWith<GivenClock>(['now', 'after'], 'a clock with now and after').optional(),
  /**
   * `() => number` in [0, 1), for exact tests.
   * @default `Math.random`
   */
  random: () => func<() => number>('() => number in [0, 1)').optional(),
  /**
   * `{ uuid() }`, for exact tests.
   * @default `crypto.randomUUID`
   */
  ids: () => objectWith<Ids>(['uuid'], 'ids with uuid').optional(),
  /**
   * `(size) => Uint8Array`, the random bytes for new keys.
   * @default `crypto.getRandomValues`
   */
  randomBytes: () => func<(size: number) => Uint8Array>('(size) => Uint8Array').optional(),
} satisfies LateFields;

/** The check of all options; their documentation is made from it too. */
export const optionsSchema = lazily(() =>
  z.strictObject(madeFields(optionFields)).check((payload) => {
    for (const issue of contradictionsOf(payload.value)) payload.issues.push({ code: 'custom', ...issue });
  }),
);

type Contradiction = { path: string[]; message: string; input: unknown };

/** Options that contradict each other, or that lack another. */
function contradictionsOf({
  apiKeys,
  authenticate,
  store,
  proxy,
  fetch: ownFetch,
  transport,
}: Pick<GatewayOptions, 'apiKeys' | 'authenticate' | 'store' | 'proxy' | 'fetch' | 'transport'>): Contradiction[] {
  const issues: Contradiction[] = [];
  if (proxy !== undefined && (ownFetch || transport))
    issues.push({
      path: ['proxy'],
      message: expectation('expected none beside fetch or transport, which are the network themselves'),
      input: undefined,
    });
  if (authenticate || store || (apiKeys && apiKeys.length > 0)) return issues;
  issues.push({
    path: ['apiKeys'],
    message: expectation(
      'expected at least one key, a store that holds some, or the option authenticate: else nobody could call the gateway',
    ),
    input: apiKeys,
  });
  return issues;
}

/** A key that callers authenticate with. */
export interface ApiKeyOptions extends z.input<ReturnType<typeof apiKeyOptions>> {}

/** The options of `createGateway`. */
export interface GatewayOptions extends z.input<ReturnType<typeof optionsSchema>> {}

type CheckedOptions = z.output<ReturnType<typeof optionsSchema>>;

/** The same, checked and complete. */
export interface ResolvedOptions extends CheckedOptions {
  brand: string;
}

/** A mistake in the options: every one, by name, with what was expected. Never holds a value, which might be a key. */
export class OptionsError extends GatewayError {
  /** Every mistake in the options. */
  readonly issues: readonly { path: string; message: string }[];

  constructor(issues: readonly { path: string; message: string }[]) {
    super('invalid_request', `createGateway: ${issues.map(issueText).join('; ')}`, { metadata: { issues } });
    this.name = 'OptionsError';
    this.issues = issues;
  }
}

/** @throws OptionsError */
export function resolveOptions(options: GatewayOptions): ResolvedOptions {
  const checked = partlyChecked(options) ?? whollyChecked(options);
  const { brand, compat, logger } = checked;
  const resolved = { ...checked, brand: brand ?? brandOf(compat) ?? 'service' };
  return logger ? { ...resolved, logger: safeLogger(logger) } : resolved;
}

// Functions that zod would generate for one check take longer than they save, some 10 ms.
const once = { jitless: true };

/** The options, checked by the schemas of those that are given; null: something is wrong with them. */
function partlyChecked(options: GatewayOptions): CheckedOptions | null {
  const part = partFor(optionFields, [options], { smaller: { providers: providersPart, models: modelsPart } });
  const parsed = part.safeParse(options, once);
  if (!parsed.success) return null;
  const checked = { ...optionDefaults(), ...(parsed.data as object) } as CheckedOptions;
  return contradictionsOf(checked).length > 0 ? null : checked;
}

/** @throws OptionsError */
function whollyChecked(options: GatewayOptions): CheckedOptions {
  const parsed = optionsSchema().safeParse(options, once);
  if (!parsed.success) throw new OptionsError(validationIssues(parsed.error));
  return parsed.data;
}
