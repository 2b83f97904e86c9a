import type { Facts } from '../call/facts.ts';
import type { Model } from '../call/model.ts';
import type { Plan } from '../call/plan.ts';
import type { CatalogView } from '../catalog/catalog.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';
import type { PipelineStage } from '../schema/chat/envelope.ts';
import type { RouterSettings } from '../schema/settings/router.ts';
import type { Needs } from './needs.ts';
import type { PluginVariants, Variant } from './variant.ts';

/** A model that may serve, with the effects of its slug's suffixes. */
export interface ChosenModel {
  model: Model;
  variants: readonly Variant[];
}

/** The models that a request's slugs stand for. */
export interface Expanded {
  /** In the order in which the models are called. */
  chosen: readonly ChosenModel[];
  /** How many of them the first slug stands for; the others are fallbacks. */
  ofFirstSlug: number;
  strategy: Plan['strategy'];
  /** What a router or an alias based its decision on; the metadata shows it. */
  params: Plan['params'];
  /** Fallbacks of the model that do not exist. */
  unknownFallbacks?: readonly string[];
  /** The slug of the router that chose. Sticky routing keeps its choice for the conversation. */
  router: string | null;
  /** What the routers chose and left out. */
  stages?: readonly PipelineStage[];
}

export interface ExpandInput {
  request: ChatRequest;
  /** true: only a provider that searches the web by itself may serve. */
  searchesNatively: boolean;
  view: CatalogView;
  facts: Facts;
  needs: Needs;
  /** A second author name of the router models, besides `service`. */
  brand: string;
  /** Suffixes that ask for plugins. */
  pluginVariants: PluginVariants;
  /** Whether the operator has set a provider up. */
  isConfigured: (providerSlug: string) => boolean;
  /** Whether no model writes the responses of a provider. */
  isSandbox: (providerSlug: string) => boolean;
  /** The operator has set up no provider but sandboxes. */
  hasOnlySandboxes: boolean;
  /** What routers do where the request does not say. */
  routers?: RouterSettings | undefined;
}
