import { isObject, type Loose } from '../../base/values.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { CacheControl } from '../../schema/chat/part.ts';
import type { FunctionTool } from '../../schema/chat/tool.ts';
import { allowedTools } from '../shared/allowed-tools.ts';
import { unsupported } from '../shared/unsupported.ts';
import { noArguments } from '../shared/values.ts';
import { cachePoint } from './caching.ts';
import type { ModelTraits } from './model.ts';
import { isClosed, type OutputPlan } from './output.ts';

/** The plan for the tools of a request. */
export interface ToolPlan {
  /** The tools; null: no tool may be called, and the provider is told of none. */
  toolConfig: Loose | null;
  /** The fields for `additionalModelRequestFields`. */
  fields: Loose;
}

/** true: a tool must be called. */
export function forcesTool({ tools, tool_choice: choice }: ChatRequest): boolean {
  if ((tools?.length ?? 0) === 0) return false;
  return allowedTools(choice)?.isForced ?? (choice === 'required' || typeof choice === 'object');
}

/**
 * Plans the tools and which of them may be called. There is no word for "none", nor for a list
 * of allowed tools: the provider is not told of those that may not be called.
 * @param dropped  gets the fields that have no effect
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolConfiguration.html
 */
export function planTools(
  request: ChatRequest,
  traits: ModelTraits,
  output: OutputPlan,
  dropped: Set<string>,
): ToolPlan {
  const allowed = allowedTools(request.tool_choice);
  const isOffered = (tool: Loose) => allowed === null || allowed.names.has(nameOf(tool));
  const given = request.tools ?? [];
  const isNone = request.tool_choice === 'none';
  if (isNone && given.length > 0) dropped.add('tools');
  const tools = isNone
    ? []
    : given.flatMap((tool, at) => (isOffered(tool) ? toolBlocks(tool, at, traits, dropped) : []));
  if (output.tool !== null) tools.push(output.tool);
  if (tools.length === 0) {
    if (given.length === 0 && request.tool_choice !== undefined && !isNone) dropped.add('tool_choice');
    return { toolConfig: null, fields: {} };
  }
  const choice = choiceOf(request, traits, output, dropped);
  if (request.parallel_tool_calls === false && traits.serialTools)
    return {
      toolConfig: { tools },
      fields: { tool_choice: { ...claudeChoice(choice), disable_parallel_tool_use: true } },
    };
  if (request.parallel_tool_calls === false) dropped.add('parallel_tool_calls');
  return { toolConfig: choice === null ? { tools } : { tools, toolChoice: choice }, fields: {} };
}

function toolBlocks(
  tool: NonNullable<ChatRequest['tools']>[number],
  at: number,
  traits: ModelTraits,
  dropped: Set<string>,
): Loose[] {
  if (tool.type !== 'function') throw unsupported(`tools[${at}].type`, 'function');
  const blocks = [toolSpec(tool as FunctionTool, traits, dropped)];
  const control = tool.cache_control as CacheControl | undefined;
  if (control === undefined) return blocks;
  if (traits.caching === 'everywhere') blocks.push(cachePoint(control, traits, 'tools[].cache_control', dropped));
  else dropped.add('tools[].cache_control');
  return blocks;
}

function toolSpec({ function: called }: FunctionTool, traits: ModelTraits, dropped: Set<string>): Loose {
  const { name, description, parameters, strict } = called;
  const json = parameters ?? noArguments;
  const isStrict = strict === true && traits.nativeOutput && isClosed(json);
  if (strict === true && !isStrict) dropped.add('tools[].function.strict');
  return {
    toolSpec: {
      name,
      ...(description === undefined || description.trim() === '' ? {} : { description }),
      inputSchema: { json },
      ...(isStrict ? { strict: true } : {}),
    },
  };
}

/** @returns null: the model decides, as the provider does by default */
function choiceOf(
  { tool_choice: choice, tools }: ChatRequest,
  traits: ModelTraits,
  { toolName }: OutputPlan,
  dropped: Set<string>,
): Loose | null {
  if (toolName !== null)
    return (tools?.length ?? 0) > 0 && choice !== 'none' ? { any: {} } : { tool: { name: toolName } };
  if (choice === undefined || choice === 'auto' || choice === 'none') return null;
  if (traits.forcedTools === false) {
    dropped.add('tool_choice');
    return null;
  }
  if (choice === 'required') return { any: {} };
  const allowed = allowedTools(choice);
  if (allowed !== null) return allowed.isForced ? { any: {} } : null;
  const name = nameOf(choice);
  if (choice.type !== 'function' || typeof name !== 'string')
    throw unsupported('tool_choice', 'none, auto, required, a function or allowed_tools');
  return { tool: { name } };
}

function nameOf(holder: Loose): unknown {
  return isObject(holder.function) ? holder.function.name : undefined;
}

/** Returns the same choice in Claude's own words, beside which Bedrock takes no choice of its own. */
function claudeChoice(choice: Loose | null): Loose {
  if (choice === null) return { type: 'auto' };
  return 'any' in choice ? { type: 'any' } : { type: 'tool', ...(choice.tool as Loose) };
}
