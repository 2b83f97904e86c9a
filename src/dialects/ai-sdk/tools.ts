import { isObject, type Loose } from '../../base/values.ts';
import type { ChatRequest, ChatTool, FunctionTool, ToolChoice } from '../../schema/chat.ts';
import { unsupported } from '../shared/unsupported.ts';
import { cacheOptions, options, type PromptContext } from './prompt.ts';

/**
 * The tools of a request and which of them may be called, as an AI SDK language model takes them.
 * @see https://github.com/vercel/ai/blob/main/packages/provider/src/language-model/v4/language-model-v4-tool-choice.ts
 */
export function encodeTools({ tools = [], tool_choice: choice }: ChatRequest, context: PromptContext): Loose {
  const { names, toolChoice } = readChoice(choice);
  const functions = tools.map(asFunction);
  const offered = names === null ? functions : functions.filter((tool) => names.has(tool.function.name));
  if (offered.length === 0) {
    // Without tools, none can be called, whatever the choice.
    if (toolChoice?.type === 'required') context.dropped.add('tool_choice');
    return {};
  }
  return {
    tools: offered.map((tool) => encodeTool(tool, context)),
    ...(toolChoice === null ? {} : { toolChoice }),
  };
}

function asFunction(tool: ChatTool, at: number): FunctionTool {
  if (tool.type !== 'function') throw unsupported(`tools[${at}].type`, 'function');
  return tool as FunctionTool;
}

function encodeTool(tool: FunctionTool, context: PromptContext): Loose {
  const { name, description, parameters, strict } = tool.function;
  return {
    type: 'function',
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: parameters ?? { type: 'object', properties: {} },
    ...(typeof strict === 'boolean' ? { strict } : {}),
    ...options(cacheOptions(tool, 'tools[]', context)),
  };
}

/** `names`: only these tools are offered; null: each is. */
function readChoice(choice: ToolChoice | undefined): { names: Set<unknown> | null; toolChoice: Loose | null } {
  if (choice === undefined) return { names: null, toolChoice: null };
  if (typeof choice === 'string') return { names: null, toolChoice: { type: choice } };
  if (choice.type === 'function') return { names: null, toolChoice: { type: 'tool', toolName: nameIn(choice) } };
  // OpenAI's list of allowed tools, in either of its two shapes.
  const allowed: Loose = isObject(choice.allowed_tools) ? choice.allowed_tools : choice;
  if (choice.type !== 'allowed_tools' || !Array.isArray(allowed.tools))
    throw unsupported('tool_choice', 'auto, none, required or a function');
  const type = allowed.mode === 'required' ? 'required' : 'auto';
  return { names: new Set(allowed.tools.map(nameIn)), toolChoice: { type } };
}

function nameIn(value: unknown): unknown {
  return isObject(value) && isObject(value.function) ? value.function.name : isObject(value) && value.name;
}
