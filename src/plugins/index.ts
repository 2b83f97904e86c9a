import { autoRouter } from './auto-router.ts';
import type { Plugin } from './plugin.ts';

/** Every plugin that is built in. */
export const plugins: readonly Plugin[] = [autoRouter];
