import type { ResponseStep } from '../../call/hooks.ts';
import type { SearchResult } from '../../call/search.ts';
import type { ChatChunk, ChunkDelta } from '../../schema/chat/chunk.ts';
import { citations } from './cite.ts';

export interface Annotation {
  type: string;
  [field: string]: unknown;
}

/** The sources that citations are made of. */
export interface CitationSources {
  /** The pages that were found; more come while tools are run. */
  found: readonly SearchResult[];
  mayFindMore: boolean;
  /** The most characters of all citations of a choice. */
  mostCharacters: number;
}

/**
 * Adds annotations before a choice ends: to the first choice, those that plugins have added; to each choice, those for
 * its links to pages that a search of the gateway has found.
 */
export function annotate(
  takeAdded: () => Annotation[],
  { found, mayFindMore, mostCharacters }: CitationSources,
): ResponseStep {
  const texts = new Map<number, string>();
  const isRead = mayFindMore || found.length > 0;
  return {
    push(chunk) {
      const before: ChatChunk[] = [];
      for (const { index, delta, finish_reason: reason } of chunk.choices) {
        if (isRead && typeof delta.content === 'string') texts.set(index, (texts.get(index) ?? '') + delta.content);
        if (reason === null) continue;
        const annotations = index === 0 ? takeAdded() : [];
        if (found.length > 0) annotations.push(...citations(texts.get(index) ?? '', found, mostCharacters));
        if (annotations.length === 0) continue;
        const annotated: ChunkDelta = { annotations };
        before.push({ ...chunk, choices: [{ index, delta: annotated, finish_reason: null }] });
      }
      return before.length === 0 ? [chunk] : [...before, chunk];
    },
  };
}
