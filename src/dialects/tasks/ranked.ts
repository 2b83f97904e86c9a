import { isIndex, isObject } from '../../base/values.ts';
import { badResponse } from '../shared/values.ts';
import type { RankedAt, RerankBatch } from './contract.ts';

/**
 * Reads a list of places and scores, the best first. Each place is a document of the request, and comes once.
 * @throws UpstreamError bad_response
 */
export function rankedIn(results: unknown, { documents, topN }: Pick<RerankBatch, 'documents' | 'topN'>): RankedAt[] {
  if (!Array.isArray(results)) throw badResponse('The provider responded without a ranking.');
  const seen = new Set<number>();
  const ranked = results.map((one): RankedAt => {
    const { index, relevance_score: score } = isObject(one) ? one : {};
    if (!isIndex(index) || index >= documents.length || seen.has(index))
      throw badResponse('The provider responded with a ranking of documents that the request does not have.');
    if (typeof score !== 'number' || !Number.isFinite(score))
      throw badResponse('The provider responded with a ranking without scores.');
    seen.add(index);
    return { index, score };
  });
  if (ranked.length < Math.min(topN ?? documents.length, documents.length))
    throw badResponse('The provider responded with a ranking of fewer documents than were asked for.');
  ranked.sort((a, b) => b.score - a.score);
  return topN === null ? ranked : ranked.slice(0, topN);
}
