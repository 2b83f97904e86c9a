import type { Plugin } from './plugin.ts';

/**
 * Every plugin that is built in.
 * - `auto-router` has no hooks: its settings are read by the router `service/auto`, in routing/routers.ts.
 */
export const plugins: readonly Plugin[] = [{ id: 'auto-router' }];
