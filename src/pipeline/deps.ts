import type { Clock } from '../base/clock.ts';
import type { Caller } from '../call/call.ts';
import type { ByokCredential } from '../call/facts.ts';
import type { FetchUrl } from '../call/fetch-url.ts';
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
import type { RefusedThoughts } from './attempt/bound-thoughts.ts';
import type { ThoughtFields } from './attempt/thought-fields.ts';
import type { Hedging } from './attempt/patience.ts';
import type { RateDeps } from './call/admission.ts';
import type { ReportPluginFailure } from './call/hook-failure.ts';

/** What a workspace uses where a request names nothing. null: it names nothing either. */
export interface WorkspaceDefaults {
  /** Slug of a model. */
  textModel: string | null;
  /** Slug of the model for requests whose `modalities` ask for images. */
  imageModel: string | null;
  /** How endpoints are sorted. */
  sort: string | null;
  /** true: the operator's credentials are not for it. */
  isByokOnly: boolean;
  /** Whose prompts and responses are kept; null, or absent: nobody's. */
  ioLogging?: IoLogging | null;
  /** The workspace's switch `is_data_discount_logging_enabled`; absent: not known. */
  dataDiscountLogging?: boolean;
  /** The workspace's switch `is_observability_broadcast_enabled`; absent: not known. */
  broadcast?: boolean;
}

/** Which calls of a workspace have their prompts and responses kept. */
export interface IoLogging {
  /** The share of the calls, above 0 and up to 1. */
  samplingRate: number;
  /** Integers of api keys; null: all keys. */
  apiKeyIds: readonly number[] | null;
}

/** For what is decided before a provider is called. */
export interface RoutingDeps {
  clock: Clock;
  /** In [0, 1). */
  random: () => number;
  catalog: Catalog;
  health: Health;
  sticky: Sticky;
  /** A configured provider; null for any other. */
  provider: (slug: string) => Provider | null;
  /** The host app's own scorer for `service/auto`: 0, easy, to 1, hard. Absent: the gateway's own. */
  difficulty?: ((request: ChatRequest) => number | Promise<number>) | undefined;
  /** What routers do where the request does not say. */
  routers?: RouterSettings | undefined;
  /** Author of the router models, beside `service`. */
  brand: string;
  /** Suffixes of model slugs that ask for plugins. */
  pluginVariants: PluginVariants;
  /** Whether the operator has set a provider up. */
  isConfigured: (providerSlug: string) => boolean;
  /** Whether no model writes the responses of a provider. */
  isSandbox: (providerSlug: string) => boolean;
  /** The operator has set up no provider but sandboxes. */
  hasOnlySandboxes: boolean;
  /** Slugs of the built-in providers, which preferences may name. */
  builtInProviders?: ReadonlySet<string> | undefined;
  /** Providers for which the operator has a credential, or that need none. */
  usableProviders: ReadonlySet<string>;
  /** The workspace's BYOK credentials, in the order they are used. @throws GatewayError unavailable (503) */
  byokCredentials: (workspaceId: WorkspaceId) => readonly ByokCredential[] | Promise<readonly ByokCredential[]>;
  /** @throws GatewayError unavailable (503) */
  defaultsOf: (workspaceId: WorkspaceId) => WorkspaceDefaults | Promise<WorkspaceDefaults>;
  /** What guardrails of the store impose on a caller; absent: nothing. @throws GatewayError unavailable (503) */
  imposedOn?: ((caller: Caller) => Imposed | Promise<Imposed>) | undefined;
  /** For requests that name no model; null for none. */
  defaultModel: string | null;
  /** Makes prompts fit; null: none does. */
  shortener: Shortener | null;
}

/** For the money of a call. */
export interface MoneyDeps {
  /** Makes prompts fit; null: none does. */
  shortener: Shortener | null;
  /** A configured provider; null for any other. */
  provider: (slug: string) => Provider | null;
  spending: Spending;
  budgets: BudgetSettings;
  /** What requests have cost before; null: the worst case is held. */
  outputEstimates: OutputEstimates | null;
  /** Is told of requests that a budget has refused; absent: nobody wants to know. */
  budgetWatch?: Pick<BudgetWatch, 'refused'> | null | undefined;
  /** The workspace's budgets, and those that guardrails give to the key. @throws GatewayError unavailable (503) */
  budgetsOf: (caller: Caller) => readonly BudgetLimit[] | Promise<readonly BudgetLimit[]>;
}

/** For one attempt. */
export interface AttemptDeps {
  clock: Clock;
  /** A configured provider; null for any other. */
  provider: (slug: string) => Provider | null;
  /**
   * The one place where a reference becomes a key.
   * @throws UpstreamError operator (the next target is called) when a credential cannot be opened
   */
  openCredential: (ref: CredentialRef) => Credential | Promise<Credential>;
  /** Credentials whose provider has refused a thought; absent: none is remembered. */
  refusedThoughts?: RefusedThoughts | undefined;
  /** Where providers have thoughts; absent: nothing is learnt. */
  thoughtFields?: ThoughtFields | undefined;
  transportOf: (provider: Provider) => Transport;
  /** Those of this gateway. */
  exchanges: OpenExchanges;
  /** Is told why the `auth` of a provider failed; the client is not. */
  reportAuthFailure?: ReportAuthFailure | undefined;
  limits: UpstreamLimitSettings;
  timeouts: TimeoutSettings;
}

/** For calling targets one after the other, or beside each other. */
export interface ExecuteDeps extends AttemptDeps {
  /** In [0, 1). */
  random: () => number;
  health: Health;
  retry: RetrySettings;
  /** null: no target is called beside another. */
  hedging: Hedging | null;
}

/** For one generation. */
export interface GenerateDeps extends RoutingDeps, MoneyDeps, ExecuteDeps {}

/** For the way of a response to the client, and the record of the call. */
export interface DeliverDeps {
  clock: Clock;
  streams: StreamSettings;
  keepAlive: KeepAliveSettings;
  /** Shown in routing metadata; null for none. */
  region: string | null;
  /** null: nobody wants to know. */
  record: Recorder | null;
  /** Asks who follows a call while it runs; absent or null: nobody ever does. */
  follow?: ((begun: BegunCall) => SafeFollower | null) | null | undefined;
  /** Keeps the texts of a call beside its record, which is told next; absent: none are kept. */
  keepContent?: ((record: RequestRecord, content: CallContent) => void) | undefined;
}

/** Everything the pipeline is given. Nothing in it belongs to one request. A stage takes the part that it needs. */
export interface PipelineDeps extends GenerateDeps, DeliverDeps {
  /** Is told why a plugin was left out; the client is told that it was. */
  reportPluginFailure?: ReportPluginFailure | undefined;
  rates: RateDeps;
  /** Built in, and the host app's own. */
  plugins: readonly Plugin[];
  /** Built in, and the host app's own. */
  serverTools: readonly ServerTool[];
  /** Fetches URLs that requests and models name. */
  fetchUrl: FetchUrl;
  /** The first is the usual one. */
  searchEngines: readonly SearchEngine[];
  /** Characters of all citations of a choice. */
  citationCharacters: number;
  /** Built in, and the host app's own. */
  guardrails: readonly Guardrail[];
}
