import { isIndex, isObject, type Loose } from '../../base/values.ts';

/** A note on the text. */
type Annotation = Loose & { type: string };

/** The sources of a response, as annotations. */
export interface Sources {
  /** Adds a source of the response as a whole. */
  add(source: unknown): void;
  /** Returns the sources of a text. @param offset  the length of the text that stands before it */
  cited(citations: unknown, offset: number): Annotation[];
  /** Returns the sources that no text cites, once the response has ended. */
  rest(): Annotation[];
}

/**
 * Collects sources. Models give the source of a citation twice: with the text that it supports, and as a source of the
 * whole.
 */
export function sources(): Sources {
  const known = new Map<string, Loose>();
  const cited = new Set<string>();
  return {
    add(source) {
      if (isObject(source)) known.set(keyOf(source), source);
    },
    cited(citations, offset) {
      if (!Array.isArray(citations)) return [];
      return citations.filter(isObject).flatMap((citation) => {
        if (!isObject(citation.source)) return [];
        cited.add(keyOf(citation.source));
        const one = annotationOf(citation.source, placeOf(citation, offset), textOf(citation.citedText));
        return one === null ? [] : [one];
      });
    },
    rest: () =>
      [...known]
        .filter(([key]) => !cited.has(key))
        .map(([, source]) => annotationOf(source, {}, ''))
        .filter((one) => one !== null),
  };
}

function keyOf({ sourceType, url, id }: Loose): string {
  return sourceType === 'url' ? `url ${textOf(url)}` : `document ${textOf(id)}`;
}

function annotationOf(source: Loose, place: Loose, cited: string): Annotation | null {
  const { sourceType, url, id, title, filename } = source;
  if (sourceType === 'url' && typeof url === 'string' && /^https?:/i.test(url))
    return { type: 'url_citation', url_citation: { url, title: textOf(title) || url, content: cited, ...place } };
  if (sourceType !== 'document') return null;
  const name = textOf(filename) || textOf(title) || textOf(id);
  const content = cited === '' ? [] : [{ type: 'text', text: cited }];
  return { type: 'file', file: { hash: textOf(id), name, content, ...place } };
}

function placeOf({ startIndex, endIndex }: Loose, offset: number): Loose {
  return isIndex(startIndex) && isIndex(endIndex)
    ? { start_index: offset + startIndex, end_index: offset + endIndex }
    : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
