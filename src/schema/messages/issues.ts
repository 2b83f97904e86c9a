import type { Issue } from '../../base/refusal.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { MessagesRequest } from './request.ts';

/** A body of a million faults is refused for the first of them. */
const mostIssues = 100;

type Add = (path: string, message: string) => void;

/** Finds what the schema of a Messages request does not say: the caller gets status 400. */
export function messagesIssues(request: MessagesRequest): readonly Issue[] {
  const issues: Issue[] = [];
  const add: Add = (path, message) => {
    if (issues.length < mostIssues) issues.push({ path, message });
  };
  addBlockIssues(request.system, 'system', add);
  for (const [at, { content }] of request.messages.entries()) addBlockIssues(content, `messages[${at}].content`, add);
  for (const [at, tool] of (request.tools ?? []).entries()) {
    const isOwn = tool.type === undefined || tool.type === null || tool.type === 'custom';
    if (isOwn && typeof tool.name !== 'string') add(`tools[${at}].name`, 'expected string');
  }
  if (request.tool_choice?.type === 'tool' && typeof request.tool_choice.name !== 'string')
    add('tool_choice.name', 'expected string');
  return issues;
}

function addBlockIssues(content: unknown, path: string, add: Add): void {
  if (!Array.isArray(content)) return;
  for (const [at, block] of content.entries()) {
    const place = `${path}[${at}]`;
    for (const [name, expected] of Object.entries(texts[block.type] ?? {}))
      if (typeof block[name] !== 'string') add(`${place}.${name}`, `expected ${expected}`);
    if (block.type === 'tool_use' && !isObject(block.input)) add(`${place}.input`, 'expected object');
    if (block.type === 'image' || block.type === 'document') addSourceIssues(block.source, `${place}.source`, add);
    if (block.type !== 'tool_result') continue;
    const { content: inner } = block;
    if (Array.isArray(inner) && inner.every((one) => isObject(one) && typeof one.type === 'string'))
      addBlockIssues(inner, `${place}.content`, add);
    else if (inner !== undefined && inner !== null && typeof inner !== 'string')
      add(`${place}.content`, 'expected string or array of blocks');
  }
}

/** The fields of known blocks that must be texts. */
const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  text: { text: 'string' },
  tool_use: { id: 'string', name: 'string' },
  tool_result: { tool_use_id: 'string' },
  redacted_thinking: { data: 'string' },
};

/** The fields of known sources that must be texts. */
const sources: Readonly<Record<string, readonly string[]>> = {
  base64: ['media_type', 'data'],
  text: ['data'],
  url: ['url'],
  file: ['file_id'],
};

function addSourceIssues(source: unknown, path: string, add: Add): void {
  if (!isObject(source) || typeof source.type !== 'string') {
    add(path, 'expected an object with a type');
    return;
  }
  for (const name of sources[source.type] ?? [])
    if (typeof (source as Loose)[name] !== 'string') add(`${path}.${name}`, 'expected string');
}
