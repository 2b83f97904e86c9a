import type { Plugin } from './plugin.ts';

/** Settings for `service/auto`, which acts on them; asks for nothing by itself. @see docs/routing.md */
export const autoRouter: Plugin = { id: 'auto-router' };
