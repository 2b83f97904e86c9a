import { inflater } from '#inflate';
import { nextTurn } from './base/async/next-turn.ts';
import { tell } from './base/async/tell.ts';
import { clockOf, systemClock } from './base/clock.ts';
import { causeOf } from './base/errors.ts';
import { instanceNames, randomIds } from './base/ids.ts';
import { lazily } from './base/lazily.ts';
import { systemRandomBytes } from './base/random.ts';
import type { Caller } from './call/call.ts';
import { createHealth } from './catalog/health/index.ts';
import { mergeModels } from './catalog/merge.ts';
import { dialects, loadDialects } from './dialects/index.ts';
import { defaultFetchUrl } from './fetching/fetch-url.ts';
import { guardrails, loadScreening } from './guardrails/index.ts';
import type { HandleContext } from './http/context.ts';
import { createCors } from './http/cors.ts';
import { siteCheck } from './http/cross-site.ts';
import { createEdge } from './http/edge.ts';
import { type HostCaller, namedCaller } from './http/host-caller.ts';
import { leavingOf, requestOf } from './http/request-of.ts';
import { lateSockets } from './http/socket/late.ts';
import type { SocketUpgrade } from './http/socket/sockets.ts';
import type { AuditDeps } from './operations/audit/write-ahead.ts';
import { presentationOf } from './operations/compat.ts';
import { type GatewayOptions, OptionsError, resolveOptions } from './options.ts';
import { createMissingCounts } from './pipeline/attempt/counts/missing-counts.ts';
import { createHedging } from './pipeline/attempt/patience.ts';
import { createRefusedThoughts } from './pipeline/attempt/thoughts/bound-thoughts.ts';
import { createThoughtFields } from './pipeline/attempt/thoughts/thought-fields.ts';
import type { PipelineDeps } from './pipeline/deps.ts';
import { createKeptSockets } from './pipeline/sockets/kept-sockets.ts';
import { createOutputEstimates } from './pricing/output-estimates.ts';
import { builtInProviders, builtInSlugs } from './providers/index.ts';
import type { Provider } from './providers/provider.ts';
import { wholeSandbox } from './providers/sandbox/index.ts';
import type { Explanation } from './schema/chat/explanation.ts';
import { type Audio, createAudio } from './setup/asking/audio.ts';
import { type ClientOptions, clientOptions } from './setup/asking/client-options.ts';
import { type Completions, createCompletions } from './setup/asking/completions.ts';
import { createImagesFunctions, type Images } from './setup/asking/images.ts';
import { type GatewayLanguageModel, type LanguageModelSettings, languageModel } from './setup/asking/language-model.ts';
import { auditedHost } from './setup/audited-host.ts';
import { authentication } from './setup/authentication.ts';
import { configureCatalog } from './setup/catalog.ts';
import { credentialOpener, keyReader } from './setup/credentials.ts';
import { createExplainer, type Explain } from './setup/explainer.ts';
import { allOperations, allPlugins, allServerTools, pluginVariantsOf, searchEnginesOf } from './setup/extensions.ts';
import { healthChecksOf } from './setup/health-checks.ts';
import { type HostApiKeys, withHostApiKeys } from './setup/host-api-keys.ts';
import { imposing } from './setup/imposed.ts';
import { createInProcess, type InProcessApi, mergeApi, operator } from './setup/in-process.ts';
import { keyRingsOf, operatorKeys } from './setup/keys/operator-keys.ts';
import { configureLater } from './setup/models.ts';
import { checkSockets, networkOf } from './setup/network.ts';
import { lateOperations } from './setup/operations/late.ts';
import { missingKeys } from './setup/options/missing-keys.ts';
import { rateDeps } from './setup/options/rate-limits.ts';
import { trustedOrigins } from './setup/options/trusted-origins.ts';
import { type Configured, configureProviders, environment, SettingsError } from './setup/providers.ts';
import { createReadiness, type Readiness } from './setup/readiness.ts';

