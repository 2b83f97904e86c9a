import { isObject, type Loose } from '../../base/values.ts';

/** The names that the gateway reads, as they are written with underscores. A client's own names never come here. */
const snakeNames = new Map<string, string>();

function snakeName(name: string): string {
  let snake = snakeNames.get(name);
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    snakeNames.set(name, snake);
  }
  return snake;
}

/**
 * Returns a field of Google's, which may be written `systemInstruction` or `system_instruction`; undefined: no value.
 * @param name  one of the interface, never a text of a client
 */
export function fieldOf(from: unknown, name: string): unknown {
  if (!isObject(from)) return undefined;
  return from[name] ?? from[snakeName(name)] ?? undefined;
}

/** Returns the name of a field of Google's, which may be written with underscores: `top_p` is `topP`. */
export function camelName(name: string): string {
  if (!name.includes('_')) return name;
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns a field that is an object; null: it is absent, or something else. */
export function objectOf(from: unknown, name: string): Loose | null {
  const value = fieldOf(from, name);
  return isObject(value) ? value : null;
}

/** Returns a field that is a text; null: it is absent, or something else. */
export function textOf(from: unknown, name: string): string | null {
  const value = fieldOf(from, name);
  return typeof value === 'string' ? value : null;
}

/** Returns a field that is a list; `[]`: it is absent, or something else. */
export function listOf(from: unknown, name: string): readonly unknown[] {
  const value = fieldOf(from, name);
  return Array.isArray(value) ? value : [];
}

/** Returns a field that is a number. Google's JSON allows large integers as texts. */
export function numberOf(from: unknown, name: string): number | undefined {
  const value = fieldOf(from, name);
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : undefined;
}
