import { isObject, type Loose } from '../../../base/values.ts';
import type { ChatRequest } from '../../../schema/chat/chat.ts';
import type { StructuredOutput } from '../../dialect.ts';
import { outputInstruction, outputToolName } from '../../shared/structured-output.ts';
import { unsupported } from '../../shared/unsupported.ts';
import { isGemini3, type ModelFamily } from '../model-family.ts';
import type { Drop } from './generation-config.ts';
import { googleSchema } from './json-schema.ts';
import { isFunction } from './tools.ts';

/** The way in which a response of a form is asked for. */
export interface EncodedFormat {
  /** Absent: no form was asked for, or it has no effect. */
  how?: StructuredOutput;
  /** Fields of the generation config. */
  config: Loose;
  /** The declaration of the tool whose arguments are the response. */
  tool: Loose | null;
  /** The text that is added to the system instruction. */
  instruction: string | null;
  /** true: the tools of the request are left out, since none may be called. */
  hidesTools: boolean;
}

const nothing: EncodedFormat = { config: {}, tool: null, instruction: null, hidesTools: false };

/**
 * Asks for JSON in Google's own words. Models before Gemini 3 refuse them beside tools: these models get one more tool,
 * which takes the response, or are asked in the prompt.
 * @see https://ai.google.dev/gemini-api/docs/structured-output
 */
export function encodeFormat(request: ChatRequest, family: ModelFamily, drop: Drop): EncodedFormat {
  const { response_format: format, tools = [], tool_choice: choice } = request;
  if (format === undefined || format.type === 'text') return nothing;
  if (format.type !== 'json_object' && format.type !== 'json_schema')
    throw unsupported('response_format', 'text, json_object or json_schema');
  const { schema, name, description } = format.type === 'json_schema' ? format.json_schema : {};
  const instruct = { ...nothing, how: 'instruction' as const, instruction: outputInstruction(format) };
  if (family.isGemma) return instruct;
  const hasTools = tools.length > 0;
  if (!hasTools || isGemini3(family) || choice === 'none') {
    const config: Loose = { responseMimeType: 'application/json' };
    if (schema !== undefined) {
      const head = { ...(name ? { title: name } : {}), ...(description ? { description } : {}) };
      config.responseJsonSchema = { ...head, ...(googleSchema(schema) as Loose) };
    }
    return { ...nothing, how: 'native', config, hidesTools: hasTools && choice === 'none' && !isGemini3(family) };
  }
  // The model must call one of the caller's tools, so there is no response of a form.
  if (choice === 'required' || isObject(choice)) {
    drop('response_format');
    return nothing;
  }
  const isTaken = tools.some((tool) => !isFunction(tool) || tool.function.name === outputToolName);
  if (schema?.type !== 'object' || isTaken) return instruct;
  const tool = {
    name: outputToolName,
    description: description || 'Takes the response. Call it when no other tool is needed.',
    parametersJsonSchema: googleSchema(schema),
  };
  return { ...nothing, how: 'tool', tool };
}