import { asScripted, sandboxModels, scriptedTransports, withSandbox } from './setup/sandbox.ts';
import { type GatewayState, stateOf } from './setup/state.ts';
import { openConversations, openRecords, openResponses, openStores } from './setup/stores.ts';
import type { Rotation } from './stores/credentials/rotate.ts';
import { createSticky } from './stores/sticky.ts';
import { writeLog } from './stores/storage/logger.ts';
import { following } from './telemetry/follow.ts';
import { switchNotes } from './telemetry/idle-switches.ts';
import { completionLog, operationLog, recorderOf } from './telemetry/record.ts';
import { openExchanges } from './transport/send.ts';
import type { Transport } from './transport/transport.ts';

/** The part of a gateway that an adapter needs. */
export interface RequestHandler {
  /** Request in, Response out. Rejects with a GatewayError where an argument is wrong, and never otherwise. Bound. */
  handle(request: Request, context?: HandleContext): Promise<Response>;
  /** The path under which it expects requests unless told otherwise. Default `/v1`. */
  basePath?: string;
  /**
   * Answers a client that wants a WebSocket: with a session, or with the response that refuses it. Absent: there are no
   * WebSockets. Rejects as `handle` does. Bound.
   */
  upgrade?(request: Request, context?: HandleContext): Promise<SocketUpgrade>;
}

/** A gateway as one caller sees it. */
export interface CallerGateway
  extends Omit<InProcessApi, 'responses' | 'images'>,
    Omit<Completions, 'responses'>,
    Images {
  /** Speech, transcripts, translations. */
  readonly audio: Audio;
  /** Responses: asked for, and kept. */
  readonly responses: Completions['responses'] & InProcessApi['responses'];
  /** As `gateway.fetch`, in the name of the caller. */
  fetch: Gateway['fetch'];
  /** As `gateway.languageModel`, in the name of the caller. */
  languageModel(slug: string, settings?: LanguageModelSettings): GatewayLanguageModel;
  /** As `gateway.clientOptions`, in the name of the caller. */
  clientOptions(): ClientOptions;
  /** As `gateway.explain`, for the workspace and the permissions of the caller. */
  explain(body: unknown): Promise<Explanation>;
}

