import { isIndex, isObject, type Loose } from '../../base/values.ts';

/** A note on the text. */
export type Annotation = Loose & { type: string };

/**
 * Makes an annotation of a citation: `url_citation` for a web page, `file` for a document. null: it names neither.
 * @param start  the place where the text that it supports starts in the content
 * @param end    the place where that text ends
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Citation.html
 */
export function annotationOf(raw: unknown, start: number, end: number): Annotation | null {
  if (!isObject(raw)) return null;
  const location = isObject(raw.location) ? raw.location : {};
  const title = typeof raw.title === 'string' ? raw.title : '';
  const content = sourceText(raw.sourceContent);
  const url = urlOf(location, raw.source);
  if (url !== null)
    return {
      type: 'url_citation',
      url_citation: { url, title, ...(content === '' ? {} : { content }), start_index: start, end_index: end },
    };
  const place = documentPlace(location);
  if (place === null && title === '') return null;
  const texts = content === '' ? [] : [{ type: 'text', text: content }];
  return { type: 'file', file: { hash: place ?? 'document', name: title, content: texts } };
}

function urlOf({ web, searchResultLocation }: Loose, source: unknown): string | null {
  if (isObject(web) && typeof web.url === 'string') return web.url;
  // A result of the caller's own search names its origin itself.
  return isObject(searchResultLocation) && typeof source === 'string' && /^https?:\/\//i.test(source) ? source : null;
}

/**
 * Returns the place of a document, such as `document 0`, counted in the order of the request: Bedrock knows no other
 * id.
 */
function documentPlace(location: Loose): string | null {
  for (const kind of ['documentChar', 'documentPage', 'documentChunk']) {
    const place = location[kind];
    if (isObject(place) && isIndex(place.documentIndex)) return `document ${place.documentIndex}`;
  }
  return null;
}

function sourceText(parts: unknown): string {
  if (!Array.isArray(parts)) return '';
  return parts.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}
