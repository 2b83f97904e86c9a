import type { PluginHooks } from '../call/hooks.ts';
import type { Shortener } from '../call/shortener.ts';
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
   * What becomes of the call where a hook throws something that is no GatewayError, or takes longer than
   * `timeouts.pluginMs`. `fail`: it fails, with 500 or 504. `skip`: it goes on as if the hook were not there, where that
   * is possible. Default `fail`.
   */
  onError?: 'fail' | 'skip';
  /** Makes prompts fit the context of an endpoint. Of several plugins that have one, the first is asked. */
  shortener?: Shortener;
}

/** Keeps the types of a plugin's options together. */
export function definePlugin<Options = Record<string, unknown>>(plugin: Plugin<Options>): Plugin {
  return plugin as Plugin;
}
