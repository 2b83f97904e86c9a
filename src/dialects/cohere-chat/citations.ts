import { isObject, type Loose } from '../../base/values.ts';

/** A note on the text. */
type Annotation = Loose & { type: string };

/**
 * Makes the annotations of a citation, one for each source: `url_citation` where the source has an address, else `file`
 * with Cohere's facts of the document or the tool's result. Places are those of the complete text.
 * @param offset  the length of the text before the block that the citation counts in
 * @see https://docs.cohere.com/docs/rag-citations
 */
export function annotationsOf(citation: unknown, offset: number): Annotation[] {
  if (!isObject(citation) || !Array.isArray(citation.sources)) return [];
  const range = rangeOf(citation, offset);
  return citation.sources.filter(isObject).map((source) => annotationOf(source, citation, range));
}

function annotationOf(source: Loose, citation: Loose, range: Loose): Annotation {
  const held = isObject(source.document) ? source.document : isObject(source.tool_output) ? source.tool_output : {};
  const text = textOf(held);
  const title = firstText(held.title, held.name);
  const url = [held.url, held.link, held.source].find(isAddress);
  if (url !== undefined)
    return {
      type: 'url_citation',
      url_citation: { url, title: title ?? url, content: text ?? citedText(citation), ...range },
    };
  const id = firstText(source.id, held.id) ?? '';
  return {
    type: 'file',
    file: {
      hash: id,
      name: title ?? id,
      content: Object.keys(held).length === 0 ? [] : [{ type: 'text', text: text ?? JSON.stringify(held) }],
      ...range,
    },
  };
}

/** Returns the place of a citation in the text. Places in a plan or in reasoning are none. */
function rangeOf({ start, end, type }: Loose, offset: number): Loose {
  const isOfText = type === undefined || type === null || type === 'TEXT_CONTENT';
  if (!isOfText || !Number.isSafeInteger(start) || !Number.isSafeInteger(end)) return {};
  return { start_index: offset + (start as number), end_index: offset + (end as number) };
}

function textOf(held: Loose): string | undefined {
  return firstText(held.snippet, held.text, held.content, held.data);
}

/** Returns the words of the response that the source is given for. */
function citedText({ text }: Loose): string {
  return typeof text === 'string' ? text : '';
}

function firstText(...values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//i.test(value);
}
