import { listOrOne, type Schema } from './merge-schema.ts';
import { samplePattern } from './pattern.ts';

/** The schema needs a value that the sandbox cannot make; the message names the place and the reason. */
export class SampleError extends Error {}

/** The values of strings by their `format`. */
const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'P1D',
  email: 'sandbox@example.com',
  hostname: 'sandbox.example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://sandbox.example.com/',
  'uri-reference': '/sandbox',
  uuid: '00000000-0000-4000-8000-000000000000',
};

const maxStringLength = 10_000;

/** The first plain number within the limits. @throws SampleError */
export function sampleNumber(schema: Schema, integer: boolean, path: string): number {
  const step = typeof schema.multipleOf === 'number' && schema.multipleOf > 0 ? schema.multipleOf : integer ? 1 : null;
  const above = number(schema.exclusiveMinimum, -Infinity);
  const below = number(schema.exclusiveMaximum, Infinity);
  const min = number(schema.minimum, -Infinity);
  const max = number(schema.maximum, Infinity);
  const inRange = (value: number) =>
    value >= min && value <= max && value > above && value < below && (!integer || Number.isInteger(value));
  const low = Math.max(min, above);
  const high = Math.min(max, below);
  const candidates = [0, 1, low, high, low + 1, high - 1, (low + high) / 2];
  if (step !== null)
    for (const edge of [low, high])
      candidates.push(
        Math.ceil(edge / step) * step,
        (Math.floor(edge / step) + 1) * step,
        (Math.ceil(edge / step) - 1) * step,
      );
  // Integers that are multiples of a fraction, such as 0.5, are found among the candidates or not at all.
  const value = candidates.find(
    (candidate) =>
      Number.isFinite(candidate) && inRange(candidate) && (step === null || Number.isInteger(candidate / step)),
  );
  if (value === undefined) throw new SampleError(`${path}: no number between the limits was found`);
  return value === 0 ? 0 : value;
}

/** A text of the right length, pattern and format. @throws SampleError */
export function sampleString(schema: Schema, path: string): string {
  const min = number(schema.minLength, 0);
  const max = number(schema.maxLength, Infinity);
  const length = `${path}: no text with that length was found`;
  if (min > max || min > maxStringLength) throw new SampleError(length);
  if (typeof schema.pattern === 'string') {
    const text = samplePattern(schema.pattern, { min, max });
    if (text === null) throw new SampleError(`${path}: "pattern" is not supported`);
    return text;
  }
  const format = typeof schema.format === 'string' ? schema.format : '';
  const known = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (known !== undefined) {
    if (known.length < min || known.length > max) throw new SampleError(length);
    return known;
  }
  return 'sandbox'.padEnd(min, ' sandbox').slice(0, max);
}

/** Checks a value against the plain keywords beside it, and returns it. @throws SampleError */
export function check(schema: Schema, value: unknown, path: string): unknown {
  if (value === undefined || !fits(schema, value)) throw new SampleError(`${path}: no value fits`);
  return value;
}

/** Tells whether a value meets the keywords on its type and size. */
export function fits(schema: Schema, value: unknown): boolean {
  if (schema.const !== undefined && JSON.stringify(schema.const) !== JSON.stringify(value)) return false;
  if (Array.isArray(schema.enum)) {
    const wanted = JSON.stringify(value);
    if (!schema.enum.some((other) => JSON.stringify(other) === wanted)) return false;
  }
  if (typeof value === 'number') {
    if (value < number(schema.minimum, -Infinity) || value > number(schema.maximum, Infinity)) return false;
    if (typeof schema.multipleOf === 'number' && !Number.isInteger(value / schema.multipleOf)) return false;
    if (value <= number(schema.exclusiveMinimum, -Infinity) || value >= number(schema.exclusiveMaximum, Infinity))
      return false;
  }
  if (
    typeof value === 'string' &&
    (value.length < number(schema.minLength, 0) || value.length > number(schema.maxLength, Infinity))
  )
    return false;
  const types = listOrOne(schema.type);
  if (types.length === 0) return true;
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return types.includes(type) || (type === 'number' && types.includes('integer') && Number.isInteger(value));
}

export function number(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
