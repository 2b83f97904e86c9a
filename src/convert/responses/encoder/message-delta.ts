import { isObject } from '../../../base/values.ts';
import type { AssistantMessage } from '../../../schema/chat.ts';
import type { ChunkDelta } from '../../../schema/chunk.ts';

/** A complete message as one delta. */
export function deltaOf(message: AssistantMessage): ChunkDelta {
  const { content, tool_calls: calls, ...fields } = message;
  return {
    ...fields,
    content: textOf(content),
    ...(calls ? { tool_calls: calls.map((call, index) => ({ ...call, index })) } : {}),
  } as ChunkDelta;
}

function textOf(content: AssistantMessage['content']): string {
  if (!Array.isArray(content)) return (content as string | null | undefined) ?? '';
  return content.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}
