import { isObject, type Loose } from '../../base/values.ts';
import type { ChatRequest, ChatTool, FunctionTool, ResponseFormat, ToolChoice } from '../../schema/chat/chat.ts';
import type { StructuredOutput } from '../dialect.ts';
import { allowedTools } from '../shared/allowed-tools.ts';
import type { Dropped } from '../shared/left-out.ts';
import { outputInstruction, outputToolName } from '../shared/structured-output.ts';
import { unsupported } from '../shared/unsupported.ts';
import { noArguments } from '../shared/values.ts';

/** The tools of a request and the form of its response, as Cohere takes them. */
export interface ToolsAndFormat {
  /** Fields of the body. */
  fields: Loose;
  /** The way in which structured output is asked for; null: it is not. */
  structuredOutput: StructuredOutput | null;
  /** A system message that asks for the form; null: none is needed. */
  instruction: string | null;
}

/**
 * Encodes the tools and the form of the response. Cohere takes a form only where there are no tools and no documents.
 * Beside tools, the form becomes a tool of its own, and one of all must be called. Beside documents, an instruction
 * asks for it.
 * @see https://docs.cohere.com/docs/structured-outputs
 */
export function encodeTools(request: ChatRequest, dropped: Dropped): ToolsAndFormat {
  const chosen = chooseTools(request, dropped);
  const format = request.response_format;
  if (format === undefined || format.type === 'text')
    return { fields: fieldsOf(chosen), structuredOutput: null, instruction: null };
  if (format.type !== 'json_object' && format.type !== 'json_schema')
    throw unsupported('response_format.type', 'text, json_object or json_schema');
  // The call of a tool that must be called is the complete response.
  if (chosen.choice === 'REQUIRED') {
    dropped.add('response_format');
    return { fields: fieldsOf(chosen), structuredOutput: null, instruction: null };
  }
  if (Array.isArray(request.documents) && request.documents.length > 0)
    return {
      fields: fieldsOf(chosen),
      structuredOutput: 'instruction',
      instruction: outputInstruction(format),
    };
  // Tools that must not be called are not needed for a response that calls none.
  if (chosen.tools.length === 0 || chosen.choice === 'NONE')
    return { fields: { response_format: nativeFormat(format) }, structuredOutput: 'native', instruction: null };
  const tools = [...chosen.tools, outputTool(format)];
  return {
    fields: fieldsOf({ ...chosen, tools, choice: 'REQUIRED' }),
    structuredOutput: 'tool',
    instruction: null,
  };
}

interface Chosen {
  tools: Loose[];
  /** The choice; null: the model decides. */
  choice: 'REQUIRED' | 'NONE' | null;
  isStrict: boolean;
}

/**
 * Chooses the tools. Cohere cannot be told which tool to call: where a choice names tools, only those are offered, and
 * one must be called.
 * @see https://docs.cohere.com/docs/tool-use-usage-patterns "Forcing tool usage"
 */
function chooseTools({ tools = [], tool_choice: choice }: ChatRequest, dropped: Dropped): Chosen {
  const functions = tools.map(asFunction);
  for (const tool of tools) dropped.addSet('tools[]', tool, ['cache_control']);
  const { names, mode } = readChoice(choice);
  const offered = names === null ? functions : functions.filter((tool) => names.has(tool.function.name));
  // No tool can be called without tools, for every choice.
  if (offered.length === 0 && mode === 'REQUIRED') dropped.add('tool_choice');
  return {
    tools: offered.map(encodeTool),
    choice: offered.length === 0 ? null : mode,
    isStrict: offered.some((tool) => tool.function.strict === true),
  };
}

function asFunction(tool: ChatTool, at: number): FunctionTool {
  if (tool.type !== 'function') throw unsupported(`tools[${at}].type`, 'function');
  return tool as FunctionTool;
}

/** `names`: only these tools may be called; null: each may. */
function readChoice(choice: ToolChoice | undefined): { names: ReadonlySet<unknown> | null; mode: Chosen['choice'] } {
  if (choice === undefined || choice === 'auto') return { names: null, mode: null };
  if (choice === 'none') return { names: null, mode: 'NONE' };
  if (choice === 'required') return { names: null, mode: 'REQUIRED' };
  if (choice.type === 'function') return { names: new Set([(choice as FunctionTool).function.name]), mode: 'REQUIRED' };
  const allowed = allowedTools(choice);
  if (allowed === null) throw unsupported('tool_choice', 'auto, none, required, a function or allowed_tools');
  return { names: allowed.names, mode: allowed.isForced ? 'REQUIRED' : null };
}

function encodeTool({ function: { name, description, parameters } }: FunctionTool): Loose {
  return {
    type: 'function',
    function: {
      name,
      ...(description === undefined ? {} : { description }),
      // Cohere requires them.
      parameters: parameters ?? noArguments,
    },
  };
}

/**
 * Returns the fields of tools. Strictness holds for all tools together: a tool that asks for it counts more than those
 * that do not.
 */
function fieldsOf({ tools, choice, isStrict }: Chosen): Loose {
  if (tools.length === 0) return {};
  return {
    tools,
    ...(isStrict ? { strict_tools: true } : {}),
    ...(choice === null ? {} : { tool_choice: choice }),
  };
}

type JsonFormat = Extract<ResponseFormat, { type: 'json_object' | 'json_schema' }>;

function nativeFormat(format: JsonFormat): Loose {
  const schema = schemaOf(format);
  return { type: 'json_object', ...(schema === null ? {} : { json_schema: schema }) };
}

/** Returns the schema with its description, for which Cohere has no other place. null: any object is good. */
function schemaOf(format: JsonFormat): Loose | null {
  if (format.type !== 'json_schema' || !isObject(format.json_schema)) return null;
  const { schema, description } = format.json_schema as { schema?: Loose; description?: string };
  if (schema === undefined) return null;
  return description === undefined || 'description' in schema ? schema : { ...schema, description };
}

function outputTool(format: JsonFormat): Loose {
  return {
    type: 'function',
    function: {
      name: outputToolName,
      description: 'Gives the final response. Call it once nothing else is left to do.',
      parameters: schemaOf(format) ?? { type: 'object' },
    },
  };
}
