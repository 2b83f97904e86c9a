import { contextCompression } from './context-compression/index.ts';
import { fileParser } from './file-parser/index.ts';
import { fusion } from './fusion/index.ts';
import { moderation } from './moderation/index.ts';
import type { Plugin } from './plugin.ts';
import { responseHealing } from './response-healing/index.ts';
import { web } from './web.ts';
import { webFetch } from './web-fetch.ts';

/**
 * Every built-in plugin.
 * - `auto-router` has no hooks: its settings are read by the router `service/auto`, in routing/auto.ts.
 * - `pareto-router` has none either: its settings are read by `service/pareto-code`, in routing/pareto.ts.
 */
export const plugins: readonly Plugin[] = [
  { id: 'auto-router' },
  { id: 'pareto-router' },
  contextCompression(),
  fileParser(),
  fusion(),
  moderation(),
  responseHealing(),
  web(),
  webFetch(),
];
