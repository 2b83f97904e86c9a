import { datetime } from './datetime.ts';
import type { ServerTool } from './server-tool.ts';
import { webFetch } from './web-fetch.ts';
import { webSearch } from './web-search.ts';

/** Every server tool that is built in. */
export const serverTools: readonly ServerTool[] = [datetime, webFetch, webSearch];
