import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { describe, expect, it } from 'vitest';
import { bedrockConverse } from '../../../../src/dialects/bedrock-converse/index.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';

type Json = Record<string, unknown>;
type CallOptions = Parameters<ReturnType<ReturnType<typeof createAmazonBedrock>>['doGenerate']>[0];

const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const nova = 'us.amazon.nova-pro-v1:0';

/** What the AI SDK sends for a call. */
async function sentBySdk(model: string, options: CallOptions): Promise<{ url: string; body: Json }> {
  let sent = { url: '', body: {} as Json };
  const answer = {
    output: { message: { role: 'assistant', content: [{ text: 'x' }] } },
    stopReason: 'end_turn',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  };
  const bedrock = createAmazonBedrock({
    region: 'us-east-1',
    apiKey: 'a key of the tests',
    fetch: async (url, init) => {
      sent = { url: String(url), body: JSON.parse(String(init?.body)) };
      return Response.json(answer);
    },
  });
  await bedrock(model).doGenerate(options);
  return sent;
}

function sentByUs(upstreamModel: string, request: ChatRequest) {
  return bedrockConverse.encodeRequest({ request, upstreamModel, quirks: {} });
}

const look = {
  name: 'look',
  description: 'Looks.',
  schema: {
    type: 'object' as const,
    properties: { q: { type: 'integer' as const } },
    required: ['q'],
    additionalProperties: false,
  },
};
const person = {
  type: 'object' as const,
  properties: { name: { type: 'string' as const } },
  required: ['name'],
  additionalProperties: false,
};
const sdkTool = { type: 'function' as const, name: look.name, description: look.description, inputSchema: look.schema };
const ourTool = {
  type: 'function' as const,
  function: { name: look.name, description: look.description, parameters: look.schema },
};
const hi = {
  sdk: { role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] },
  ours: { role: 'user' as const, content: 'Hi' },
};

