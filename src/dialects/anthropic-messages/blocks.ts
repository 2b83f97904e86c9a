import { isObject, type Loose } from '../../base/values.ts';
import type { ReasoningDetail } from '../../schema/message.ts';
import { thoughtFormat } from './thoughts.ts';

/** A thought, or a part of one, as clients send it back. `index` is the place of its block among all of the response. */
export function thoughtDetail(
  fields: { text?: string; signature?: string },
  index: number,
): Extract<ReasoningDetail, { type: 'reasoning.text' }> {
  return { type: 'reasoning.text', ...fields, index, format: thoughtFormat };
}

/** A thought that only Anthropic can read; null: the block holds none. */
export function hiddenThought(block: Loose, index: number): ReasoningDetail | null {
  if (typeof block.data !== 'string') return null;
  return { type: 'reasoning.encrypted', data: block.data, index, format: thoughtFormat };
}

/**
 * A citation as an annotation; null for what is none.
 * @param start  where the text that rests on it starts in the content
 * @param end    where it ends
 * @see https://platform.claude.com/docs/en/build-with-claude/citations
 */
export function annotationOf(citation: unknown, start: number, end: number): (Loose & { type: string }) | null {
  if (!isObject(citation)) return null;
  const quoted = textOr(citation.cited_text, '');
  // Search results that the caller brought name their origin, which may be an address.
  const url = textOr(citation.url, textOr(citation.source, ''));
  if (url !== '') {
    const title = textOr(citation.title, '');
    return { type: 'url_citation', url_citation: { url, title, content: quoted, start_index: start, end_index: end } };
  }
  if (typeof citation.type !== 'string' || quoted === '') return null;
  const name = textOr(citation.document_title, '');
  return { type: 'file', file: { hash: '', name, content: [{ type: 'text', text: quoted }] } };
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

/** Why the model refuses, where Anthropic says it; null: it does not. */
export function refusalIn(holder: Loose): string | null {
  const details = holder.stop_details;
  if (holder.stop_reason !== 'refusal' || !isObject(details)) return null;
  return typeof details.explanation === 'string' && details.explanation !== '' ? details.explanation : null;
}

/** The input of a call as it stands in a block: text of JSON. Streams begin with an empty one; '' for that. */
export function inputText(input: unknown): string {
  return isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : '';
}
