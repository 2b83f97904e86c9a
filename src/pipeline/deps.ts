import type { StopSignal } from '../base/async/stop.ts';
import type { Clock } from '../base/clock.ts';
import type { GatewayError } from '../base/errors.ts';
import type { Caller } from '../call/call.ts';
import type { ByokCredential } from '../call/facts.ts';
import type { FetchUrl } from '../call/fetch-url.ts';
import type { Endpoint } from '../call/model.ts';
import type { CredentialRef } from '../call/plan.ts';
import type { SearchEngine } from '../call/search.ts';
import type { Shortener } from '../call/shortener.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Health } from '../catalog/health/index.ts';
import type { Guardrail } from '../guardrails/guardrail.ts';
import type { Imposed } from '../guardrails/stored.ts';
import type { Plugin } from '../plugins/plugin.ts';
import type { OutputEstimates } from '../pricing/output-estimates.ts';
import type { Credential, Provider } from '../providers/provider.ts';
import type { KeyRings } from '../routing/key-ring.ts';
import type { PluginVariants } from '../routing/variant.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';
import type { RouterSettings } from '../schema/settings/router.ts';
import type {
  BudgetSettings,
  KeepAliveSettings,
  RetrySettings,
  StreamSettings,
  UpstreamLimitSettings,
} from '../schema/settings/settings.ts';
import type { TimeoutSettings } from '../schema/settings/timeouts.ts';
import type { ServerTool } from '../server-tools/server-tool.ts';
import type { BudgetWatch } from '../stores/budget-events/watch.ts';
import type { BudgetLimit, Spending } from '../stores/spending/spending.ts';
import type { Sticky } from '../stores/sticky.ts';
import type { BegunCall, CallContent, Recorder, SafeFollower } from '../telemetry/follow.ts';
import type { RequestRecord } from '../telemetry/record.ts';
import type { OpenExchanges } from '../transport/send.ts';
import type { Transport } from '../transport/transport.ts';
import type { ReportAuthFailure } from './attempt/authenticate.ts';
import type { MissingCounts } from './attempt/counts/missing-counts.ts';
import type { Hedging } from './attempt/patience.ts';
import type { ReportRefusedKey } from './attempt/refused-key.ts';
import type { RefusedThoughts } from './attempt/thoughts/bound-thoughts.ts';
import type { ThoughtFields } from './attempt/thoughts/thought-fields.ts';
import type { RateDeps } from './call/admission.ts';
import type { ReportPluginFailure } from './call/hook-failure.ts';
import type { KeptSockets } from './sockets/kept-sockets.ts';

/** The settings of a workspace for requests that name nothing themselves. null: the workspace names nothing either. */
export interface WorkspaceDefaults {
  /** Slug of a model. */
  textModel: string | null;
  /** Slug of the model for requests whose `modalities` ask for images. */
  imageModel: string | null;
  /** The order of endpoints, in a word of `provider.sort`. */
  sort: string | null;
  /** true: the workspace may not use the operator's credentials. */
  isByokOnly: boolean;
  /** The calls whose prompts and responses are kept; null, or absent: none. */
  ioLogging?: IoLogging | null;
  /** The workspace's switch `is_data_discount_logging_enabled`; absent: not known. */
  dataDiscountLogging?: boolean;
  /** The workspace's switch `is_observability_broadcast_enabled`; absent: not known. */
  broadcast?: boolean;
}

/** The calls of a workspace whose prompts and responses are kept. */
export interface IoLogging {
  /** The share of the calls, above 0 and up to 1. */
  samplingRate: number;
  /** Integers of api keys; null: all keys. */
  apiKeyIds: readonly number[] | null;
}

/** The means to decide everything that is decided before a provider is called. */
export interface RoutingDeps {
  clock: Clock;
  /** A number from 0 up to, but not including, 1. */
  random: () => number;
  catalog: Catalog;
  health: Health;
  sticky: Sticky;
  /** A configured provider; null for any other. */
  provider: (slug: string) => Provider | null;
  /** The host app's own scorer for `service/auto`: 0, easy, to 1, hard. Absent: the gateway's own. */
  difficulty?: ((request: ChatRequest) => number | Promise<number>) | undefined;
  /** The behaviour of routers for requests that do not set it. */
  routers?: RouterSettings | undefined;
  /** Author of the router models, beside `service`. */
  brand: string;
  /** Suffixes of model slugs that ask for plugins. */
  pluginVariants: PluginVariants;
  /** true: the operator has set up the provider. */
  isConfigured: (providerSlug: string) => boolean;
  /** true: the provider is a sandbox, so no model writes its responses. */
  isSandbox: (providerSlug: string) => boolean;
  /** true: the operator has set up sandboxes alone. */
  hasOnlySandboxes: boolean;
  /** Slugs of the built-in providers, which preferences may name. */
  builtInProviders?: ReadonlySet<string> | undefined;
  /** Providers for which the operator has a credential, or that need none. */
  usableProviders: ReadonlySet<string>;
  /** The workspace's BYOK credentials, in the order they are used. @throws GatewayError unavailable (503) */
  byokCredentials: (workspaceId: WorkspaceId) => readonly ByokCredential[] | Promise<readonly ByokCredential[]>;
  /** @throws GatewayError unavailable (503) */
  defaultsOf: (workspaceId: WorkspaceId) => WorkspaceDefaults | Promise<WorkspaceDefaults>;
  /** The demands that guardrails of the store make on a caller; absent: none. @throws GatewayError unavailable (503) */
  imposedOn?: ((caller: Caller) => Imposed | Promise<Imposed>) | undefined;
  /** The model of requests that name no model; null: there is none. */
  defaultModel: string | null;
  /** Makes long prompts fit; null: no prompt is made shorter. */
  shortener: Shortener | null;
  /** The operator's keys at providers where there are several; absent: nowhere are. */
  keyRings?: KeyRings | undefined;
  /** Tells whether health checks have found an endpoint down; absent: none are made. */
  isDown?: ((endpoint: Endpoint) => boolean) | undefined;
}

