import { isObject, type Loose } from '../../base/values.ts';

/** The beginning of the ids of calls that the gateway has run: no upstream may be sent their blocks as its own. */
const ownId = 'srvtoolu_gateway_';

/** true: the block shows a tool that the gateway has run. */
export function isOwnToolBlock({ id, tool_use_id: of }: Loose): boolean {
  return [id, of].some((one) => typeof one === 'string' && one.startsWith(ownId));
}

/** Returns the id of a call that the gateway runs. @param number  of the call in its response, from 0 on */
export function ownToolId(callId: string, number: number): string {
  return `${ownId}${callId.replace(/[^a-zA-Z0-9]/g, '').slice(-24)}_${number}`;
}

/**
 * Returns the block that shows the call of a tool, as Anthropic shows its own; null: the wire has no block for the tool.
 * @param name  the gateway's name of the tool
 */
export function toolUseBlock(name: string, id: string, input: Loose): Loose | null {
  return name === 'web_search' || name === 'web_fetch' ? { type: 'server_tool_use', id, name, input } : null;
}

/**
 * Returns the block with the result of a call.
 * @param result  the text that the model got; null: the call was not run
 * @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool "Response"
 */
export function toolResultBlock(name: string, id: string, input: Loose, result: string | null): Loose {
  const read = objectIn(result);
  const content = name === 'web_search' ? searchResults(read) : fetchResult(read, input);
  const failure = {
    type: `${name}_tool_result_error`,
    error_code: result === null ? 'max_uses_exceeded' : 'unavailable',
  };
  return { type: `${name}_tool_result`, tool_use_id: id, content: content ?? failure };
}

function searchResults({ results }: Loose): Loose[] | null {
  if (!Array.isArray(results)) return null;
  return results.filter(isObject).map(({ url, title, published }) => ({
    type: 'web_search_result',
    url,
    title: title ?? url,
    // Only a provider reads what it has encrypted, and nothing is here.
    encrypted_content: '',
    page_age: published ?? null,
  }));
}

function fetchResult({ url, title, text }: Loose, { url: asked }: Loose): Loose | null {
  if (typeof text !== 'string') return null;
  const source = { type: 'text', media_type: 'text/plain', data: text };
  return {
    type: 'web_fetch_result',
    url: url ?? asked,
    content: { type: 'document', source, title: title ?? null },
    retrieved_at: null,
  };
}

function objectIn(text: string | null): Loose {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return isObject(value) ? value : {};
  } catch {
    // A failed tool of the host app may say anything.
    return {};
  }
}
