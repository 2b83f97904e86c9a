import { isObject, type Loose } from '../../base/values.ts';
import { camelName } from './fields.ts';

/**
 * Returns a request whose lists are lists: Google takes a single object in the place of a list, and its own examples write
 * `"contents": {"parts": {"text": "…"}}`. A request that has lists is the very same.
 */
export function withLists(body: unknown): unknown {
  return withFields(body, (name, value) => {
    switch (camelName(name)) {
      case 'contents':
        return each(listed(value), withParts);
      case 'systemInstruction':
        return withParts(value);
      case 'tools':
        return each(listed(value), withDeclarations);
      case 'safetySettings':
        return listed(value);
      default:
        return value;
    }
  });
}

function withParts(content: unknown): unknown {
  return withFields(content, (name, value) => (name === 'parts' ? listed(value) : value));
}

function withDeclarations(tool: unknown): unknown {
  return withFields(tool, (name, value) => (camelName(name) === 'functionDeclarations' ? listed(value) : value));
}

function listed(value: unknown): unknown {
  return isObject(value) ? [value] : value;
}

function each(list: unknown, change: (item: unknown) => unknown): unknown {
  if (!Array.isArray(list)) return list;
  const changed = list.map(change);
  return changed.every((item, at) => item === list[at]) ? list : changed;
}

function withFields(value: unknown, change: (name: string, field: unknown) => unknown): unknown {
  if (!isObject(value)) return value;
  const fields: Loose = value;
  const changed = Object.entries(fields).map(([name, field]) => [name, change(name, field)] as const);
  return changed.every(([name, field]) => field === fields[name]) ? value : Object.fromEntries(changed);
}
