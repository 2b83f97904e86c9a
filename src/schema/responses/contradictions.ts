import type { Issue } from '../../base/refusal.ts';
import { isWebSearch } from '../chat/tool.ts';
import type { InputItem } from './items.ts';
import type { ResponsesRequest } from './request.ts';
import { type AllowedTools, isKnownTool, type ObjectChoice, type ResponsesTool } from './tools.ts';

/**
 * Finds contradictions in a well-formed Responses request; the caller gets status 422.
 * - An output is of a call that no earlier item makes: the message names the `call_id`.
 * - `tool_choice` forces a tool that is not among the tools.
 * @param limit  maximum number of issues
 * @see interface document, "rulings: Statuses"
 */
export function responsesContradictions(request: ResponsesRequest, limit = 100): Issue[] {
  const issues: Issue[] = [];
  if (typeof request.input !== 'string') addOrphans(request.input, issues, limit);
  const { tool_choice: choice } = request;
  if (typeof choice === 'object' && choice !== null) addUnoffered(choice, request, issues, limit);
  return issues;
}

function addOrphans(input: readonly InputItem[], issues: Issue[], limit: number): void {
  const called = new Set<unknown>();
  for (let at = 0; at < input.length; at++) {
    if (issues.length >= limit) return;
    const item = input[at] as InputItem;
    switch (item.type) {
      case 'function_call':
      case 'custom_tool_call':
      case 'tool_search_call':
        called.add(item.call_id);
        break;
      case 'local_shell_call':
        called.add(item.call_id).add(item.id);
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
      case 'local_shell_call_output':
      case 'tool_search_output': {
        const id = item.call_id ?? (item.type === 'local_shell_call_output' ? item.id : null) ?? null;
        // The provider ran a search of tools that has no id.
        if (id === null || called.has(id)) break;
        const field = item.call_id ? 'call_id' : 'id';
        issues.push({
          path: `input[${at}].${field}`,
          message: 'is the id of no call of an earlier item',
        });
      }
    }
  }
}

function addUnoffered(choice: ObjectChoice, request: ResponsesRequest, issues: Issue[], limit: number): void {
  const offered = offeredTools(request);
  const add = (path: string): void => {
    if (issues.length < limit) issues.push({ path, message: 'names a tool that is not in tools' });
  };
  if (choice.type === 'allowed_tools') {
    for (const [at, tool] of (choice as AllowedTools).tools.entries())
      if (!offered.has(keyOf(tool))) add(`tool_choice.tools[${at}]`);
  } else if (!offered.has(keyOf(choice)))
    add(choice.type === 'function' || choice.type === 'custom' ? 'tool_choice.name' : 'tool_choice.type');
}

/** The tools of the request and of its items, as `keyOf` names them. */
function offeredTools({ tools, input }: ResponsesRequest): ReadonlySet<string> {
  const offered = new Set<string>();
  for (const tool of tools ?? []) addTool(tool, offered);
  if (typeof input === 'string') return offered;
  for (const item of input)
    if (item.type === 'additional_tools' || item.type === 'tool_search_output')
      for (const tool of item.tools as readonly ResponsesTool[]) addTool(tool, offered);
  return offered;
}

function addTool(tool: ResponsesTool, offered: Set<string>): void {
  if (!isKnownTool(tool) || tool.type !== 'namespace') {
    offered.add(keyOf(tool));
    return;
  }
  offered.add(`namespace\n\n${tool.name}`);
  for (const { type, name } of tool.tools) {
    offered.add(`${type}\n${tool.name}\n${name}`);
    // A choice may leave the namespace out.
    offered.add(`${type}\n\n${name}`);
  }
}

function keyOf({ type, name, namespace }: { type?: unknown; name?: unknown; namespace?: unknown }): string {
  if (isWebSearch(type)) return 'web_search';
  return type === 'local_shell' || type === 'tool_search' ? type : `${type}\n${namespace ?? ''}\n${name}`;
}
