/** What a validator has read in a body, and what it finds wrong there. */
export interface Seen {
  faults: string[];
  calls: (Tool & { id: string; input: string })[];
  results: { id: string; text: string }[];
  /** The tools that the model is offered, and those among them that a choice names. */
  tools: Tool[];
  chosen: Tool[];
}

/** A tool by its name, and that of its group where the wire format has groups. */
export interface Tool {
  name: string;
  namespace?: string;
}

export type Json = Record<string, unknown>;
export type Validator = (body: string) => Seen;

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Gathers what is wrong, each with its place. */
export function sheet(): Seen & { check(isRight: boolean, fault: string): void } {
  const faults: string[] = [];
  return {
    faults,
    calls: [],
    results: [],
    tools: [],
    chosen: [],
    check: (isRight, fault) => void (isRight || faults.push(fault)),
  };
}

/** Notes a tool that is offered: its name has the form, and no other tool has it. */
export function offer(seen: ReturnType<typeof sheet>, tool: Tool, form: RegExp): void {
  const { name, namespace } = tool;
  seen.check(form.test(name), `tools: name ${name}`);
  seen.check(namespace === undefined || form.test(namespace), `tools: namespace ${namespace}`);
  seen.check(!seen.tools.some((one) => isSameTool(one, tool)), `tools: ${namespace ?? ''} ${name} twice`);
  seen.tools.push(tool);
}

/** Notes a tool that a choice names: it is offered. */
export function choose(seen: ReturnType<typeof sheet>, tool: Tool): void {
  seen.check(
    seen.tools.some((one) => isSameTool(one, tool)),
    `tool_choice: ${tool.namespace ?? ''} ${tool.name} is no tool`,
  );
  seen.chosen.push(tool);
}

function isSameTool(one: Tool, other: Tool): boolean {
  return one.name === other.name && one.namespace === other.namespace;
}

/** The media types of pictures that the providers name in their documents. */
export const pictures: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

export function typeOfDataUrl(url: unknown): string {
  return /^data:([^;,]*)/.exec(String(url))?.[1] ?? '';
}

/** Whether a text is a JSON object. */
export function isObjectText(text: unknown): boolean {
  try {
    return isObject(JSON.parse(String(text)));
  } catch {
    return false;
  }
}

/**
 * "schema must be a JSON Schema of 'type: "object"'", "object schema missing properties", "array schema missing items",
 * "None is not of type 'array'".
 */
export function checkSchema(schema: unknown, path: string, check: (isRight: boolean, fault: string) => void): void {
  check(isObject(schema) && schema.type === 'object', `${path}: not of type object`);
  check(isObject(schema) && isObject(schema.properties), `${path}: object schema missing properties`);
  const pending: unknown[] = [schema];
  for (const one of pending) {
    if (Array.isArray(one)) pending.push(...one);
    if (!isObject(one)) continue;
    check(one.type !== 'array' || isObject(one.items), `${path}: array schema missing items`);
    check(one.required === undefined || Array.isArray(one.required), `${path}: required is no list`);
    pending.push(...Object.values(one));
  }
}

/** Texts at which a response stops: a list of one at least, each with a character, or with one that is seen. */
export function checkStops(stops: unknown, isSeen: boolean, check: (isRight: boolean, fault: string) => void): void {
  if (stops === undefined) return;
  const texts = typeof stops === 'string' ? [stops] : (stops as string[]);
  check(texts.length > 0, 'stop: empty');
  for (const text of texts) check((isSeen ? text.trim() : text) !== '', `stop: ${JSON.stringify(text)}`);
}
