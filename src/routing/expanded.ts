import type { Facts } from '../call/facts.ts';
import type { Model } from '../call/model.ts';
import type { Plan } from '../call/plan.ts';
import type { CatalogView } from '../catalog/catalog.ts';
import type { PipelineStage } from '../schema/chat/envelope.ts';
import type { RouterSettings } from '../schema/settings/router.ts';
import type { Routed } from './routed.ts';
import type { PluginVariants, Variant } from './variant.ts';

/** A model that may serve, with the effects of its slug's suffixes. */
export interface ChosenModel {
  model: Model;
  variants: readonly Variant[];
}

/** The models that a request's slugs stand for. */
export interface Expanded {
  /** The models, in the order in which they are called. */
  chosen: readonly ChosenModel[];
  /** The number of models that the first slug stands for; the others are fallbacks. */
  ofFirstSlug: number;
  strategy: Plan['strategy'];
  /** The facts that a router or an alias based its decision on; the metadata shows them. */
  params: Plan['params'];
  /** Fallbacks of the model that do not exist. */
  unknownFallbacks?: readonly string[];
  /** The slug of the router that chose. Sticky routing keeps its choice for the conversation. */
  router: string | null;
  /** The stages of the routers, with the models that they chose and left out. */
  stages?: readonly PipelineStage[];
}

export interface ExpandInput {
  routed: Routed;
  view: CatalogView;
  facts: Facts;
  /** A second author name of the router models, besides `service`. */
  brand: string;
  /** Suffixes that ask for plugins. */
  pluginVariants: PluginVariants;
  /** Tells whether the operator has set a provider up. */
  isConfigured: (providerSlug: string) => boolean;
  /** Tells whether a provider is a sandbox, so that no model writes its responses. */
  isSandbox: (providerSlug: string) => boolean;
  /** true: the operator has set up sandboxes alone. */
  hasOnlySandboxes: boolean;
  /** The behaviour of routers for requests that do not set it. */
  routers?: RouterSettings | undefined;
}
