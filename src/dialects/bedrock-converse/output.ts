import { isObject, type Loose } from '../../base/values.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { StructuredOutput } from '../dialect.ts';
import { outputInstruction, outputToolName } from '../shared/structured-output.ts';
import type { ModelTraits } from './model.ts';

/** The plan for output of a form. */
export interface OutputPlan {
  /** The way in which it is asked for; null: it is not. */
  way: StructuredOutput | null;
  /** The field `outputConfig`. */
  outputConfig: Loose | null;
  /** The tool whose arguments are the response. */
  tool: Loose | null;
  toolName: string | null;
  /** The instruction for the system prompt. */
  instruction: string | null;
}

const none: OutputPlan = { way: null, outputConfig: null, tool: null, toolName: null, instruction: null };

/**
 * Decides how output of a form is asked for: natively where the model keeps to schemas, else by a tool that it must
 * call, else by an instruction.
 * @param thinks   true: Claude thinks, and then cannot be made to call a tool
 * @param dropped  gets `response_format` where there is no way
 */
export function planOutput(
  { response_format: format, tools, tool_choice: choice }: ChatRequest,
  { nativeOutput, forcedTools }: ModelTraits,
  thinks: boolean,
  dropped: Set<string>,
): OutputPlan {
  if (format === undefined || format.type === 'text') return none;
  const instruction = outputInstruction(format);
  if (instruction === null) {
    dropped.add('response_format');
    return none;
  }
  const asked: OutputPlan = { ...none, way: 'instruction', instruction };
  if (format.type !== 'json_schema' || format.json_schema.schema === undefined) return asked;
  const { name, description, schema } = format.json_schema;
  const described = description === undefined || description.trim() === '' ? {} : { description };
  if (nativeOutput && isClosed(schema)) {
    const jsonSchema = { name, ...described, schema: JSON.stringify(schema) };
    return { ...none, way: 'native', outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } };
  }
  // A tool takes an object. If two tools must be called, the caller's comes first.
  if (forcedTools !== true || thinks || schema.type !== 'object' || typeof choice === 'object') return asked;
  const toolName = freeName(tools ?? []);
  const toolSpec = { name: toolName, ...described, inputSchema: { json: schema } };
  return { ...none, way: 'tool', tool: { toolSpec }, toolName };
}

function freeName(tools: NonNullable<ChatRequest['tools']>): string {
  const names = new Set(tools.map((tool) => (isObject(tool.function) ? tool.function.name : null)));
  let name = outputToolName;
  for (let number = 2; names.has(name); number++) name = `${outputToolName}_${number}`;
  return name;
}

/** Keys of a schema whose values are schemas by name. */
const byName = new Set(['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas']);
/** Keys whose values are data, in which nothing is a schema. */
const data = new Set(['enum', 'const', 'default', 'examples', 'required']);

/** true: each object in a schema takes no other properties. The provider keeps to no other schemas. */
export function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed);
  if (!isObject(schema)) return true;
  const { type } = schema;
  const isOfObject = type === 'object' || (Array.isArray(type) && type.includes('object')) || 'properties' in schema;
  if (isOfObject && schema.additionalProperties !== false) return false;
  return Object.entries(schema).every(([key, value]) => {
    if (data.has(key)) return true;
    return byName.has(key) && isObject(value) ? Object.values(value).every(isClosed) : isClosed(value);
  });
}
