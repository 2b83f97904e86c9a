import type { NamedToolChoice, ToolChoice } from '../../../schema/chat/chat.ts';
import {
  type AllowedTools,
  isServerTool,
  type ObjectChoice,
  type ResponsesToolChoice,
} from '../../../schema/responses/responses.ts';
import type { Dropped } from './dropped.ts';
import type { ConvertedTools } from './tools.ts';

/**
 * Returns the choice among the functions of the chat request; undefined: there is nothing to say. Without functions,
 * servers refuse a choice.
 */
export function convertToolChoice(
  choice: ResponsesToolChoice | null | undefined,
  { chat, names }: ConvertedTools,
  dropped: Dropped,
): ToolChoice | undefined {
  if (choice === null || choice === undefined) return undefined;
  if (chat.length === 0) {
    if (choice !== 'auto' && choice !== 'none') dropped.note('tool_choice');
    return undefined;
  }
  if (typeof choice === 'string') return choice;
  if (choice.type === 'allowed_tools') return convertAllowed(choice as AllowedTools, names, dropped);
  if (isServerTool(choice.type)) return { type: choice.type };
  const name = chatNameOf(choice, names);
  if (name !== null) return forced(name);
  dropped.note('tool_choice');
  return undefined;
}

type Names = ConvertedTools['names'];
type NamedTool = ObjectChoice & { namespace?: unknown };

function forced(name: string): NamedToolChoice {
  return { type: 'function', function: { name } };
}

/** Converts a list of allowed tools. Tools that the provider runs are not among the functions. */
function convertAllowed({ mode, tools }: AllowedTools, names: Names, dropped: Dropped): ToolChoice {
  // Each once: a caller may name a group as often as it likes.
  const allowed = new Set<string>();
  for (const tool of new Map(tools.map((tool) => [keyOf(tool), tool])).values()) {
    const name = chatNameOf(tool, names);
    if (name !== null) allowed.add(name);
    else if (tool.type === 'namespace') {
      for (const member of names.offeredIn(tool.name)) allowed.add(member);
    } else dropped.note('tool_choice.tools[].', tool.type);
  }
  // The model may call no function.
  if (allowed.size === 0) return 'none';
  return { type: 'allowed_tools', allowed_tools: { mode, tools: [...allowed].map(forced) } };
}

/** Returns the function that stands for a tool; null: none does. */
function chatNameOf({ type, name, namespace }: NamedTool, names: Names): string | null {
  if (type === 'local_shell' || type === 'tool_search') return names.offered({ kind: type, name: type });
  if ((type !== 'function' && type !== 'custom') || typeof name !== 'string') return null;
  return names.offered(typeof namespace === 'string' ? { kind: type, name, namespace } : { kind: type, name });
}

function keyOf({ type, name, namespace }: NamedTool): string {
  return `${type}\n${namespace ?? ''}\n${name}`;
}
