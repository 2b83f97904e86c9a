import type { PipelineStage, RoutingStrategy } from '../schema/chat/envelope.ts';
import type { Endpoint } from './model.ts';
import type { WorkspaceId } from './workspace.ts';

/** Names a credential without holding it: a plan carries no keys. */
export type CredentialRef =
  /** The operator's own; `key` is the label of the key where the operator has several. */
  | { kind: 'operator'; provider: string; key?: string }
  /** A BYOK credential of the workspace. */
  | { kind: 'byok'; provider: string; workspaceId: WorkspaceId; id: string };

/** Returns a name of the credential that no other one has. */
export function credentialKey(credential: CredentialRef): string {
  if (credential.kind === 'byok') return `${credential.provider} ${credential.workspaceId} ${credential.id}`;
  return credential.key === undefined ? credential.provider : `${credential.provider}#${credential.key}`;
}

/** Returns the name of the owner of a credential: a workspace, or the operator. */
export function credentialOwner(credential: CredentialRef): string {
  return credential.kind === 'byok' ? credential.workspaceId : 'operator';
}

/** An endpoint that could serve, with the credential it would be called with. */
export interface Candidate {
  /** The endpoint that is called. */
  endpoint: Endpoint;
  /** Display name of the endpoint's provider. */
  providerName: string;
  /** The credential that is used. */
  credential: CredentialRef;
  /** true: the credential is a workspace's own. */
  isByok: boolean;
}

/** An endpoint that is not a candidate, with the reason. */
export interface Exclusion {
  /** Slug of the model. */
  model: string;
  /** Tag of the endpoint: provider, or provider/variant. */
  provider: string;
  /** The rule that removed it, such as `only`, `zdr` or `max_price`. */
  filter: string;
  /** The part that it needs to serve, with the expected form. */
  lacks?: string;
}

/**
 * A planned step: an endpoint and a credential to call it with. Becomes several attempts when transient failures are
 * retried.
 */
export interface Target extends Candidate {
  /** The workspace that it is planned for. */
  workspaceId: WorkspaceId;
  /**
   * The place of the model in the list the caller gave: after a refusal that is the caller's fault the next model is
   * tried.
   */
  modelIndex: number;
  /** The most this target can cost, integer nano-USD; absent where nothing is held for it. */
  ceilingNanoUsd?: number;
  /** The amount that is held, where it is less than the ceiling (`budgets.estimate`). Integer nano-USD. */
  holdNanoUsd?: number | undefined;
  /** The tokens the ceiling is made of. An estimate of usage never exceeds them. */
  mostTokens?: { promptTokens: number; completionTokens: number };
  /** The largest output to ask for, where the caller named none or more than the budget pays for. */
  maxTokens?: number;
  /** true: the model has to reason, though the request does not ask for it (`:thinking`). */
  reasons?: true;
  /** true: a prompt that is too long for its context is made shorter. */
  shortens?: true;
}

/** Everything that can be decided without I/O. Routing metadata and logs are this plan, printed. */
export interface Plan {
  /** Slug as sent. */
  requested: string;
  /** The strategy that ordered the targets. */
  strategy: RoutingStrategy;
  /** The targets in the order they are called. Empty where the call was refused before a target was found. */
  targets: readonly Target[];
  /** Endpoints that may not serve, with the reasons. */
  excluded: readonly Exclusion[];
  /** The facts behind the decision of a router or the preferences; shown in the metadata. */
  params?: Readonly<Record<string, unknown>> | undefined;
  /** The router model that chose, such as `service/auto`; null: the request named the models. */
  router: string | null;
  /** The stages of the routers, for `service_metadata.pipeline`; absent: no such router was asked. */
  stages?: readonly PipelineStage[];
}

/** The plan of a call without one. */
export const emptyPlan: Plan = { requested: '', strategy: 'direct', targets: [], excluded: [], router: null };