describe('beside the AI SDK', () => {
  it('a conversation with files, a thought, a call and its result is the same', async () => {
    const { url, body } = await sentBySdk(claude, {
      prompt: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Compare.' },
            { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'iVBORw0KGgo=' } },
            { type: 'file', mediaType: 'application/pdf', filename: 'a.pdf', data: { type: 'data', data: 'JVBERi0=' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Hm.', providerOptions: { bedrock: { signature: 'c2ln' } } },
            { type: 'text', text: 'I look.' },
            { type: 'tool-call', toolCallId: 'call_1', toolName: 'look', input: { q: 1 } },
          ],
        },
        {
          role: 'tool',
          content: [
            { type: 'tool-result', toolCallId: 'call_1', toolName: 'look', output: { type: 'text', value: 'found' } },
          ],
        },
        { role: 'user', content: [{ type: 'text', text: 'And now?' }] },
      ],
      tools: [sdkTool],
      toolChoice: { type: 'auto' },
      maxOutputTokens: 4000,
      temperature: 0.5,
      topK: 5,
      stopSequences: ['END'],
    });
    const ours = sentByUs(claude, {
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Compare.' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
          ],
        },
        {
          role: 'assistant',
          content: 'I look.',
          reasoning_details: [
            { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format: 'anthropic-claude-v1' },
          ],
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"q":1}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'found' },
        { role: 'user', content: 'And now?' },
      ],
      tools: [ourTool],
      tool_choice: 'auto',
      max_tokens: 4000,
      temperature: 0.5,
      top_k: 5,
      stop: ['END'],
    });
    expect(url.endsWith(ours.path)).toBe(true);
    const { topK, ...inferenceConfig } = body.inferenceConfig as Json;
    const { toolChoice, ...toolConfig } = body.toolConfig as Json;
    const { additionalModelResponseFieldPaths: paths, ...rest } = body;
    // Converse has no topK of its own: it is a field of the model, and ours stands there.
    expect([topK, ours.payload.additionalModelRequestFields]).toEqual([5, { top_k: 5 }]);
    // "auto" is what Converse does without a choice.
    expect(toolChoice).toEqual({ auto: {} });
    // It asks which text ended the response; our wire has no word for it.
    expect(paths).toEqual(['/delta/stop_sequence']);
    expect(ours.payload).toEqual({
      ...rest,
      inferenceConfig,
      toolConfig,
      additionalModelRequestFields: { top_k: 5 },
    });
  });

  it('a budget is part of the largest output, where the SDK adds it', async () => {
    const { body } = await sentBySdk(claude, {
      prompt: [hi.sdk],
      maxOutputTokens: 4000,
      providerOptions: { bedrock: { reasoningConfig: { type: 'enabled', budgetTokens: 2000 } } },
    });
    const { payload } = sentByUs(claude, { messages: [hi.ours], max_tokens: 4000, reasoning: { max_tokens: 2000 } });
    expect(payload.additionalModelRequestFields).toEqual(body.additionalModelRequestFields);
    // Ours never exceeds what the caller allowed, since no more money was held.
    expect([payload.inferenceConfig, body.inferenceConfig]).toEqual([{ maxTokens: 4000 }, { maxTokens: 6000 }]);
  });

  it('a tool that must be called is the same, but that the SDK leaves out the others', async () => {
    const other = { ...sdkTool, name: 'see' };
    const { body } = await sentBySdk(claude, {
      prompt: [hi.sdk],
      tools: [sdkTool, other],
      toolChoice: { type: 'tool', toolName: 'look' },
    });
    const { payload } = sentByUs(claude, {
      messages: [hi.ours],
      tools: [ourTool, { ...ourTool, function: { ...ourTool.function, name: 'see' } }],
      tool_choice: { type: 'function', function: { name: 'look' } },
    });
    const [theirs, ours] = [body.toolConfig, payload.toolConfig] as { tools: Json[]; toolChoice: Json }[];
    expect(ours?.toolChoice).toEqual(theirs?.toolChoice);
    // The list stays the same from turn to turn, so that the prompt cache does.
    expect([theirs?.tools.length, ours?.tools.length]).toEqual([1, 2]);
    expect(ours?.tools[0]).toEqual(theirs?.tools[0]);
  });

  it('a schema is native of Claude, in the field of Converse rather than that of the model', async () => {
    const { body } = await sentBySdk(claude, {
      prompt: [hi.sdk],
      responseFormat: { type: 'json', schema: person, name: 'p' },
    });
    const { payload, structuredOutput } = sentByUs(claude, {
      messages: [hi.ours],
      response_format: { type: 'json_schema', json_schema: { name: 'p', schema: person } },
    });
    expect(structuredOutput).toBe('native');
    const { format } = (body.additionalModelRequestFields as { output_config: { format: Json } }).output_config;
    const { jsonSchema } = (payload.outputConfig as { textFormat: { structure: { jsonSchema: { schema: string } } } })
      .textFormat.structure;
    expect(JSON.parse(jsonSchema.schema)).toEqual(format.schema);
  });

  it('a schema is a tool of Nova, which we name outright, where the SDK asks for any tool', async () => {
    const { body } = await sentBySdk(nova, {
      prompt: [hi.sdk],
      responseFormat: { type: 'json', schema: person, name: 'p' },
    });
    const { payload } = sentByUs(nova, {
      messages: [hi.ours],
      response_format: { type: 'json_schema', json_schema: { name: 'p', schema: person } },
    });
    const spec = (config: unknown) => (config as { tools: { toolSpec: Json }[] }).tools[0]?.toolSpec;
    expect(spec(payload.toolConfig)?.inputSchema).toEqual(spec(body.toolConfig)?.inputSchema);
    // The name of the tool is a matter of taste.
    expect([spec(payload.toolConfig)?.name, spec(body.toolConfig)?.name]).toEqual(['structured_output', 'json']);
    expect([payload.toolConfig, body.toolConfig]).toMatchObject([
      { toolChoice: { tool: { name: 'structured_output' } } },
      { toolChoice: { any: {} } },
    ]);
  });

  it('earlier calls without tools are text of ours, where the SDK drops them', async () => {
    const { body } = await sentBySdk(claude, {
      prompt: [
        hi.sdk,
        { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'look', input: {} }] },
        {
          role: 'tool',
          content: [
            { type: 'tool-result', toolCallId: 'a', toolName: 'look', output: { type: 'text', value: 'found' } },
          ],
        },
      ],
    });
    const { payload } = sentByUs(claude, {
      messages: [
        hi.ours,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'found' },
      ],
    });
    expect(JSON.stringify(body.messages)).not.toContain('found');
    expect(JSON.stringify(payload.messages)).toContain('[Result of the tool look: found]');
    for (const sent of [body, payload]) expect(JSON.stringify(sent)).not.toMatch(/toolUse|toolResult|toolConfig/);
  });
});
