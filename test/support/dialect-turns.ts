/** A tool call, as a body holds it. */
export interface TurnCall {
  /** '' where the dialect has none. */
  id: string;
  name: string;
  arguments: unknown;
}

/** What a body of the second turn says of the tools. */
export interface Turn {
  calls: TurnCall[];
  /** `id`: of the call; where the dialect has none, its name. */
  results: { id: string; text: string }[];
}

/** How a dialect writes a response with reasoning and two tool calls, and how its requests are read. */
export interface DialectTurns {
  /** A complete response: a thought, then `get_weather` for Paris and for Rome. */
  response: object;
  /** What nobody but the provider can read: signatures, encrypted parts, ids of what it keeps. */
  opaque: readonly string[];
  /** Whether it gets these back, without quirks. */
  takesBack: boolean;
  /** Reads a body that a gateway has sent, by the provider's documentation. */
  read(body: Json): Turn;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of six wire formats, which a test looks into
type Json = any;

const thought = 'The user wants the weather of two cities.';
const cities = ['Paris', 'Rome'];
const inText = (city: string) => JSON.stringify({ city });
/** Text of a content that is a text, or a list of parts with a text. */
const textOf = (content: Json): string =>
  typeof content === 'string' ? content : content.map((part: Json) => part.text ?? JSON.stringify(part)).join('');

const chatCalls = (body: Json): TurnCall[] =>
  body.messages.flatMap(({ tool_calls: calls = [] }: Json) =>
    calls.map(({ id, function: { name, arguments: given } }: Json) => ({ id, name, arguments: JSON.parse(given) })),
  );
const chatResults = (body: Json): Turn['results'] =>
  body.messages
    .filter(({ role }: Json) => role === 'tool')
    .map(({ tool_call_id: id, content }: Json) => ({ id, text: textOf(content) }));
const readChat = (body: Json): Turn => ({ calls: chatCalls(body), results: chatResults(body) });

/** By the name of the dialect. */
export const dialectTurns: Readonly<Record<string, DialectTurns>> = {
  'openai-chat': {
    response: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'recorded',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            reasoning: thought,
            reasoning_details: [
              {
                type: 'reasoning.text',
                text: thought,
                signature: 'Y2hhdC1zaWduYXR1cmU=',
                format: 'MiniMax-response-v1',
                index: 0,
              },
              { type: 'reasoning.encrypted', data: 'Y2hhdC1lbmNyeXB0ZWQ=', format: 'MiniMax-response-v1', index: 1 },
            ],
            tool_calls: cities.map((city) => ({
              id: `call_${city}`,
              type: 'function',
              function: { name: 'get_weather', arguments: inText(city) },
            })),
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 },
    },
    opaque: ['Y2hhdC1zaWduYXR1cmU=', 'Y2hhdC1lbmNyeXB0ZWQ='],
    takesBack: false,
    read: readChat,
  },
  'anthropic-messages': {
    response: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'recorded',
      content: [
        { type: 'thinking', thinking: thought, signature: 'YW50aHJvcGljLXNpZ25hdHVyZQ==' },
        { type: 'redacted_thinking', data: 'YW50aHJvcGljLXJlZGFjdGVk' },
        ...cities.map((city) => ({ type: 'tool_use', id: `toolu_${city}`, name: 'get_weather', input: { city } })),
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: 20 },
    },
    opaque: ['YW50aHJvcGljLXNpZ25hdHVyZQ==', 'YW50aHJvcGljLXJlZGFjdGVk'],
    takesBack: true,
    read(body) {
      const blocks = body.messages.flatMap(({ content }: Json) => (Array.isArray(content) ? content : []));
      return {
        calls: blocks
          .filter(({ type }: Json) => type === 'tool_use')
          .map(({ id, name, input }: Json) => ({ id, name, arguments: input })),
        results: blocks
          .filter(({ type }: Json) => type === 'tool_result')
          .map(({ tool_use_id: id, content }: Json) => ({ id, text: textOf(content) })),
      };
    },
  },
  'google-generate-content': {
    response: {
      candidates: [
        {
          index: 0,
          content: {
            role: 'model',
            parts: [
              { text: thought, thought: true },
              {
                functionCall: { name: 'get_weather', args: { city: 'Paris' } },
                thoughtSignature: 'Z29vZ2xlLXNpZ25hdHVyZQ==',
              },
              { functionCall: { name: 'get_weather', args: { city: 'Rome' } } },
            ],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 12, thoughtsTokenCount: 8, totalTokenCount: 30 },
      modelVersion: 'recorded',
      responseId: 'response-1',
    },
    opaque: ['Z29vZ2xlLXNpZ25hdHVyZQ=='],
    takesBack: true,
    read(body) {
      const parts = body.contents.flatMap((content: Json) => content.parts);
      const calls = parts.flatMap(({ functionCall: call }: Json) => call ?? []);
      const results = parts.flatMap(({ functionResponse: result }: Json) => result ?? []);
      return {
        calls: calls.map(({ id = '', name, args }: Json) => ({ id, name, arguments: args })),
        results: results.map(({ id, name, response }: Json) => ({ id: id ?? name, text: JSON.stringify(response) })),
      };
    },
  },
  'bedrock-converse': {
    response: {
      output: {
        message: {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: thought, signature: 'YmVkcm9jay1zaWduYXR1cmU=' } } },
            { reasoningContent: { redactedContent: 'YmVkcm9jay1yZWRhY3RlZA==' } },
            ...cities.map((city) => ({
              toolUse: { toolUseId: `tooluse_${city}`, name: 'get_weather', input: { city } },
            })),
          ],
        },
      },
      stopReason: 'tool_use',
      usage: { inputTokens: 10, outputTokens: 20, totalTokens: 30 },
      metrics: { latencyMs: 1 },
    },
    opaque: ['YmVkcm9jay1zaWduYXR1cmU=', 'YmVkcm9jay1yZWRhY3RlZA=='],
    takesBack: true,
    read(body) {
      const blocks = body.messages.flatMap(({ content }: Json) => content);
      return {
        calls: blocks
          .flatMap(({ toolUse }: Json) => toolUse ?? [])
          .map(({ toolUseId: id, name, input }: Json) => ({ id, name, arguments: input })),
        results: blocks
          .flatMap(({ toolResult }: Json) => toolResult ?? [])
          .map(({ toolUseId: id, content }: Json) => ({ id, text: textOf(content) })),
      };
    },
  },
  'cohere-chat': {
    response: {
      id: 'response-1',
      finish_reason: 'TOOL_CALL',
      message: {
        role: 'assistant',
        tool_plan: thought,
        tool_calls: cities.map((city) => ({
          id: `get_weather_${city}`,
          type: 'function',
          function: { name: 'get_weather', arguments: inText(city) },
        })),
      },
      usage: {
        billed_units: { input_tokens: 10, output_tokens: 20 },
        tokens: { input_tokens: 10, output_tokens: 20 },
      },
    },
    opaque: [],
    takesBack: true,
    read: (body) => ({
      calls: chatCalls(body),
      results: body.messages
        .filter(({ role }: Json) => role === 'tool')
        .map(({ tool_call_id: id, content }: Json) => ({ id, text: JSON.stringify(content) })),
    }),
  },
  'openai-responses': {
    response: {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'recorded',
      output: [
        {
          type: 'reasoning',
          id: 'rs_0a1b2c',
          summary: [{ type: 'summary_text', text: thought }],
          encrypted_content: 'cmVzcG9uc2VzLWVuY3J5cHRlZA==',
        },
        ...cities.map((city) => ({
          type: 'function_call',
          id: `fc_${city}`,
          call_id: `call_${city}`,
          name: 'get_weather',
          arguments: inText(city),
          status: 'completed',
        })),
      ],
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 8 },
        total_tokens: 30,
      },
    },
    opaque: ['cmVzcG9uc2VzLWVuY3J5cHRlZA==', 'rs_0a1b2c'],
    takesBack: true,
    read(body) {
      const ofType = (wanted: string) => body.input.filter(({ type }: Json) => type === wanted);
      return {
        calls: ofType('function_call').map(({ call_id: id, name, arguments: given }: Json) => ({
          id,
          name,
          arguments: JSON.parse(given),
        })),
        results: ofType('function_call_output').map(({ call_id: id, output }: Json) => ({ id, text: textOf(output) })),
      };
    },
  },
  'ai-sdk': {
    response: {
      content: [
        { type: 'reasoning', text: thought, providerMetadata: { acme: { signature: 'YWktc2RrLXNpZ25hdHVyZQ==' } } },
        ...cities.map((city) => ({
          type: 'tool-call',
          toolCallId: `call_${city}`,
          toolName: 'get_weather',
          input: inText(city),
        })),
      ],
      finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
      usage: { inputTokens: { total: 10 }, outputTokens: { total: 20 } },
      warnings: [],
    },
    opaque: ['YWktc2RrLXNpZ25hdHVyZQ=='],
    takesBack: true,
    read(body) {
      const parts = body.prompt.flatMap(({ content }: Json) => (Array.isArray(content) ? content : []));
      return {
        calls: parts
          .filter(({ type }: Json) => type === 'tool-call')
          .map(({ toolCallId: id, toolName: name, input }: Json) => ({ id, name, arguments: input })),
        results: parts
          .filter(({ type }: Json) => type === 'tool-result')
          .map(({ toolCallId: id, output }: Json) => ({ id, text: JSON.stringify(output) })),
      };
    },
  },
};
