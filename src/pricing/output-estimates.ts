import { LRUCache } from 'lru-cache';
import type { WorkspaceId } from '../call/workspace.ts';

/**
 * The output of earlier requests, by workspace and by kind of request. Each workspace has its own: no tenant changes
 * what is held for another. In memory, for one process.
 */
export interface OutputEstimates {
  /** So many tokens of output were enough for 99 of 100 earlier requests; null: too few are known. */
  enough(workspaceId: WorkspaceId, kind: string): number | null;
  /** @param tokens  of output, for all choices together */
  learn(workspaceId: WorkspaceId, kind: string, tokens: number): void;
}

/** So many requests of a kind must be known. Of fewer, nobody can tell what 99 of 100 need. */
export const leastSamples = 100;
/** At so many, all count half from then on, so that the estimate follows what is sent now. */
const mostSamples = 2_000;
/** At most some 8 MB. What is dropped is held at its worst case again. */
const maxWorkspaces = 500;
/** A workspace drops only kinds of its own. */
const maxKinds = 32;

/** Each bucket ends 2^(1/4) times above the one before: an estimate is at most 19 % above the true percentile. */
const bucketsPerOctave = 4;
/** Up to 2^27 tokens. */
const bucketCount = 27 * bucketsPerOctave + 1;

interface Kind {
  /** By bucket. */
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

/** The end of the bucket of the percentile: not below what was seen. */
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
