import { datetime } from './datetime.ts';
import type { ServerTool } from './server-tool.ts';

/** Every server tool that is built in. */
export const serverTools: readonly ServerTool[] = [datetime];
