import { LRUCache } from 'lru-cache';
import type { WorkspaceId } from '../call/workspace.ts';

/**
 * The output of earlier requests, by workspace and by kind of request. Each workspace has its own: no tenant changes
 * the hold of another. In memory, for one process.
 */
export interface OutputEstimates {
  /** The output tokens that were enough for 99 of 100 earlier requests; null: too few are known. */
  enough(workspaceId: WorkspaceId, kind: string): number | null;
  /** @param tokens  the output tokens of all choices together */
  learn(workspaceId: WorkspaceId, kind: string, tokens: number): void;
}

/** The fewest known requests of a kind: fewer do not show the need of 99 of 100. */
export const leastSamples = 100;
/** The number of requests at which all counts are halved, so that the estimate follows recent requests. */
const mostSamples = 2_000;
/** The most workspaces, in some 8 MB. A dropped workspace gets worst-case holds again. */
const maxWorkspaces = 500;
/** The most kinds of a workspace, which drops only its own. */
const maxKinds = 32;

/** Each bucket ends 2^(1/4) times above the one before: an estimate is at most 19 % above the true percentile. */
const bucketsPerOctave = 4;
/** The number of buckets, up to 2^27 tokens. */
const bucketCount = 27 * bucketsPerOctave + 1;

interface Kind {
  /** The number of requests by bucket. */
  counts: Float32Array;
  total: number;
}

export function createOutputEstimates(): OutputEstimates {
  const workspaces = new LRUCache<WorkspaceId, LRUCache<string, Kind>>({ max: maxWorkspaces });

  function kindsOf(workspaceId: WorkspaceId): LRUCache<string, Kind> {
    let kinds = workspaces.get(workspaceId);
    if (kinds === undefined) {
      kinds = new LRUCache({ max: maxKinds });
      workspaces.set(workspaceId, kinds);
    }
    return kinds;
  }

  return {
    enough(workspaceId, kind) {
      const known = workspaces.get(workspaceId)?.get(kind);
      return known === undefined || known.total < leastSamples ? null : percentile99(known);
    },
    learn(workspaceId, kind, tokens) {
      const kinds = kindsOf(workspaceId);
      let known = kinds.get(kind);
      if (known === undefined) {
        known = { counts: new Float32Array(bucketCount), total: 0 };
        kinds.set(kind, known);
      }
      const bucket = bucketOf(tokens);
      known.counts[bucket] = (known.counts[bucket] as number) + 1;
      known.total++;
      if (known.total >= mostSamples) halve(known);
    },
  };
}

/** The end of the bucket of the percentile, which is at least the true percentile. */
function percentile99({ counts, total }: Kind): number {
  let above = 0;
  for (let bucket = bucketCount - 1; bucket > 0; bucket--) {
    above += counts[bucket] as number;
    if (above * 100 > total) return Math.ceil(2 ** (bucket / bucketsPerOctave));
  }
  return 1;
}

function bucketOf(tokens: number): number {
  if (!(tokens > 1)) return 0;
  return Math.min(Math.ceil(Math.log2(tokens) * bucketsPerOctave), bucketCount - 1);
}

function halve(kind: Kind): void {
  for (const [bucket, count] of kind.counts.entries()) kind.counts[bucket] = count / 2;
  kind.total /= 2;
}
