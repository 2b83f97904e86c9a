import { isObject, type Loose } from '../../base/values.ts';
import type { ResponseFormat } from '../../schema/chat.ts';
import type { StructuredOutput } from '../dialect.ts';
import { outputInstruction } from '../shared/structured-output.ts';
import type { ChatQuirks } from './quirks.ts';

/**
 * Asks for structured output as the provider takes it.
 * @param payload  the body; of a provider without schemas, its format and messages are changed
 * @returns how it is asked for; null: it is not
 */
export function encodeFormat({ jsonSchema }: ChatQuirks, payload: Loose): StructuredOutput | null {
  const format = payload.response_format as ResponseFormat | undefined;
  if (format === undefined || format.type === 'text') return null;
  if (format.type !== 'json_schema' || jsonSchema !== false) return 'native';
  payload.response_format = { type: 'json_object' };
  const messages = payload.messages as readonly unknown[];
  const instruction = { role: 'system', content: outputInstruction(format) };
  // Behind the caller's own instructions, which stay at the beginning: what is cached begins there.
  const at = messages.findIndex((message) => !isObject(message) || !isInstruction(message.role));
  payload.messages = messages.toSpliced(at < 0 ? messages.length : at, 0, instruction);
  return 'instruction';
}

function isInstruction(role: unknown): boolean {
  return role === 'system' || role === 'developer';
}
