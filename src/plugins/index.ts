import type { Plugin } from './plugin.ts';

/** Every plugin that is built in. */
export const plugins: readonly Plugin[] = [];
