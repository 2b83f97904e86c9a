import { isObject, type Loose } from '../../../base/values.ts';
import type { NativeObject } from '../../../call/native.ts';
import type { ChatRequest, ChatTool } from '../../../schema/chat/chat.ts';
import { camelName, fieldOf, listOf, objectOf, textOf } from '../../../schema/gemini/fields.ts';
import type { GeminiRequest } from '../../../schema/gemini/request.ts';
import type { Leftover } from '../../leftover.ts';
import { jsonSchemaOf } from './json-schema.ts';

/** The tools of a request, for both kinds of upstream. */
export interface ConvertedTools {
  chat: ChatTool[];
  /** The declaration that each chat tool was made of. */
  holders: NativeObject[];
  /** Tools that the provider runs, and declarations of functions that may not be called. */
  hosted: NativeObject[];
}

/** Makes chat tools of functions. Tools that the provider runs are named; the gateway has some of them itself. */
export function convertTools(request: GeminiRequest, leftover: Leftover): ConvertedTools {
  const converted: ConvertedTools = { chat: [], holders: [], hosted: [] };
  for (const tool of request.tools ?? []) {
    for (const name in tool) {
      const value = tool[name];
      if (value == null) continue;
      const field = camelName(name);
      if (field === 'functionDeclarations') {
        for (const declaration of Array.isArray(value) ? value : []) {
          if (!isObject(declaration)) continue;
          converted.chat.push(functionTool(declaration));
          converted.holders.push(declaration);
        }
        continue;
      }
      const hosted = hostedTool(field, value) ?? { [name]: value };
      converted.hosted.push(hosted);
      leftover.note('tools[].', typeof hosted.type === 'string' ? hosted.type : name);
    }
  }
  return converted;
}

/** Names a tool of the provider in the words of the gateway's own, which takes its place where no provider has one. */
function hostedTool(field: string, value: unknown): NativeObject | null {
  if (field === 'urlContext') return { type: 'web_fetch', urlContext: value };
  if (!/^googleSearch(?:Retrieval)?$/.test(field)) return null;
  const excluded = listOf(value, 'excludeDomains');
  return {
    type: 'web_search',
    ...(excluded.length > 0 ? { excluded_domains: excluded } : {}),
    googleSearch: value,
  };
}

function functionTool(declaration: Loose): ChatTool {
  const description = textOf(declaration, 'description');
  const own = fieldOf(declaration, 'parametersJsonSchema');
  const schema = jsonSchemaOf(own ?? fieldOf(declaration, 'parameters'));
  return {
    type: 'function',
    function: {
      name: textOf(declaration, 'name') ?? '',
      ...(description === null ? {} : { description }),
      parameters: isObject(schema) ? schema : { type: 'object', properties: {} },
    },
  };
}

/** Makes the choice of a tool. Functions that it does not allow are moved from the chat tools to the others. */
export function convertChoice(
  request: GeminiRequest,
  tools: ConvertedTools,
): { tools: ConvertedTools; choice: ChatRequest['tool_choice'] } {
  const config = objectOf(objectOf(request, 'toolConfig'), 'functionCallingConfig');
  if (config === null || tools.chat.length === 0) return { tools, choice: undefined };
  const mode = textOf(config, 'mode')?.toUpperCase();
  if (mode === 'NONE') return { tools, choice: 'none' };
  const names = new Set(listOf(config, 'allowedFunctionNames'));
  const isAllowed = tools.chat.map((tool) => 'function' in tool && names.has((tool.function as Loose).name));
  const count = isAllowed.filter(Boolean).length;
  if (mode === 'AUTO' || names.size === 0) return { tools, choice: mode === 'ANY' ? 'required' : undefined };
  const allowed: ConvertedTools = {
    chat: tools.chat.filter((_, at) => isAllowed[at]),
    holders: tools.holders.filter((_, at) => isAllowed[at]),
    hosted: [
      ...tools.hosted,
      ...tools.holders.flatMap((one, at) => (isAllowed[at] ? [] : [{ functionDeclarations: [one] }])),
    ],
  };
  if (mode !== 'ANY' || count === 0) return { tools: count === 0 ? tools : allowed, choice: undefined };
  if (count > 1) return { tools: allowed, choice: 'required' };
  const name = ((allowed.chat[0] as Loose).function as Loose).name as string;
  return { tools: allowed, choice: { type: 'function', function: { name } } };
}
