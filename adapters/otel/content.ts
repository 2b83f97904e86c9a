import type { CallContent } from '../../src/index.ts';
import type { OtelAttributes } from './api.ts';

/** A part in the form of the conventions' JSON schemas. */
type Part = { type: string } & Record<string, unknown>;

interface Message {
  role: string;
  parts: Part[];
  finish_reason?: string;
}

/**
 * The prompt and the response, as JSON texts. A text that is longer than `maxChars` is left out, and
 * `gateway.content.truncated` says so.
 */
export function contentAttributes(content: CallContent, finishReason: string | null, maxChars: number): OtelAttributes {
  const input = JSON.stringify(content.messages.map(messageOf));
  const output = JSON.stringify([responseOf(content, finishReason)]);
  return {
    ...(input.length <= maxChars && { 'gen_ai.input.messages': input }),
    ...(output.length <= maxChars && { 'gen_ai.output.messages': output }),
    ...((input.length > maxChars || output.length > maxChars) && { 'gateway.content.truncated': true }),
  };
}

function responseOf({ completion, reasoning, toolCalls }: CallContent, finishReason: string | null): Message {
  const parts = [
    ...(reasoning === null ? [] : [{ type: 'reasoning', content: reasoning }]),
    ...(completion === null ? [] : [{ type: 'text', content: completion }]),
    ...toolCalls.map(toolCallPart),
  ];
  return { role: 'assistant', parts, finish_reason: finishReason ?? 'error' };
}

function messageOf(message: unknown): Message {
  const { role, content, reasoning, tool_calls, tool_call_id } = message as Record<string, unknown>;
  if (role === 'tool')
    return { role, parts: [{ type: 'tool_call_response', id: tool_call_id ?? null, response: content ?? null }] };
  const parts = [
    ...(typeof reasoning === 'string' ? [{ type: 'reasoning', content: reasoning }] : []),
    ...(typeof content === 'string' ? [{ type: 'text', content }] : []),
    ...(Array.isArray(content) ? content.map(contentPart) : []),
    ...(Array.isArray(tool_calls) ? tool_calls.map(toolCallPart) : []),
  ];
  return { role: String(role), parts };
}

function toolCallPart(call: unknown): Part {
  const { id, function: called } = call as { id?: unknown; function?: { name?: unknown; arguments?: unknown } };
  return { type: 'tool_call', id: id ?? null, name: called?.name ?? '', arguments: called?.arguments ?? null };
}

function contentPart(part: unknown): Part {
  const { type, text, image_url, file, input_audio, video_url } = part as Record<string, Record<string, unknown>>;
  if ((type as unknown) === 'text') return { type: 'text', content: text };
  if (image_url) return mediaPart('image', image_url.url);
  if (video_url) return mediaPart('video', video_url.url);
  if (file) return mediaPart('document', file.file_data ?? file.file_id ?? file.filename);
  if (input_audio)
    return { type: 'blob', modality: 'audio', mime_type: `audio/${input_audio.format}`, content: input_audio.data };
  return { type: String(type) };
}

/** A data URL holds the bytes themselves. */
function mediaPart(modality: string, source: unknown): Part {
  const url = typeof source === 'string' ? source : '';
  const data = /^data:([^;,]*);base64,/i.exec(url);
  if (data) return { type: 'blob', modality, mime_type: data[1], content: url.slice(data[0].length) };
  return { type: 'uri', modality, uri: url };
}
