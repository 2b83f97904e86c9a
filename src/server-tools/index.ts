import { datetime } from './datetime.ts';
import type { ServerTool } from './server-tool.ts';
import { webFetchTool } from './web-fetch/index.ts';
import { webSearch } from './web-search.ts';

/** Every server tool that is built in. @param pageWork  the option `limits.pageWork` */
export function builtInTools(pageWork: number): readonly ServerTool[] {
  return [datetime, webFetchTool(pageWork), webSearch];
}
