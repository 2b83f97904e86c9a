/** An expression in a config file, such as `process.env.OPENAI_API_KEY`. */
export class Source {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value to write to a config file: plain values, and expressions. Undefined members are left out. */
export type Written =
  | string
  | number
  | boolean
  | null
  | undefined
  | Source
  | readonly Written[]
  | { readonly [name: string]: Written };

/** A variable's value. An empty variable counts as one that is not set. */
export function variable(name: string): Source {
  return new Source(`process.env.${checkedName(name)} || undefined`);
}

/** The value of a required variable: without it, the gateway reports at its start that it is missing. */
export function requiredVariable(name: string): Source {
  return new Source(`process.env.${checkedName(name)}`);
}

/** Checks a name, which becomes part of a program. */
function checkedName(name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name)) return name;
  throw new TypeError('expected the name of an environment variable');
}

const lineWidth = 110;

/** JavaScript that makes a value: on one line where it fits, else a member or an item on each. */
export function sourceOf(value: Written, indent = ''): string {
  const short = oneLine(value);
  if (indent.length + short.length <= lineWidth && !/\n/.test(short)) return short;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = (value as readonly Written[]).map((item) => `${inner}${sourceOf(item, inner)},\n`);
    return `[\n${items.join('')}${indent}]`;
  }
  if (!isMembers(value)) return short;
  const lines = membersOf(value).map(([name, member]) => `${inner}${nameOf(name)}: ${sourceOf(member, inner)},\n`);
  return `{\n${lines.join('')}${indent}}`;
}

function oneLine(value: Written): string {
  if (value instanceof Source) return value.text;
  if (Array.isArray(value)) return `[${(value as readonly Written[]).map(oneLine).join(', ')}]`;
  if (isMembers(value)) {
    const members = membersOf(value).map(([name, member]) => `${nameOf(name)}: ${oneLine(member)}`);
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
  }
  return typeof value === 'string' ? quoted(value) : String(value);
}

function isMembers(value: Written): value is { readonly [name: string]: Written } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Source);
}

function membersOf(value: { readonly [name: string]: Written }): [string, Written][] {
  return Object.entries(value).filter(([, member]) => member !== undefined);
}

/** `__proto__` in brackets is a name like any other. */
function nameOf(name: string): string {
  if (name === '__proto__') return "['__proto__']";
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
}

/** JSON escapes all that would end a string; the two separators of lines it leaves as they are. */
function quoted(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inner.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`;
}

/**
 * A line of a file of environment variables, as Node reads it.
 * @returns null: no kind of quotes can hold the value
 */
export function envLine(name: string, value: string): string | null {
  if (/^[\w+/=.:@-]*$/.test(value)) return `${checkedName(name)}=${value}\n`;
  // In double quotes, `\n` is a line end.
  const quote = ["'", '`', '"'].find((one) => !value.includes(one) && (one !== '"' || !value.includes('\\')));
  if (quote === undefined || value.includes('\r') || value.includes('\0')) return null;
  return `${checkedName(name)}=${quote}${value}${quote}\n`;
}
