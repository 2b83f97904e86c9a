import type { Clock } from '../base/clock.ts';
import type { ByokCredential } from '../call/facts.ts';
import type { CredentialRef } from '../call/plan.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Health } from '../catalog/health.ts';
import type { Credential, Provider } from '../providers/provider.ts';
import type {
  BudgetSettings,
  KeepAliveSettings,
  RetrySettings,
  TimeoutSettings,
  UpstreamLimitSettings,
} from '../schema/settings.ts';
import type { BudgetLimit, Spending } from '../stores/spending/spending.ts';
import type { Sticky } from '../stores/sticky.ts';
import type { Recorder } from '../telemetry/record.ts';
import type { Transport } from '../transport/transport.ts';
import type { Hedging } from './hedging.ts';

/** What a workspace wishes where a request does not say. null: nothing. */
export interface WorkspaceDefaults {
  /** Slug of a model. */
  textModel: string | null;
  /** How endpoints are sorted. */
  sort: string | null;
}

/** What the pipeline is given. Nothing in it belongs to one request. */
export interface PipelineDeps {
  clock: Clock;
  /** In [0, 1). */
  random: () => number;
  catalog: Catalog;
  /** A configured provider; null for any other. */
  provider: (slug: string) => Provider | null;
  health: Health;
  sticky: Sticky;
  /** null: no try is started beside another. */
  hedging: Hedging | null;
  /** Author of the router models, beside `service`. */
  brand: string;
  /** Whether the operator has set a provider up. */
  isConfigured: (providerSlug: string) => boolean;
  /** Providers for which the operator has a credential, or that need none. */
  usableProviders: ReadonlySet<string>;
  /** The workspace's own credentials, in the order they are tried. @throws GatewayError unavailable (503) */
  byokCredentials: (workspaceId: WorkspaceId) => readonly ByokCredential[] | Promise<readonly ByokCredential[]>;
  /** The workspace's budgets. @throws GatewayError unavailable (503) */
  budgetsOf: (workspaceId: WorkspaceId) => readonly BudgetLimit[] | Promise<readonly BudgetLimit[]>;
  /** @throws GatewayError unavailable (503) */
  defaultsOf: (workspaceId: WorkspaceId) => WorkspaceDefaults | Promise<WorkspaceDefaults>;
  spending: Spending;
  budgets: BudgetSettings;
  /**
   * The one place where a reference becomes a key.
   * @throws UpstreamError operator (the next try is taken) when a credential cannot be opened
   */
  openCredential: (ref: CredentialRef) => Credential | Promise<Credential>;
  transportOf: (provider: Provider) => Transport;
  limits: UpstreamLimitSettings;
  timeouts: TimeoutSettings;
  retry: RetrySettings;
  keepAlive: KeepAliveSettings;
  /** Shown in routing metadata; null for none. */
  region: string | null;
  /** For requests that name no model; null for none. */
  defaultModel: string | null;
  /** null: nobody wants to know. */
  record: Recorder | null;
}
