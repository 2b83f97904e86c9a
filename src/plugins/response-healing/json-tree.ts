import { type Steps, spend } from './steps.ts';

/**
 * JSON as it was written: numbers keep their digits, and members that are written twice stay two. `raw` is a number,
 * `true`, `false` or `null`.
 */
export type JsonTree = JsonObject | JsonList | { kind: 'string'; text: string } | { kind: 'raw'; raw: string };

export interface JsonObject {
  kind: 'object';
  members: { name: string; value: JsonTree }[];
}

export interface JsonList {
  kind: 'list';
  items: JsonTree[];
}

/** The most depth of JSON that is read: reading deeper JSON could exhaust the stack. */
export const maxDepth = 200;

const stepsOfValue = 10;

/**
 * Returns the tree of text that is JSON. @throws OutOfSteps; SyntaxError where the text is none; RangeError: it is too
 * deep
 */
export function treeOf(json: string, steps: Steps): JsonTree {
  spend(steps, json.length / 2);
  JSON.parse(json);
  let at = 0;

  function skip(): void {
    while (json.charCodeAt(at) <= 32) at++;
  }
  function string(): string {
    const start = at++;
    while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
    at++;
    const said = json.slice(start + 1, at - 1);
    return said.includes('\\') ? JSON.parse(json.slice(start, at)) : said;
  }
  function value(depth: number): JsonTree {
    spend(steps, stepsOfValue);
    if (depth > maxDepth) throw new RangeError('The JSON is nested too deep');
    skip();
    const first = json[at];
    if (first === '"') return { kind: 'string', text: string() };
    if (first !== '{' && first !== '[') {
      const start = at;
      while (at < json.length && !',]} \n\r\t'.includes(json[at] as string)) at++;
      return { kind: 'raw', raw: json.slice(start, at) };
    }
    at++;
    const tree: JsonObject | JsonList = first === '{' ? { kind: 'object', members: [] } : { kind: 'list', items: [] };
    for (skip(); json[at] !== '}' && json[at] !== ']'; skip()) {
      if (json[at] === ',') at++;
      else if (tree.kind === 'list') tree.items.push(value(depth + 1));
      else {
        const name = string();
        skip();
        at++;
        tree.members.push({ name, value: value(depth + 1) });
      }
    }
    at++;
    return tree;
  }
  return value(0);
}

/** Writes the tree as compact JSON. */
export function writeTree(tree: JsonTree): string {
  if (tree.kind === 'raw') return tree.raw;
  if (tree.kind === 'string') return JSON.stringify(tree.text);
  if (tree.kind === 'list') return `[${tree.items.map(writeTree).join(',')}]`;
  return `{${tree.members.map(({ name, value }) => `${JSON.stringify(name)}:${writeTree(value)}`).join(',')}}`;
}
