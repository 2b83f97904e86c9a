import { fieldRow } from '../schema/chat/fields.ts';

/** Fields of a message, a content part and a tool that cost no more than their text and their media. */
const messageFields: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'refusal',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'annotations',
  'images',
  'audio',
  'cache_control',
  'prefix',
  'partial',
  'id',
  'type',
  'status',
  'citations',
  'thinking',
  'thinking_blocks',
  'tool_name',
  'tool_plan',
  'is_error',
]);
const partFields: ReadonlySet<string> = new Set([
  'type',
  'text',
  'image_url',
  'input_audio',
  'video_url',
  'file',
  'cache_control',
  'annotations',
  'title',
  'context',
  'citations',
  'index',
  'id',
  'fps',
  'min_pixels',
  'max_pixels',
  'total_pixels',
  'uuid',
]);

/** Tells whether a field of the request asks the provider to search the web. */
export function asksForSearch(name: string, value: unknown): boolean {
  if (!value) return false;
  const row = fieldRow(name);
  if (row?.role !== 'search') return false;
  const { searchesBy: word } = row;
  return word === undefined || Object.keys(value).some((key) => key.includes(word));
}

/** Tells whether the model may read the field as text of the prompt: also a field that nobody here knows. */
export function mayBeText(name: string): boolean {
  const role = fieldRow(name)?.role;
  return role === undefined || role === 'text' || role === 'search';
}

/**
 * The field, or its inner field, whose cost is unknown.
 * @param name  of a field that may be text
 * @returns null: the field costs no more than is held for its text, or for searches
 */
export function unknownField(name: string, value: unknown): string | null {
  const row = fieldRow(name);
  if (row === null) return name;
  const { inner } = row;
  if (inner === undefined || typeof value !== 'object' || value === null) return null;
  const further = Object.keys(value).find((key) => !inner.includes(key));
  return further === undefined ? null : `${name}.${further}`;
}

/** Does the same for a field of a message. */
export function unknownMessageField(name: string): string | null {
  return messageFields.has(name) ? null : `messages[].${name}`;
}

/** Does the same for a field of a content part. */
export function unknownPartField(name: string): string | null {
  return partFields.has(name) ? null : `messages[].content[].${name}`;
}
