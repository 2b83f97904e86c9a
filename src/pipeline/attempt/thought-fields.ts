import type { Target } from '../../call/plan.ts';
import type { ThoughtFieldMemory } from '../../dialects/dialect.ts';

/**
 * The fields in which each provider, with each of its models, has what the model thinks, as its responses and refusals
 * have told. Kept in this process, bounded; lost with it, which costs a refused attempt where the provider insists on thoughts.
 */
export interface ThoughtFields {
  of(target: Target): ThoughtFieldMemory;
  /** The provider has refused a request for want of thoughts in a field; null: for thoughts that it got. */
  refused(target: Target, field: string | null): void;
}

/** How many pairs of provider and model are remembered. */
const mostKept = 1_000;

export function createThoughtFields(): ThoughtFields {
  const fields = new Map<string, string | null>();

  function keep(key: string, field: string | null): void {
    if (fields.get(key) === field) return;
    fields.delete(key);
    fields.set(key, field);
    if (fields.size > mostKept) fields.delete(fields.keys().next().value as string);
  }

  return {
    of(target) {
      const key = keyOf(target);
      return {
        known: () => fields.get(key),
        saw(field) {
          // What it refuses to take back, it goes on sending.
          if (fields.get(key) !== null) keep(key, field);
        },
      };
    },
    refused: (target, field) => keep(keyOf(target), field),
  };
}

function keyOf({ endpoint }: Target): string {
  return `${endpoint.providerSlug} ${endpoint.upstreamModel}`;
}
