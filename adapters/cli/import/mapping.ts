/** A mapping of a config file. */
export type Mapping = Readonly<Record<string, unknown>>;

export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** A member of its own; undefined where it is absent, or null, which YAML writes for nothing. */
export function memberOf(mapping: Mapping, name: string): unknown {
  return Object.hasOwn(mapping, name) ? (mapping[name] ?? undefined) : undefined;
}

export function mappingOf(mapping: Mapping, name: string): Mapping {
  const member = memberOf(mapping, name);
  return isMapping(member) ? member : {};
}

export function textOf(mapping: Mapping, name: string): string | undefined {
  const member = memberOf(mapping, name);
  return typeof member === 'string' && member !== '' ? member : undefined;
}

/** A number, also one that YAML reads as text, such as `1e-6`. */
export function numberOf(mapping: Mapping, name: string): number | undefined {
  const member = memberOf(mapping, name);
  if (typeof member === 'bigint') return Number(member);
  const number = typeof member === 'string' && member.trim() !== '' ? Number(member) : member;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** A whole number of at least 1. */
export function wholeOf(mapping: Mapping, name: string): number | undefined {
  const number = numberOf(mapping, name);
  return number !== undefined && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

export function flagOf(mapping: Mapping, name: string): boolean | undefined {
  const member = memberOf(mapping, name);
  return typeof member === 'boolean' ? member : undefined;
}

export function listOf(mapping: Mapping, name: string): readonly unknown[] {
  const member = memberOf(mapping, name);
  return Array.isArray(member) ? member : [];
}

export function textsOf(mapping: Mapping, name: string): string[] {
  return listOf(mapping, name).filter((one) => typeof one === 'string');
}

/** Reads a path of members, such as `export.otlp.traces`. */
export function mappingAt(mapping: Mapping, path: string): Mapping {
  return path.split('.').reduce(mappingOf, mapping);
}

/** A price as a decimal without an exponent. */
export function decimal(value: number): string {
  return value.toFixed(15).replace(/\.?0+$/, '');
}
