import type { pluginIds } from '../schema/plugins.ts';

/** A step the request may ask for by id. The ids are the contract's. */
export interface Plugin {
  id: (typeof pluginIds)[number];
}
