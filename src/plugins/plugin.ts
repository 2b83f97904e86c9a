import type { Caller } from '../call/call.ts';
import type { PluginHooks } from '../call/hooks.ts';
import type { Shortener } from '../call/shortener.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';
import type { RoutingStrategy } from '../schema/chat/envelope.ts';
import type { Schema } from '../schema/schema.ts';

/** Something a request may ask for by id. The ids of the interface, or one of the host app's own. */
export interface Plugin<Options = unknown> extends PluginHooks<Options> {
  /** The name that requests use; unique. */
  id: string;
  /** Checks the entry of `plugins` in the request. Default: any object. */
  options?: () => Schema<Options>;
  /** true: acts on every request that does not switch it off with `enabled: false`. Default: on those that name it. */
  isDefault?: boolean;
  /**
   * Whether the plugin acts on a request that does not name it, such as one for a certain model. It is asked once for
   * each client call, at once and before any hook; what it throws ends the call. No plugin acts on a request that
   * switches it off. Default: `isDefault` decides.
   */
  actsOn?(request: ChatRequest, asked: ActsOnContext): boolean;
  /**
   * For a plugin that chooses the models by itself: `strategy` in the metadata and the explanation of requests for
   * which `actsOn` returns true. `requested` then is the model of the request as it came.
   */
  strategy?: RoutingStrategy;
  /**
   * The suffix of model slugs that asks for the plugin: `online` for `author/model:online`. A plugin of the host app
   * may take that of a built-in one.
   */
  variant?: string;
  /**
   * What becomes of the call where a hook throws something that is no GatewayError, or takes longer than
   * `timeouts.pluginMs`. `fail`: it fails, with 500 or 504. `skip`: it goes on as if the hook were not there, where that
   * is possible. Default `fail`.
   */
  onError?: 'fail' | 'skip';
  /** true: what the plugin could not look at must not pass. `onError: 'skip'` is then refused. */
  failsClosed?: boolean;
  /** Makes prompts fit the context of an endpoint. Of several plugins that have one, the first is asked. */
  shortener?: Shortener;
}

/** What `actsOn` may look at beside the request. */
export interface ActsOnContext {
  /** Who asks. */
  readonly caller: Caller;
  /** Author of the gateway's own models, beside `service`, such as `acme` in `acme/fusion`. */
  readonly brand: string;
}

/** Keeps the types of a plugin's options together. */
export function definePlugin<Options = Record<string, unknown>>(plugin: Plugin<Options>): Plugin {
  return plugin as Plugin;
}
