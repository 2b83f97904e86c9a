import { parseExact, RawJson } from '../../base/exact-json.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import { JsonError } from '../../base/json.ts';
import { cleanText } from '../../base/text/clean-text.ts';
import { isObject, type Loose } from '../../base/values.ts';

/** Fields that only the gateway sets in a response or event: a provider must not speak in its name. */
export const ours: readonly string[] = ['error', 'provider', 'service_metadata', 'debug', 'user_id'];

export function badResponse(message: string, providerCode?: string): UpstreamError {
  return new UpstreamError(message, { reason: 'bad_response', status: 502, providerCode });
}

/** The error of a response whose reason for its end says that the provider has broken it off. */
export function brokenOff(native: string | null): UpstreamError {
  const word = native === null ? null : cleanText(native, 80);
  return badResponse(`The provider broke off its response (${word}).`, word ?? undefined);
}

/** Text of a content field: a string, or the text parts of a list. */
export function contentText(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  let text = '';
  for (const part of content) if (isObject(part) && typeof part.text === 'string') text += part.text;
  return text;
}

/** Returns the arguments of a call as text: a provider may send an object. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof RawJson) return value.text;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}

/** Arguments that nest deeper are shown to the model as a text. */
const deepestArguments = 64;

/**
 * The arguments of a call for a provider that takes an object, with the digits of their numbers. Arguments that are none,
 * since the model broke off, are kept as a text in one.
 * @param key  of that text
 */
export function argumentsObject(text: string, key = 'arguments'): Loose | RawJson {
  if (text.trim() === '') return {};
  try {
    const read = parseExact(text, deepestArguments);
    if (read !== null) return read;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  return { [key]: text };
}

/** The fields in which providers send arguments as an object. */
export const argumentFields: ReadonlySet<string> = new Set(['arguments', 'args', 'input']);

/** The ids of the tool calls of one response. */
export interface ToolCallIds {
  /** Notes the provider's own id, and returns it; null for what is none, or was made for another call. */
  take(id: unknown): string | null;
  /** Makes an id for a call that came without one: `call_<n>`, n being its position or the next number that is free. */
  make(position: number): string;
}

export function toolCallIds(): ToolCallIds {
  const taken = new Set<string>();
  const made = new Set<string>();
  /** Numbers to go on with behind those that were found taken: a provider may take thousands in a row. */
  let after: Map<number, number> | null = null;
  return {
    take(id) {
      if (typeof id !== 'string' || id === '' || made.has(id)) return null;
      taken.add(id);
      return id;
    },
    make(position) {
      let number = position;
      const passed: number[] = [];
      while (taken.has(`call_${number}`)) {
        passed.push(number);
        number = after?.get(number) ?? number + 1;
      }
      taken.add(`call_${number}`);
      made.add(`call_${number}`);
      if (passed.length > 0) after ??= new Map();
      for (const one of passed) after?.set(one, number + 1);
      return `call_${number}`;
    },
  };
}

/** The schema of a function that takes no arguments. */
export const noArguments: Loose = { type: 'object', properties: {} };
