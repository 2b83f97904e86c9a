import type { Ask } from '../../call/ask.ts';
import type { Call } from '../../call/call.ts';
import type { Native, NativeObject } from '../../call/native.ts';
import type { ChatTool } from '../../schema/chat/chat.ts';
import { isWebSearch } from '../../schema/chat/tool.ts';
import type { PipelineDeps } from '../deps.ts';
import { planNow } from '../plan/plan-of.ts';
import { usesOwnAlone } from './operator-services.ts';

/** true: a Responses request has a web search that the gateway could do for its provider. */
export function mayNeedSearch({ serverTools }: Pick<PipelineDeps, 'serverTools'>, { native }: Ask): boolean {
  return native?.hostedTools.some(isOpenSearch) === true && serverTools.some(({ name }) => name === 'web_search');
}

/**
 * Puts the gateway's own web search in the place of the provider's, where no provider of the plan speaks Responses: it
 * would be left out there.
 */
export async function withOwnSearch(deps: PipelineDeps, call: Call, ask: Ask): Promise<Ask> {
  const { native, request } = ask;
  const search = native?.hostedTools.find(isOpenSearch);
  if (native === null || search === undefined || !(await isForChatAlone(native))) return ask;
  // The search stays a tool that the provider may use, or is dropped and listed.
  if (await usesOwnAlone(deps, call)) return ask;
  const left = native.hostedTools.filter((tool) => tool !== search);
  const isLeft = left.some(({ type }) => type === search.type);
  const dropped = isLeft ? native.dropped : native.dropped.filter((path) => path !== `tools[].${search.type}`);
  const tools = [...(request.tools ?? []), search as unknown as ChatTool];
  const own = { ...native, tools: [...native.tools, null], hostedTools: left, dropped };
  return { ...ask, request: { ...request, tools }, native: own };

  async function isForChatAlone({ format }: Native): Promise<boolean> {
    try {
      const { targets } = await planNow(deps, call, ask);
      return targets.every(({ endpoint }) => deps.provider(endpoint.providerSlug)?.dialect.format !== format);
    } catch {
      // The generation will be refused for the same reason, in the same words.
      return false;
    }
  }
}

/**
 * true: a web search may read any page. Some agents allow only pages that a provider has read before, and the gateway
 * has read none.
 */
function isOpenSearch(tool: NativeObject): boolean {
  return isWebSearch(tool.type) && (tool as { external_web_access?: unknown }).external_web_access !== false;
}
