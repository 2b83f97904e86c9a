import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ChatRequest } from '../../src/schema/chat/chat.ts';
import { sharedPath } from './reference.ts';

/** A recorded request of any dialect as a chat request, and what the provider counted of it. */
export interface RecordedRequest {
  /** Path of the exchange in the folder of recordings. */
  name: string;
  dialect: string;
  request: ChatRequest;
  promptTokens: number;
  completionTokens: number;
}

type Json = Record<string, unknown>;

interface Exchange {
  request: { body: Json | null };
  response: { body?: unknown; body_file?: string };
}

/** Every recording that holds a request and a count of its tokens. Those of the chat dialects are taken as they are. */
export function loadRecordedRequests(): RecordedRequest[] {
  const root = sharedPath('fixtures');
  const { files } = JSON.parse(readFileSync(join(root, 'manifest.json'), 'utf8')) as {
    files: { file: string; dialect: string }[];
  };
  return files
    .filter(({ file }) => file.endsWith('.exchange.json'))
    .flatMap(({ file, dialect }) => {
      const { request, response } = JSON.parse(readFileSync(join(root, file), 'utf8')) as Exchange;
      if (request.body === null) return [];
      const answer =
        response.body_file === undefined
          ? JSON.stringify(response.body)
          : readFileSync(join(root, dirname(file), response.body_file), 'latin1');
      const { promptTokens, completionTokens } = countsIn(answer);
      if (promptTokens === 0) return [];
      const body = restored(request.body) as Json;
      return [{ name: file, dialect, request: chatRequestOf(dialect, body), promptTokens, completionTokens }];
    });
}

/** Long texts are cut in the recordings; as many characters are put back, of one byte each. */
function restored(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.replace(/\.\.\.\[(\d+) chars cut by the fixture builder\]$/, (_, count) => 'x'.repeat(Number(count)));
  }
  if (Array.isArray(value)) return value.map(restored);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, restored(one)]));
}

/** The largest counts an answer tells, in whichever dialect: as JSON, as events, or in binary frames. */
function countsIn(answer: string): { promptTokens: number; completionTokens: number } {
  let promptTokens = 0;
  let completionTokens = 0;
  for (const [text] of answer.matchAll(
    /"(?:usage|usageMetadata|tokens)":\s*\{(?:[^{}]|\{[^{}]*\}|\{[^{}]*\{[^{}]*\}[^{}]*\})*\}/g,
  )) {
    const told = JSON.parse(text.slice(text.indexOf('{'))) as Json;
    // Cohere tells what it billed and, beside it, what its model read.
    const usage = { ...told, ...(told.tokens as Json | undefined) };
    const sum = (...fields: string[]) => fields.reduce((all, field) => all + (Number(usage[field]) || 0), 0);
    promptTokens = Math.max(
      promptTokens,
      sum('prompt_tokens'),
      sum('input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'),
      sum('inputTokens', 'cacheReadInputTokens', 'cacheWriteInputTokens'),
      sum('promptTokenCount', 'toolUsePromptTokenCount'),
    );
    completionTokens = Math.max(
      completionTokens,
      sum('completion_tokens'),
      sum('output_tokens'),
      sum('outputTokens'),
      sum('candidatesTokenCount', 'thoughtsTokenCount'),
    );
  }
  for (const [, field, count] of answer.matchAll(/"(prompt_eval_count|eval_count)":\s*(\d+)/g)) {
    if (field === 'eval_count') completionTokens = Number(count);
    else promptTokens = Number(count);
  }
  return { promptTokens, completionTokens };
}

function chatRequestOf(dialect: string, body: Json): ChatRequest {
  switch (dialect) {
    case 'anthropic-messages':
      return fromAnthropic(body) as unknown as ChatRequest;
    case 'bedrock-converse':
      return fromBedrock(body) as unknown as ChatRequest;
    case 'google-generate-content':
      return fromGoogle(body) as unknown as ChatRequest;
    case 'openai-responses':
      return fromResponses(body) as unknown as ChatRequest;
    default:
      return body as unknown as ChatRequest;
  }
}

const list = (value: unknown): Json[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? ''));
const functionTool = (name: unknown, description: unknown, parameters: unknown) => ({
  type: 'function',
  function: { name, description, parameters },
});
const toolCall = (name: unknown, args: unknown) => ({
  id: 'call_1',
  type: 'function',
  function: { name, arguments: text(args) },
});
const image = { type: 'image_url', image_url: { url: 'https://pictures.test/1' } };
const file = { type: 'file', file: { file_data: 'https://files.test/1' } };
const textPart = (value: unknown) => ({ type: 'text', text: text(value) });