/** The means to hold and book the money of a call. */
export interface MoneyDeps {
  /** Makes long prompts fit; null: no prompt is made shorter. */
  shortener: Shortener | null;
  /** A configured provider; null for any other. */
  provider: (slug: string) => Provider | null;
  spending: Spending;
  budgets: BudgetSettings;
  /** The usual output of requests, learned from earlier ones; null: the worst case is held. */
  outputEstimates: OutputEstimates | null;
  /** Learns of requests that a budget has refused; absent: nobody wants to know. */
  budgetWatch?: Pick<BudgetWatch, 'refused'> | null | undefined;
  /** The workspace's budgets, and those that guardrails give to the key. @throws GatewayError unavailable (503) */
  budgetsOf: (caller: Caller) => readonly BudgetLimit[] | Promise<readonly BudgetLimit[]>;
}

/** The means to make one attempt. */
export interface AttemptDeps {
  clock: Clock;
  /** A configured provider; null for any other. */
  provider: (slug: string) => Provider | null;
  /**
   * Makes a key of a reference. No other place does.
   * @param stop       aborted when nobody waits for the key any more
   * @param isRenewed  true: the key that `renewKey` has just found is taken
   * @throws UpstreamError operator (the next target is called) when a credential cannot be opened; the error of a
   *   function that returns the operator's key
   */
  openCredential: (
    ref: CredentialRef,
    stop: StopSignal & { readonly signal: AbortSignal },
    isRenewed?: boolean,
  ) => Credential | Promise<Credential>;
  /**
   * Asks for another key after the provider has refused one with a 401. @returns false: there is no other
   * @throws the error of the function that returns the key
   */
  renewKey: (ref: CredentialRef, refused: Credential, signal: AbortSignal) => boolean | Promise<boolean>;
  /** The operator's keys at providers where there are several; absent: nowhere are. */
  keyRings?: KeyRings | undefined;
  /** Credentials whose provider has refused a thought; absent: none is remembered. */
  refusedThoughts?: RefusedThoughts | undefined;
  /** The providers without a count of tokens; absent: none is remembered. */
  missingCounts?: MissingCounts | undefined;
  /** The fields in which providers have thoughts; absent: nothing is learnt. */
  thoughtFields?: ThoughtFields | undefined;
  transportOf: (provider: Provider) => Transport;
  /** WebSockets to providers, for clients that speak over one; absent: none are kept. */
  sockets?: KeptSockets | undefined;
  /** The exchanges of this gateway that are open. */
  exchanges: OpenExchanges;
  /** Learns why the `auth` of a provider failed. The client does not learn it. */
  reportAuthFailure?: ReportAuthFailure | undefined;
  /** Learns that a provider refused a key, or its bill. */
  reportRefusedKey?: ReportRefusedKey | undefined;
  limits: UpstreamLimitSettings;
  timeouts: TimeoutSettings;
}

/** The means to call targets one after the other, or two at once. */
export interface ExecuteDeps extends AttemptDeps {
  /** A number from 0 up to, but not including, 1. */
  random: () => number;
  health: Health;
  retry: RetrySettings;
  /** Decides about a second target beside a slow one; null: there is never a second one. */
  hedging: Hedging | null;
}

/** The means to make one generation. */
export interface GenerateDeps extends RoutingDeps, MoneyDeps, ExecuteDeps {}

/** The means to deliver a response to the client and to record the call. */
export interface DeliverDeps {
  clock: Clock;
  streams: StreamSettings;
  keepAlive: KeepAliveSettings;
  /** The region that routing metadata shows; null: none. */
  region: string | null;
  /** Takes the record of a call; null: nobody wants it. */
  record: Recorder | null;
  /** Asks who follows a call while it runs; absent or null: nobody ever does. */
  follow?: ((begun: BegunCall) => SafeFollower | null) | null | undefined;
  /** Keeps the texts of a call beside its record, which is told next; absent: none are kept. */
  keepContent?: ((record: RequestRecord, content: CallContent) => void) | undefined;
}

/**
 * Everything that the pipeline is given. Nothing in it belongs to one request. A stage takes the part that it needs.
 */
export interface PipelineDeps extends GenerateDeps, DeliverDeps {
  /** true: providers are asked for their own counts of tokens. */
  countsAtProviders: boolean;
  /** Learns why a plugin was left out. The client learns only that it was left out. */
  reportPluginFailure?: ReportPluginFailure | undefined;
  /** Learns of an error of ours, or of a plugin, that ended a stream which had begun: the client learns only that. */
  reportUnexpected?: ((error: GatewayError) => void) | undefined;
  rates: RateDeps;
  /** The built-in plugins, and those of the host app. */
  plugins: readonly Plugin[];
  /** The built-in server tools, and those of the host app. */
  serverTools: readonly ServerTool[];
  /** Fetches URLs that requests and models name. */
  fetchUrl: FetchUrl;
  /** The first is the usual one. */
  searchEngines: readonly SearchEngine[];
  /** The most characters of all citations of a choice. */
  citationCharacters: number;
  /** The built-in guardrails, and those of the host app. */
  guardrails: readonly Guardrail[];
}
