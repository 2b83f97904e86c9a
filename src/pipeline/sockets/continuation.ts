import { isObject, type Loose } from '../../base/values.ts';

/** The latest response on a connection, which the next request may go on from. */
export interface Continuable {
  /** The provider's own id of the response. */
  responseId: string;
  /** The number of items of its input and of its output. */
  count: number;
  /** SHA-256 of these items in canonical form: the conversation itself is not kept. */
  digest: string;
}

/** The input of a request in canonical form. */
export interface CanonicalInput {
  items: readonly unknown[];
  texts: readonly string[];
}

export function canonicalInput(input: unknown): CanonicalInput {
  const items: readonly unknown[] = Array.isArray(input) ? input : [{ role: 'user', content: input }];
  return { items, texts: items.map(canonicalItem) };
}

/** Notes a response. @returns null: the response cannot be gone on from */
export async function continuable(input: CanonicalInput, response: unknown): Promise<Continuable | null> {
  if (!isObject(response) || typeof response.id !== 'string' || !Array.isArray(response.output)) return null;
  const texts = [...input.texts, ...response.output.map(canonicalItem)];
  return { responseId: response.id, count: texts.length, digest: await digestOf(texts) };
}

/** Returns the items behind those of the latest response; null: the request does not begin with all of them, or adds none. */
export async function newItems(
  { count, digest }: Continuable,
  { items, texts }: CanonicalInput,
): Promise<readonly unknown[] | null> {
  if (items.length <= count) return null;
  return (await digestOf(texts.slice(0, count))) === digest ? items.slice(count) : null;
}

async function digestOf(texts: readonly string[]): Promise<string> {
  const bytes = new TextEncoder().encode(texts.join('\n'));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Writes an item such that two which mean the same are the same text: an item that a provider has sent comes back without
 * its id and its status, with fields left out that say nothing, in another order, and its text alone or in a part.
 */
function canonicalItem(item: unknown): string {
  if (!isObject(item)) return JSON.stringify(item) ?? 'null';
  const { id, status: _, type = 'message', content, ...others } = item;
  const isReference = type === 'item_reference';
  return stable({ type, ...(isReference ? { id } : {}), ...others, content: contentOf(content, item.role) });
}

function contentOf(content: unknown, role: unknown): unknown {
  if (typeof content !== 'string') return content;
  return [{ type: role === 'assistant' ? 'output_text' : 'input_text', text: content }];
}

/** JSON with sorted keys, without what says nothing: null, and empty lists. */
function stable(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stable).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const said = Object.keys(value).filter((name) => saysSomething(value, name));
  return `{${said
    .sort()
    .map((name) => `${JSON.stringify(name)}:${stable(value[name])}`)
    .join(',')}}`;
}

function saysSomething(holder: Loose, name: string): boolean {
  const value = holder[name];
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}
