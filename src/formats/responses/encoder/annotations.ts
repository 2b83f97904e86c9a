import { isObject, type Loose, without } from '../../../base/values.ts';

/**
 * Returns the place in the content of the message where an annotation begins.
 * @returns null: it is about no particular place
 */
export function startOf(annotation: unknown): number | null {
  const fields = fieldsOf(annotation);
  return isPlace(fields.start_index) && isPlace(fields.end_index) ? fields.start_index : null;
}

/**
 * Returns an annotation of a chat message, as Responses writes it: flat, and with places in the text of its part.
 * Fields that only some providers have stay. Where an annotation is about no particular place of the text, both places
 * are 0.
 * @param partStart  the place in the content of the chat message where the text of the part begins
 * @returns null: it holds nothing that a client could read
 */
export function flatAnnotation(annotation: unknown, partStart: number): Loose | null {
  if (!isObject(annotation) || typeof annotation.type !== 'string') return null;
  const fields = fieldsOf(annotation);
  const start = startOf(annotation);
  const from = start === null ? -1 : start - partStart;
  const places = from < 0 ? { start: 0, end: 0 } : { start: from, end: (fields.end_index as number) - partStart };
  if (annotation.type === 'url_citation') return urlCitation(fields, places);
  if (annotation.type === 'file') return fileCitation(fields, start === null ? null : places);
  return { ...fields, type: annotation.type };
}

interface Places {
  start: number;
  end: number;
}

function urlCitation(fields: Loose, { start, end }: Places): Loose | null {
  const { url, title } = fields;
  if (typeof url !== 'string') return null;
  return {
    ...fields,
    type: 'url_citation',
    url,
    title: typeof title === 'string' ? title : url,
    start_index: start,
    end_index: Math.max(end, start),
  };
}

function fileCitation(fields: Loose, places: Places | null): Loose {
  const { hash, name, file_id: id, filename, index, container_id: container } = fields;
  const rest = without(['hash', 'name', 'start_index', 'end_index'], fields);
  return {
    ...rest,
    type: typeof container === 'string' ? 'container_file_citation' : 'file_citation',
    file_id: textOf(id, hash),
    filename: textOf(filename, name, id, hash),
    index: isPlace(index) ? index : 0,
    ...(places === null ? {} : { start_index: places.start, end_index: Math.max(places.end, places.start) }),
  };
}

function textOf(...values: unknown[]): string {
  return values.find((value): value is string => typeof value === 'string') ?? '';
}

/**
 * Returns the fields of an annotation. Chat nests the fields below a key of its own; some providers write them flat
 * there, too.
 */
function fieldsOf(annotation: unknown): Loose {
  if (!isObject(annotation)) return {};
  const nested = annotation.type === 'url_citation' || annotation.type === 'file' ? annotation[nest(annotation)] : null;
  return isObject(nested) ? nested : without(['type'], annotation);
}

function nest({ type }: Loose): 'url_citation' | 'file' {
  return type === 'file' ? 'file' : 'url_citation';
}

function isPlace(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
