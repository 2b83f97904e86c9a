import { describe, expectTypeOf, it } from 'vitest';
import type {
  AssistantMessage,
  ChatMessage,
  ChatRequest,
  ChatResult,
  ChatTool,
  ContentPart,
  FinishReason,
  FunctionTool,
  ServerTool,
  ToolChoice,
  Usage,
  WebSearchTool,
} from '../../src/schema/chat/chat.ts';
import type { ChatChunk, ChunkDelta } from '../../src/schema/chat/chunk.ts';
import type { RouterAttempt, ServiceMetadata } from '../../src/schema/chat/envelope.ts';
import type { PluginRequest, pluginIds } from '../../src/schema/chat/plugins.ts';
import type { ProviderPreferences } from '../../src/schema/chat/preferences.ts';

// Checked by the compiler in `npm run check`; at run time these tests only say that they were there.
describe('schema types', () => {
  it('narrow a message by its role and a part by its type', () => {
    const read = (message: ChatMessage): string | undefined => {
      if (message.role === 'tool') return message.tool_call_id;
      if (message.role === 'assistant') return message.tool_calls?.[0]?.function.arguments;
      if (typeof message.content === 'string') return message.content;
      const [part] = message.content as ContentPart[];
      return part?.type === 'image_url' ? part.image_url.url : undefined;
    };
    expectTypeOf(read).returns.toEqualTypeOf<string | undefined>();
  });

  it('narrow a tool by its type', () => {
    expectTypeOf<Extract<ChatTool, { type: 'function' }>>().toEqualTypeOf<FunctionTool>();
    expectTypeOf<ServerTool['type']>().toEqualTypeOf<`${string}:${string}`>();
    const isFunction = (tool: ChatTool) => tool.type === 'function' && tool.function.name;
    expectTypeOf(isFunction).returns.toEqualTypeOf<string | false>();
    expectTypeOf<ChatTool>().toEqualTypeOf<FunctionTool | ServerTool | WebSearchTool>();
  });

  it('hold null where the contract says null, and nowhere else', () => {
    expectTypeOf<ChatRequest['temperature']>().toEqualTypeOf<number | null | undefined>();
    expectTypeOf<ChatRequest['stream']>().toEqualTypeOf<boolean | undefined>();
    expectTypeOf<ChatRequest['stop']>().toEqualTypeOf<string | string[] | null | undefined>();
    expectTypeOf<Extract<ChatRequest['provider'], null | undefined>>().toEqualTypeOf<null | undefined>();
    expectTypeOf<NonNullable<ChatRequest['provider']>>().toExtend<ProviderPreferences>();
    expectTypeOf<ChatRequest['messages'][number]>().toExtend<ChatMessage>();
    expectTypeOf<ChatChunk['system_fingerprint']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<ChatResult['system_fingerprint']>().toEqualTypeOf<string | null>();
    expectTypeOf<ChunkDelta['content']>().toEqualTypeOf<string | null | undefined>();
    expectTypeOf<Usage['cost']>().toEqualTypeOf<number | undefined>();
  });

  it('take unknown fields, as unknown', () => {
    expectTypeOf<ChatRequest['x_own']>().toEqualTypeOf<unknown>();
    expectTypeOf<AssistantMessage['x_own']>().toEqualTypeOf<unknown>();
  });

  it('are the closed sets of the contract', () => {
    expectTypeOf<FinishReason>().toEqualTypeOf<'stop' | 'length' | 'tool_calls' | 'content_filter' | 'error'>();
    expectTypeOf<PluginRequest['id']>().toEqualTypeOf<(typeof pluginIds)[number]>();
    expectTypeOf<Extract<ToolChoice, string>>().toEqualTypeOf<'none' | 'auto' | 'required'>();
    expectTypeOf<RouterAttempt['status']>().toEqualTypeOf<number>();
    expectTypeOf<ServiceMetadata['region']>().toEqualTypeOf<string | null>();
  });
});
