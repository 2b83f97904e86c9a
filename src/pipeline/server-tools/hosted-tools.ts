import type { Ask } from '../../call/ask.ts';
import type { Call } from '../../call/call.ts';
import type { Native, NativeObject } from '../../call/native.ts';
import type { ChatTool } from '../../schema/chat/chat.ts';
import { isWebSearch } from '../../schema/chat/tool.ts';
import type { PipelineDeps } from '../deps.ts';
import { planNow } from '../plan/plan-of.ts';
import { usesOwnAlone } from './operator-services.ts';

/** A tool that providers run, and the gateway's own tool for the same. */
interface OwnTool {
  hosted: NativeObject;
  own: ChatTool;
}

/** true: the request has a tool of providers, such as a web search, that the gateway could run for its provider. */
export function mayNeedOwnTools({ serverTools }: Pick<PipelineDeps, 'serverTools'>, { native }: Ask): boolean {
  return native !== null && native.hostedTools.length > 0 && ownTools(native, serverTools).length > 0;
}

/**
 * Puts the gateway's own tools in the place of the provider's, where no provider of the plan speaks the wire format of
 * the request: they would be left out there.
 */
export async function withOwnTools(deps: PipelineDeps, call: Call, ask: Ask): Promise<Ask> {
  const { native, request } = ask;
  if (native === null) return ask;
  const found = ownTools(native, deps.serverTools);
  if (found.length === 0 || !(await isForChatAlone(native))) return ask;
  // The tools stay tools that the provider may use, or are dropped and listed.
  if (await usesOwnAlone(deps, call)) return ask;
  const left = native.hostedTools.filter((tool) => found.every(({ hosted }) => hosted !== tool));
  const served = found.map(({ hosted }) => hosted.type).filter((type) => left.every((tool) => tool.type !== type));
  const dropped = native.dropped.filter((path) => served.every((type) => path !== `tools[].${type}`));
  const tools = [...(request.tools ?? []), ...found.map(({ own }) => own)];
  const own = { ...native, tools: [...native.tools, ...found.map(() => null)], hostedTools: left, dropped };
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

/** The tools of a request that the gateway has as well: one of each kind. */
function ownTools({ hostedTools }: Native, serverTools: PipelineDeps['serverTools']): readonly OwnTool[] {
  const found = new Map<string, OwnTool>();
  for (const hosted of hostedTools) {
    const kind = isOpenSearch(hosted) ? 'web_search' : isFetch(hosted) ? 'web_fetch' : null;
    if (kind === null || found.has(kind) || serverTools.every(({ name }) => name !== kind)) continue;
    found.set(kind, { hosted, own: kind === 'web_search' ? searchTool(hosted) : fetchTool(hosted) });
  }
  return [...found.values()];
}

/**
 * true: a web search may read any page. Some agents allow only pages that a provider has read before, and the gateway
 * has read none.
 */
function isOpenSearch(tool: NativeObject): boolean {
  return isWebSearch(tool.type) && (tool as { external_web_access?: unknown }).external_web_access !== false;
}

/** true: the tool reads a page by its address, as Anthropic has it (`web_fetch_20250910`), or Google. */
function isFetch({ type }: NativeObject): boolean {
  return typeof type === 'string' && /^web_fetch(?:_\d+)?$/.test(type);
}

/** The settings of a search are fields of the tool. An object in it is a tool of Google's, as the caller wrote it. */
function searchTool({ googleSearch: _, ...own }: NativeObject): ChatTool {
  return own as unknown as ChatTool;
}

/** The settings that the gateway's tool has under the same names. */
const fetchSettings = ['max_uses', 'max_content_tokens', 'allowed_domains', 'blocked_domains'] as const;

function fetchTool(hosted: NativeObject): ChatTool {
  const parameters: Record<string, unknown> = {};
  for (const name of fetchSettings) if (hosted[name] !== undefined) parameters[name] = hosted[name];
  return { type: 'service:web_fetch', parameters };
}
