import type { Call } from '../../call/call.ts';
import { originOf, type ResponsesObject, withOrigin } from '../../call/responses-origin.ts';
import type { ChatRequest, ChatTool } from '../../schema/chat.ts';
import { isWebSearch } from '../../schema/web-search.ts';
import type { PipelineDeps } from '../deps.ts';
import { planNow } from '../plan-of.ts';

/** Whether a Responses request has a web search that the gateway could do for its provider. */
export function mayNeedSearch({ serverTools }: Pick<PipelineDeps, 'serverTools'>, request: ChatRequest): boolean {
  const hosted = originOf(request)?.hostedTools;
  return hosted?.some(isOpenSearch) === true && serverTools.some(({ name }) => name === 'web_search');
}

/**
 * Puts the gateway's own web search in the place of the provider's, where no provider of the plan speaks Responses: it
 * would be left out there.
 */
export async function withOwnSearch(deps: PipelineDeps, call: Call, request: ChatRequest): Promise<ChatRequest> {
  const origin = originOf(request);
  const search = origin?.hostedTools.find(isOpenSearch);
  if (!origin || search === undefined || !(await isForChatAlone())) return request;
  const left = origin.hostedTools.filter((tool) => tool !== search);
  const isLeft = left.some(({ type }) => type === search.type);
  const dropped = isLeft ? origin.dropped : origin.dropped.filter((path) => path !== `tools[].${search.type}`);
  const tools = [...(request.tools ?? []), search as unknown as ChatTool];
  return withOrigin({ ...request, tools }, { ...origin, hostedTools: left, dropped });

  async function isForChatAlone(): Promise<boolean> {
    try {
      const { targets } = await planNow(deps, call, request);
      return targets.every(({ endpoint }) => deps.provider(endpoint.providerSlug)?.dialect.speaksResponses !== true);
    } catch {
      // The generation will be refused for the same reason, in the same words.
      return false;
    }
  }
}

/** Some agents allow only what a provider has read before: the gateway has read nothing. */
function isOpenSearch(tool: ResponsesObject): boolean {
  return isWebSearch(tool.type) && (tool as { external_web_access?: unknown }).external_web_access !== false;
}
