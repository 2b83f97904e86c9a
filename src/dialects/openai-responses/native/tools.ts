import { isSame } from '../../../base/same.ts';
import { isObject, type Loose, without } from '../../../base/values.ts';
import type { Native, NativeObject } from '../../../call/native.ts';
import type { ChatTool } from '../../../schema/chat/chat.ts';
import type { Dropped } from '../dropped.ts';
import { encodeToolChoice, encodeTools } from '../tools.ts';

/** The tools of a Responses request, in the form for a provider that speaks Responses. */
export interface NativeTools {
  /** Returns the tools of the request. */
  list(tools: readonly ChatTool[], isSent: (item: NativeObject) => boolean): Loose[];
  /** Returns tools as the caller wrote them, in the request or in an item. */
  allowed(tools: readonly unknown[], place: string): unknown[];
  /** Returns the choice of a tool; undefined: none is sent. */
  choice(asked: unknown, hasTools: boolean): unknown;
}

/** The tools that the client runs itself: they cost no more than their tokens. */
const ofClient: readonly unknown[] = ['function', 'custom', 'namespace', 'local_shell'];
/** Items that bring tools in: their tools are sent with them. */
const bringers: readonly unknown[] = ['additional_tools', 'tool_search_output'];

/**
 * @param isLimited  true: only the tokens of the request are paid for, so the provider's own tools, which cost more,
 *   are left out
 */
export function nativeTools(native: Native, isLimited: boolean, dropped: Dropped): NativeTools {
  const hasNoSearch = isLimited && native.hostedTools.some(({ type }) => type === 'tool_search');

  function isAllowed(tool: unknown): boolean {
    return !isLimited || (isObject(tool) && isOfClient(tool));
  }

  /**
   * Returns a tool without marks of the gateway's own, and without `defer_loading` where nothing can load a tool later.
   */
  function asSent(tool: unknown): unknown {
    if (!isObject(tool)) return tool;
    const taken = hasNoSearch ? ['cache_control', 'defer_loading'] : ['cache_control'];
    if (isObject(tool.cache_control)) dropped.note('tools[].cache_control');
    const members = tool.type === 'namespace' && Array.isArray(tool.tools) ? tool.tools.map(asSent) : null;
    const isSame = members === null && !taken.some((name) => name in tool);
    return isSame ? tool : { ...without(taken, tool), ...(members === null ? {} : { tools: members }) };
  }

  function allowed(tools: readonly unknown[], place: string): unknown[] {
    const left = tools.filter(isAllowed);
    for (const tool of tools) if (!isAllowed(tool)) dropped.note(`${place}.${typeOf(tool)}`);
    return left.map(asSent);
  }

  return {
    allowed,
    list(tools, isSent) {
      const seen = new Set<NativeObject>();
      const given: Loose[] = [];
      for (const [at, tool] of tools.entries()) {
        const own = native.tools[at] ?? null;
        if (own === null || (bringers.includes(own.type) && !isSent(own)))
          given.push(...encodeTools([tool], dropped, at));
        else if (!seen.has(own) && !bringers.includes(own.type)) given.push(asSent(own) as Loose);
        if (own !== null) seen.add(own);
      }
      return [...given, ...(allowed(native.hostedTools, 'tools[]') as Loose[])];
    },
    choice(asked, hasTools) {
      const { toolChoice } = native;
      if (toolChoice === null || !isSame(toolChoice.chat, asked))
        return asked === undefined ? undefined : encodeToolChoice(asked as Parameters<typeof encodeToolChoice>[0]);
      const choice = isLimited ? allowedChoice(toolChoice.own, hasTools) : toolChoice.own;
      if (choice === undefined) dropped.note('tool_choice');
      return choice;
    },
  };
}

/** Returns the rest of a choice without the provider's own tools; undefined: nothing is left. */
function allowedChoice(own: unknown, hasTools: boolean): unknown {
  if (!isObject(own)) return own === 'required' && !hasTools ? undefined : own;
  if (own.type !== 'allowed_tools') return ofClient.includes(own.type) ? own : undefined;
  const tools = Array.isArray(own.tools) ? own.tools : [];
  const left = tools.filter((tool) => isObject(tool) && ofClient.includes(tool.type));
  return left.length === 0 && tools.length > 0 ? undefined : { ...own, tools: left };
}

function isOfClient({ type, execution }: Loose): boolean {
  return ofClient.includes(type) || (type === 'tool_search' && execution === 'client');
}

const plainType = /^[\w:-]{1,64}$/;

function typeOf(tool: unknown): string {
  const type = isObject(tool) ? tool.type : undefined;
  return typeof type === 'string' && plainType.test(type) ? type : 'type';
}
