import type { Step } from '../call/hooks.ts';
import type { SearchResult } from '../call/search.ts';
import type { ChatChunk, ChunkDelta } from '../schema/chunk.ts';

export interface Annotation {
  type: string;
  [field: string]: unknown;
}

/** A Markdown link. Each part is bounded, so that a text of brackets alone takes no longer than any other. */
const links = /\[[^[\]\n]{0,300}\]\((https?:\/\/[^\s()<>]{1,2000})(?: [^()\n]{0,300})?\)/g;

/**
 * Adds annotations before a choice ends: to the first, what plugins have added; to each, where it links to a page that a
 * search of the gateway has found.
 * @param found  grows while tools are run
 */
export function annotate(added: Annotation[], found: readonly SearchResult[], mayFindMore: boolean): Step {
  const texts = new Map<number, string>();
  const isRead = mayFindMore || found.length > 0;
  return {
    push(chunk) {
      const before: ChatChunk[] = [];
      for (const { index, delta, finish_reason: reason } of chunk.choices) {
        if (isRead && typeof delta.content === 'string') texts.set(index, (texts.get(index) ?? '') + delta.content);
        if (reason === null) continue;
        const annotations = index === 0 ? added.splice(0) : [];
        if (found.length > 0) annotations.push(...citations(texts.get(index) ?? '', found));
        if (annotations.length === 0) continue;
        const annotated: ChunkDelta = { annotations };
        before.push({ ...chunk, choices: [{ index, delta: annotated, finish_reason: null }] });
      }
      return before.length === 0 ? [chunk] : [...before, chunk];
    },
  };
}

/** Each link to a page that was found; then the pages that the text does not link to, at no place of it. */
function citations(text: string, found: readonly SearchResult[]): Annotation[] {
  const pages = new Map(found.map((page) => [addressOf(page.url), page]));
  const cited: Annotation[] = [];
  const linked = new Set<SearchResult>();
  for (const { index, 0: link, 1: url } of text.matchAll(links)) {
    const page = pages.get(addressOf(url as string));
    if (page === undefined) continue;
    linked.add(page);
    cited.push(citation(page, index, index + link.length));
  }
  const others = [...pages.values()].filter((page) => !linked.has(page));
  return [...cited, ...others.map((page) => citation(page, 0, 0))];
}

function citation({ url, title, text }: SearchResult, start: number, end: number): Annotation {
  return { type: 'url_citation', url_citation: { url, title, content: text, start_index: start, end_index: end } };
}

/** Models drop a slash or a fragment. */
function addressOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  parsed.hash = '';
  return parsed.href.replace(/\/$/, '');
}