/** The functions of `InProcessApi` act for the operator: in every workspace, with every permission. */
export interface Gateway
  extends RequestHandler,
    Omit<Completions, 'responses'>,
    Images,
    Omit<InProcessApi, 'apiKeys' | 'credentials' | 'responses' | 'images'> {
  /** Speech, transcripts, translations. */
  readonly audio: Audio;
  /** Responses: asked for, and kept. */
  readonly responses: CallerGateway['responses'];
  /**
   * As `handle`. Takes what `fetch` takes, so that it can be handed to a client as its `fetch`, and like it rejects
   * with the reason of the signal, and breaks the body with it, once that is aborted. Bound.
   * @throws GatewayError invalid_request (400) where no request can be made of its arguments
   */
  fetch(input: Request | URL | string, init?: RequestInit): Promise<Response>;
  /** The path under which requests arrive. */
  basePath: string;
  /** Answers a client that wants a WebSocket. Bound. */
  upgrade(request: Request, context?: HandleContext): Promise<SocketUpgrade>;
  /**
   * The gateway as one caller sees it, without a key: for requests that the host app makes itself. Its `fetch` is
   * that of the gateway, its functions are those of the gateway with the permissions of the caller checked.
   * @throws GatewayError invalid_request (400) naming what is wrong with the caller
   */
  as(caller: HostCaller): CallerGateway;
  /**
   * The options of a client in this process, which acts for the operator without a key: `new OpenAI(gateway.clientOptions())`.
   * A client for one of your users takes `gateway.as(caller).clientOptions()`.
   */
  clientOptions(): ClientOptions;
  /**
   * A model as a language model of the AI SDK (`ai` 7), which acts for the operator without a key:
   * `generateText({ model: gateway.languageModel('acme/fast'), prompt })`.
   * @param settings  fields of each request, such as `models` or `session_id`
   * @throws GatewayError invalid_request (400)
   * @see docs/ai-sdk.md
   */
  languageModel(slug: string, settings?: LanguageModelSettings): GatewayLanguageModel;
  /** Keys callers authenticate with, in the store. */
  apiKeys: HostApiKeys;
  /** The provider credentials that workspaces bring. */
  credentials: InProcessApi['credentials'] & {
    /**
     * Seals all of them with the current master key, after it was changed. Requests go on meanwhile; may be called
     * again if it was interrupted.
     * @param workspaces  ids of those that only `authenticate` names, for which nobody made a record here
     * @returns how many there are, how many were sealed anew, and the ids of those that no key opens
     * @throws GatewayError unavailable (503) when there is no master key, or the store is out of reach;
     *   invalid_request (400) for what is no id of a workspace
     */
    rotate(workspaces?: readonly string[]): Promise<Rotation>;
  };
  /** The models there are. */
  catalog: {
    /**
     * Reads the document of the option `catalog.source` now, rather than when it is due.
     * @returns how many of its models are served here; 0 without a document
     * @throws CatalogError naming what is wrong with it; the last good copy then stays
     */
    refresh(): Promise<{ models: number }>;
  };
  /**
   * Tells how a chat request would be routed and paid for now: no provider is asked, nothing is held.
   * @param body  as of POST /chat/completions; text or an object
   * @throws GatewayError as the request itself would be refused, where no route could be planned for it
   */
  explain: Explain;
  /**
   * Tells whether requests can be served now, for a probe: asks the store, within `storeTimeoutMs`. Also loads the parts of
   * the package that otherwise the first request that needs them waits for. Never rejects. Bound.
   */
  ready(): Promise<Readiness>;
  /** Counts what this instance has open now, for metrics. Asks no store. Bound. */
  state(): GatewayState;
  /**
   * Writes what waits to be written of requests that have ended: bookings and records. For hosts that stop a process
   * between requests, such as workers and functions: nothing else has to call it. Never rejects. Bound.
   */
  flush(): Promise<void>;
  /** Ends open streams and upstream connections, and books what is still to be booked. */
  close(): Promise<void>;
}

/**
 * Puts a gateway together. Nothing is opened until the first request, unless a provider has a `healthCheck`.
 * @throws OptionsError naming every mistaken option and what was expected
 */
