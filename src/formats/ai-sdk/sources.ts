import { isIndex, isObject, type Loose } from '../../base/values.ts';
import type { Citation, SourcePart } from './types.ts';

/** An annotation as the AI SDK has it. */
interface ReadAnnotation {
  /** null: it names no source. */
  source: SourcePart | null;
  /** false: an earlier annotation has named the source. */
  isNew: boolean;
  /** The place in the text; null: it names none. */
  citation: Citation | null;
  /** true: the gateway wants it back in the next request, such as the content of a file that was read. */
  goesBack: boolean;
}

const nothing: ReadAnnotation = { source: null, isNew: false, citation: null, goesBack: false };

/** Reads the annotations of one response. Several citations may have one source. */
export function citationReader() {
  const known = new Map<string, SourcePart>();

  function sourceOf(key: string, make: (id: string) => SourcePart): { source: SourcePart; isNew: boolean } {
    const before = known.get(key);
    if (before !== undefined) return { source: before, isNew: false };
    const source = make(`source-${known.size}`);
    known.set(key, source);
    return { source, isNew: true };
  }

  return {
    /** @param offset  the length of the text before the block in which the annotation stands */
    read(annotation: Loose, offset: number): ReadAnnotation {
      const { url_citation: page, file } = annotation;
      if (annotation.type === 'url_citation' && isObject(page) && typeof page.url === 'string') {
        const { url, title } = page;
        const { source, isNew } = sourceOf(`url ${url}`, (id) => ({
          type: 'source',
          sourceType: 'url',
          id,
          url,
          ...(typeof title === 'string' && title !== '' ? { title } : {}),
        }));
        return { source, isNew, citation: citationOf(source, page, offset), goesBack: false };
      }
      if (annotation.type !== 'file' || !isObject(file)) return nothing;
      const name = [file.name, file.hash].find((one) => typeof one === 'string' && one !== '') as string | undefined;
      const title = name ?? 'file';
      const { source, isNew } = sourceOf(`file ${String(file.hash ?? title)}`, (id) => ({
        type: 'source',
        sourceType: 'document',
        id,
        mediaType: mediaTypeOf(title),
        title,
        ...(typeof file.name === 'string' && file.name !== '' ? { filename: file.name } : {}),
      }));
      return { source, isNew, citation: citationOf(source, file, offset), goesBack: true };
    },
  };
}

/** @returns null: it names no place, or one before this text */
function citationOf(
  source: SourcePart,
  { start_index: start, end_index: end, content }: Loose,
  offset: number,
): Citation | null {
  const cited = typeof content === 'string' && content !== '' ? { citedText: content } : {};
  const isPlaced = isIndex(start) && isIndex(end) && start >= offset;
  if (!isPlaced) return 'citedText' in cited ? { source, ...cited } : null;
  return { source, startIndex: start - offset, endIndex: end - offset, ...cited };
}

function mediaTypeOf(name: string): string {
  if (/\.(?:txt|md|csv)$/i.test(name)) return 'text/plain';
  return /\.pdf$/i.test(name) ? 'application/pdf' : 'application/octet-stream';
}
