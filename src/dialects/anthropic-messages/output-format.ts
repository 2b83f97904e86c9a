import { isObject, type Loose } from '../../base/values.ts';
import type { ChatRequest, FunctionTool, ResponseFormat } from '../../schema/chat/chat.ts';
import type { StructuredOutput } from '../dialect.ts';
import { allowedTools } from '../shared/allowed-tools.ts';
import { outputInstruction, outputToolName } from '../shared/structured-output.ts';
import type { Encoding } from './encoding.ts';
import { grammarSchema } from './json-schema.ts';

/** The way in which output of a form is asked for. Absent fields: not that way. */
export interface OutputPlan {
  structuredOutput?: StructuredOutput;
  /** The value of `output_config.format`. */
  format?: Loose;
  /** The tool whose arguments are the output. */
  tool?: Loose & { name: string };
  /** The text that is put behind the instructions. */
  instruction?: string;
}

/**
 * Plans the output: natively where model and schema allow it, else by a tool that must be called, else in words. JSON
 * of any shape has no other form here.
 * @see https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
export function planOutput(request: ChatRequest, { traits, dropped, schemas }: Encoding): OutputPlan {
  const format = request.response_format;
  if (!format || format.type === 'text') return {};
  const instruction = outputInstruction(format);
  // A grammar cannot be asked for here. A tool that must be called leaves no room for text of any form.
  if (instruction === null || mustCall(request)) {
    dropped.add('response_format');
    return {};
  }
  const schema = format.type === 'json_schema' ? format.json_schema.schema : undefined;
  if (format.type === 'json_schema' && schema !== undefined && traits.structuredOutput !== 'instruction') {
    const shaped = traits.structuredOutput === 'native' ? grammarSchema(schema, schemas) : null;
    if (shaped) return { structuredOutput: 'native', format: formatOf(shaped, format.json_schema.description) };
    if (schema.type === 'object' && traits.forcedTools)
      return { structuredOutput: 'tool', tool: outputTool(format, schema, request) };
  }
  return { structuredOutput: 'instruction', instruction };
}

/** Returns the format. Only the schema itself can describe its purpose. */
function formatOf(schema: Loose, description: string | undefined): Loose {
  const isTold = description === undefined || schema.description !== undefined;
  return { type: 'json_schema', schema: isTold ? schema : { ...schema, description } };
}

function mustCall({ tool_choice: choice, tools = [] }: ChatRequest): boolean {
  if (tools.length === 0 || choice === undefined) return false;
  if (!isObject(choice)) return choice === 'required';
  return allowedTools(choice)?.isForced ?? true;
}

function outputTool(
  { json_schema: { description } }: Extract<ResponseFormat, { type: 'json_schema' }>,
  schema: Loose,
  { tools = [] }: ChatRequest,
): Loose & { name: string } {
  const names = new Set(tools.map((tool) => (tool as Partial<FunctionTool>).function?.name));
  let name = outputToolName;
  while (names.has(name)) name += '_';
  return { name, description: description ?? 'Takes the response.', input_schema: schema };
}
