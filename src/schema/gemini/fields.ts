import { isObject, type Loose } from '../../base/values.ts';

/** Returns a field of Google's, which may be written `systemInstruction` or `system_instruction`; undefined: no value. */
export function fieldOf(from: unknown, name: string): unknown {
  if (!isObject(from)) return undefined;
  return from[name] ?? from[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] ?? undefined;
}

/** Returns the name of a field of Google's, which may be written with underscores: `top_p` is `topP`. */
export function camelName(name: string): string {
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