export function createGateway(options: GatewayOptions): Gateway {
  const resolved = resolveOptions(options);
  const { random = Math.random, ids = randomIds, brand, limits, logger } = resolved;
  const clock = clockOf(resolved.clock ?? systemClock);
  const configured = asOptions(() =>
    configureProviders(
      withSandbox(resolved.providers, resolved.sandbox),
      asScripted(builtInProviders, resolved.sandbox),
      dialects,
      environment(),
    ),
  );
  const knownSlugs = builtInSlugs();
  const network = asOptions(() => networkOf(resolved, environment()));
  asOptions(() =>
    checkSockets(
      [...configured.values()].map(({ provider }) => provider),
      resolved,
    ),
  );
  const inProcess = new Map<string, Transport>();
  for (const { provider, isConfigured } of configured.values()) {
    if (isConfigured && provider.createTransport)
      inProcess.set(provider.slug, provider.createTransport({ clock, random }));
  }
  const scripted = asOptions(() => scriptedTransports(resolved.sandbox, clock, logger));
  const operatorsOwn = (slug: string) => {
    const found = configured.get(slug);
    return found?.isConfigured ? found.provider : null;
  };
  const ownModels = asOptions(() =>
    configureLater(resolved.models, operatorsOwn, () => Object.keys(resolved.providers)),
  );
  for (const { message, ...missing } of logger ? missingKeys(configured.values(), ownModels) : [])
    writeLog(logger, 'warn', missing, message);
  for (const { corrections } of logger ? configured.values() : [])
    for (const { option, message } of corrections)
      writeLog(logger, 'warn', { option }, `createGateway: ${option}: ${message}`);
  const catalog = asOptions(() =>
    configureCatalog({
      settings: resolved.catalog,
      aliases: resolved.aliases,
      models: [...mergeModels([ownModels, operatorsOwn('sandbox') ? sandboxModels : []]).values()],
      providers: configured,
      builtInProviders: knownSlugs,
      transport: network,
      headerBytes: limits.upstreamHeaderBytes,
      clock,
      logger: logger ?? null,
    }),
  );
  const randomBytes = resolved.randomBytes ?? systemRandomBytes;
  const readKey = keyReader((slug) => configured.get(slug)?.provider.credentialShape);
  const takesByok = (slug: string) => configured.get(slug)?.takesByok === true;
  const stores = asOptions(() => openStores({ ...resolved, clock, random, ids, randomBytes, readKey, takesByok }));
  const instance = instanceNames(randomBytes);
  const records = openRecords(stores, resolved, clock, instance);
  const responses = openResponses(stores, resolved, clock);
  const conversations = openConversations(stores, resolved, clock);
  const health = createHealth({
    clock,
    cooldown: resolved.health,
    sharing: stores.healthRecords && {
      records: stores.healthRecords,
      instance,
      logger: logger ?? null,
    },
  });
  const rates = rateDeps(resolved.rateLimits, stores.rateLimiter);
  const plugins = asOptions(() => allPlugins(resolved.plugins));
  const keys = operatorKeys((slug) => configured.get(slug) as Configured);
  const transportOf = (provider: Provider) => scripted?.(provider) ?? inProcess.get(provider.slug) ?? network();
  const checks = healthChecksOf(configured.values(), {
    clock,
    random,
    keys,
    transportOf,
    headerBytes: limits.upstreamHeaderBytes,
    logger: logger ?? null,
  });
  const keptSockets = createKeptSockets({
    clock,
    settings: resolved.webSockets.upstream,
    frameBytes: limits.upstreamEventBytes,
    reportRefused: (provider, reason) =>
      writeLog(logger, 'warn', { provider, reason }, 'The provider opens no WebSocket: its responses come by HTTP'),
  });
  const pipeline: PipelineDeps = {
    clock,
    random,
    catalog,
    provider: (slug) => configured.get(slug)?.provider ?? null,
    health,
    sticky: createSticky({ clock, ...resolved.sticky }),
    refusedThoughts: createRefusedThoughts(clock, resolved.thoughtBindings),
    missingCounts: createMissingCounts(clock),
    thoughtFields: createThoughtFields(),
    countsAtProviders: resolved.tokenCounts.atProviders,
    hedging: resolved.hedge.enabled ? createHedging(health, resolved.hedge) : null,
    difficulty: resolved.difficulty,
    routers: resolved.routers,
    brand,
    isConfigured: (slug) => configured.get(slug)?.isConfigured === true,
    isSandbox: (slug) => configured.get(slug)?.provider.isSandbox === true,
    hasOnlySandboxes: [...configured.values()].every((one) => !one.isConfigured || one.provider.isSandbox === true),
    builtInProviders: knownSlugs,
    defaultsOf: stores.defaultsOf,
    usableProviders: new Set(
      [...configured.values()].filter(({ isUsable }) => isUsable).map(({ provider }) => provider.slug),
    ),
    byokCredentials: (workspaceId) => stores.credentials(workspaceId).usable(),
    ...imposing(stores.budgets, { maxSteps: limits.expressionSteps, maxWorkMs: resolved.timeouts.guardrailMs }),
    spending: stores.spending,
    budgetWatch: stores.budgetWatch,
    budgets: resolved.budgets,
    outputEstimates: resolved.budgets.estimate === 'p99' ? createOutputEstimates() : null,
    rates,
    openCredential: credentialOpener(keys.open, stores.credentials, takesByok),
    keyRings: keyRingsOf(configured.values()),
    isDown: checks?.isDown,
    renewKey: (ref, refused, signal) => ref.kind === 'operator' && keys.renew(ref, refused, signal),
    reportAuthFailure: (provider, reason) =>
      writeLog(logger, 'warn', { provider, reason }, 'The auth of a provider failed'),
    reportRefusedKey: (refused) => writeLog(logger, 'warn', refused, 'provider refused the key'),
    reportPluginFailure: ({ id, isGuardrail }, hook, error) =>
      isGuardrail
        ? tell(() => logger?.error({ guardrail: id, hook, error }, 'A guardrail failed: unchecked content passed'))
        : writeLog(logger, 'warn', { plugin: id, hook, error }, 'A plugin failed and was skipped'),
    reportUnexpected: (error) =>
      tell(() => logger?.error({ error: causeOf(error), ...error.metadata }, 'unexpected error')),
    exchanges: openExchanges(),
    transportOf,
    sockets: keptSockets,
    limits: {
      bodyBytes: limits.upstreamBodyBytes,
      streamBytes: limits.upstreamStreamBytes,
      eventBytes: limits.upstreamEventBytes,
      errorBytes: limits.upstreamErrorBytes,
      headerBytes: limits.upstreamHeaderBytes,
      depth: limits.depth,
    },
    timeouts: resolved.timeouts,
    retry: resolved.retry,
    keepAlive: resolved.keepAlive,
    region: resolved.region,
    defaultModel: resolved.defaultModel ?? null,
    record: recorderOf(resolved.onRecord, logger && completionLog(logger), records?.write),
    follow: following(resolved.onRecord?.begin),
    keepContent: records?.keepContent,
    streams: resolved.streams,
    plugins,
    pluginVariants: pluginVariantsOf(plugins),
    shortener: plugins.find(({ shortener }) => shortener !== undefined)?.shortener ?? null,
    citationCharacters: limits.citationCharacters,
    serverTools: asOptions(() =>
      allServerTools(resolved.serverTools, resolved.searchEngines.length > 0, limits.pageWork),
    ),
    fetchUrl: resolved.fetchUrl ?? defaultFetchUrl(resolved.fetching, clock),
    searchEngines: asOptions(() => searchEnginesOf(resolved.searchEngines)),
    guardrails: [...guardrails, ...resolved.guardrails],
  };
  for (const guardrail of pipeline.guardrails) tell(() => guardrail.load?.());
  const audit = {
    auditLog: stores.auditLog,
    clock,
    onAudit: recorderOf(resolved.onAudit),
    auditFailed: (error: unknown, id: string) =>
      writeLog(logger, 'warn', { error, id }, 'An entry of the audit log stays incomplete'),
  } satisfies AuditDeps;
  const { operations: ofInterface, load: loadOperations } = lateOperations({
    ids,
    brand,
    bounds: limits,
    presentation: presentationOf(resolved.compat),
    ...stores,
    records,
    responses,
    conversations,
    notKept: (error, id) => writeLog(logger, 'warn', { error, id }, 'A response could not be kept'),
    notAdded: (error, id, conversation) =>
      writeLog(logger, 'warn', { error, id, conversation }, 'A response could not be added to its conversation'),
    noteSwitches: switchNotes(resolved),
    byokProviders: new Map([...configured].filter(([, { provider }]) => provider.isSandbox !== true)),
    pipeline,
    ...audit,
  });
  const requestLimits = { bytes: limits.bodyBytes, depth: limits.depth, values: limits.jsonValues };
  const edge = createEdge({
    operations: asOptions(() => allOperations(ofInterface, resolved.operations)),
    authenticate: authentication(resolved, stores, clock),
    clock,
    limits: requestLimits,
    inflater,
    overload: resolved.overload,
    totalMs: resolved.timeouts.totalMs,
    brand,
    basePath: resolved.basePath,
    checkSite: siteCheck(trustedOrigins(resolved, logger ?? null)),
    cors: resolved.cors ? createCors(resolved.cors, brand, logger ?? null) : null,
    logger: logger ?? null,
    record: recorderOf(resolved.onOperation, logger && operationLog(logger)),
  });
  const sockets = lateSockets({
    admit: edge.admit,
    handle: edge.handleOver,
    ended: keptSockets.end,
    brand,
    isWhole: presentationOf(resolved.compat).wholeResponses,
    settings: resolved.webSockets,
    limits: requestLimits,
    clock,
    ids,
    keepsResponses: responses !== null,
  });
  const readiness = createReadiness(stores, catalog);
  const sandbox = operatorsOwn('sandbox') ? wholeSandbox : () => null;
  const loadRest = () => Promise.all([loadOperations(), sockets.load(), loadDialects(), sandbox(), loadScreening()]);
  const fetchBy =
    (caller?: Caller): Gateway['fetch'] =>
    async (input, init) => {
      const request = requestOf(input, init);
      const response = await edge.handleFrom(leavingOf(input, init), request, caller);
      if (!request.signal.aborted) return response;
      // Nobody will read it.
      await response.body?.cancel().catch(() => undefined);
      throw request.signal.reason;
    };
  const apiFor = createInProcess(ofInterface, edge.call);
  const { explain, explainAs } = createExplainer(ofInterface, edge.call);
  const { completions, askChat } = createCompletions(ofInterface, edge.ask, brand);
  const imagesOf = createImagesFunctions(ofInterface, edge.ask);
  const membersOf = (caller: Caller, ofCaller: InProcessApi) => {
    const fetch = fetchBy(caller);
    const { chat, completions: texts, responses: asking } = completions(caller);
    const responses = lazily(() => ({ ...ofCaller.responses, ...asking }));
    const audio = lazily(() => createAudio(ofInterface, edge.ask, caller));
    return mergeApi(ofCaller, {
      chat,
      completions: texts,
      get responses() {
        return responses();
      },
      get audio() {
        return audio();
      },
      images: imagesOf(caller),
      clientOptions: () => clientOptions(resolved.basePath, fetch),
      languageModel: (slug: string, settings?: LanguageModelSettings) =>
        languageModel(askChat(caller), brand, slug, settings),
    });
  };
  const api = apiFor(operator);
  const { rotateCredentials, hostApiKeys } = stores;
  const own = auditedHost(audit, () => api, { apiKeys: hostApiKeys, rotateCredentials });
  const apiKeys = lazily(() => withHostApiKeys(api.apiKeys, own.apiKeys));
  const credentials = lazily(() => ({ ...api.credentials, rotate: own.rotateCredentials }));
  checks?.start();
  return mergeApi(membersOf(operator, api), {
    fetch: fetchBy(),
    as(given: HostCaller) {
      const caller = namedCaller(given, '');
      return mergeApi(membersOf(caller, apiFor(caller)), {
        fetch: fetchBy(caller),
        explain: (body: unknown) => explainAs(body, caller),
      });
    },
    handle: edge.handle,
    upgrade: sockets.upgrade,
    basePath: resolved.basePath,
    get apiKeys() {
      return apiKeys();
    },
    get credentials() {
      return credentials();
    },
    catalog: { refresh: catalog.refresh },
    explain,
    async ready() {
      // A failure shows in the request that needs what is missing.
      const [found] = await Promise.all([readiness.look(), loadRest().catch(() => undefined)]);
      return found;
    },
    state: stateOf(edge, stores.spending, health, records, checks, clock),
    async flush() {
      // The end of a response is read before the gateway has noted it.
      await nextTurn();
      await stores.spending.sendAll();
      await records?.flush();
    },
    async close() {
      readiness.close();
      checks?.close();
      catalog.close();
      sockets.close();
      edge.close();
      responses?.close();
      conversations?.close();
      await Promise.all([health.close(), records?.close()]);
      await stores.close();
      if (network.isMade() && !resolved.transport) await network().close?.();
    },
  });
}

/** A mistake that only shows when things are put together is a mistake in the options like any other. */
function asOptions<T>(configure: () => T): T {
  try {
    return configure();
  } catch (error) {
    if (error instanceof SettingsError) throw new OptionsError([{ path: error.path, message: error.message }]);
    throw error;
  }
}