function fromAnthropic({
  system,
  messages,
  tools,
  tool_choice,
  output_format,
  output_config,
  max_tokens,
  thinking,
}: Json): Json {
  const parts = (content: unknown): Json[] =>
    typeof content === 'string'
      ? [textPart(content)]
      : list(content).flatMap((block) => {
          if (block.type === 'image') return [image];
          if (block.type === 'document') return [file];
          if (block.type === 'tool_result') return parts(block.content);
          return [textPart(block.text ?? block.thinking ?? block)];
        });
  return {
    max_tokens,
    thinking,
    tool_choice,
    messages: [
      ...(system ? [{ role: 'system', content: parts(system) }] : []),
      ...list(messages).map(({ role, content }) => ({
        role,
        content: parts(list(content).length > 0 ? list(content).filter(({ type }) => type !== 'tool_use') : content),
        tool_calls: list(content)
          .filter(({ type }) => type === 'tool_use')
          .map(({ name, input }) => toolCall(name, input)),
      })),
    ],
    tools: tools
      ? list(tools).map((tool) =>
          'input_schema' in tool ? functionTool(tool.name, tool.description, tool.input_schema) : tool,
        )
      : undefined,
    response_format: output_format ?? output_config,
  };
}

function fromBedrock({ system, messages, toolConfig, inferenceConfig, outputConfig, ...rest }: Json): Json {
  const parts = (content: unknown): Json[] =>
    list(content).flatMap((block) => {
      if (block.image) return [image];
      if (block.document) return [file];
      if (block.toolResult) return parts((block.toolResult as Json).content);
      return block.toolUse ? [] : [textPart(block.text ?? block)];
    });
  const { tools, toolChoice } = (toolConfig ?? {}) as Json;
  return {
    ...rest,
    max_tokens: (inferenceConfig as Json | undefined)?.maxTokens,
    tool_choice: toolChoice,
    messages: [
      ...(system ? [{ role: 'system', content: parts(system) }] : []),
      ...list(messages).map(({ role, content }) => ({
        role,
        content: parts(content),
        tool_calls: list(content)
          .filter(({ toolUse }) => toolUse)
          .map(({ toolUse }) => toolCall((toolUse as Json).name, (toolUse as Json).input)),
      })),
    ],
    tools: tools
      ? list(tools)
          .filter(({ toolSpec }) => toolSpec)
          .map(({ toolSpec }) => {
            const { name, description, inputSchema } = toolSpec as Json;
            return functionTool(name, description, (inputSchema as Json).json);
          })
      : undefined,
    response_format: outputConfig,
  };
}

function fromGoogle({ contents, systemInstruction, tools, toolConfig, generationConfig, ...rest }: Json): Json {
  const config = (generationConfig ?? {}) as Json;
  const parts = (from: unknown): Json[] =>
    list(from).flatMap((part): Json[] => {
      const media = (part.inlineData ?? part.fileData) as Json | undefined;
      if (media) return [text(media.mimeType).startsWith('image/') ? image : file];
      return part.functionCall ? [] : [textPart(part.text ?? part)];
    });
  const declared = (Array.isArray(tools) ? (tools as Json[]) : tools ? [tools as Json] : []).flatMap((tool): Json[] =>
    tool.functionDeclarations
      ? list(tool.functionDeclarations).map(({ name, description, parameters, parametersJsonSchema }) =>
          functionTool(name, description, parameters ?? parametersJsonSchema),
        )
      : [{ type: `google:${Object.keys(tool)[0]}`, parameters: tool }],
  );
  return {
    ...rest,
    max_tokens: config.maxOutputTokens,
    tool_choice: toolConfig,
    messages: [
      ...(systemInstruction ? [{ role: 'system', content: parts((systemInstruction as Json).parts) }] : []),
      ...list(contents).map((content) => ({
        role: content.role === 'model' ? 'assistant' : 'user',
        content: parts(content.parts),
        tool_calls: list(content.parts)
          .filter(({ functionCall }) => functionCall)
          .map(({ functionCall }) => toolCall((functionCall as Json).name, (functionCall as Json).args)),
      })),
    ],
    tools: declared.length > 0 ? declared : undefined,
    response_format: config.responseSchema ?? config.responseJsonSchema,
  };
}

function fromResponses({ input, instructions, tools, text: format, max_output_tokens, ...rest }: Json): Json {
  const parts = (content: unknown): Json[] =>
    typeof content === 'string'
      ? [textPart(content)]
      : list(content).map((part) =>
          part.type === 'input_image' ? image : part.type === 'input_file' ? file : textPart(part.text ?? part),
        );
  const messages = typeof input === 'string' ? [{ role: 'user', content: input }] : list(input);
  return {
    ...rest,
    max_tokens: max_output_tokens,
    messages: [
      ...(instructions ? [{ role: 'system', content: text(instructions) }] : []),
      ...messages.map((item: Json) => {
        if (item.type === 'function_call')
          return { role: 'assistant', tool_calls: [toolCall(item.name, item.arguments)] };
        if (item.type === 'function_call_output') return { role: 'tool', content: text(item.output) };
        if (item.type === 'reasoning') return { role: 'assistant', reasoning: text(item) };
        return { role: item.role, content: parts(item.content) };
      }),
    ],
    tools: tools
      ? list(tools).map((tool) =>
          tool.type === 'function' ? functionTool(tool.name, tool.description, tool.parameters) : tool,
        )
      : undefined,
    response_format: format,
  };
}
