import type { Target } from '../../../call/plan.ts';
import type { ThoughtFieldMemory } from '../../../dialects/dialect.ts';

/**
 * The fields in which providers have the thoughts of their models, by provider and model, learnt from responses and
 * refusals. They are kept in this process, up to a limit, and lost with it: then a provider that insists on thoughts
 * refuses one attempt.
 */
export interface ThoughtFields {
  of(target: Target): ThoughtFieldMemory;
  /** The provider has refused a request for want of thoughts in a field; null: for thoughts that it got. */
  refused(target: Target, field: string | null): void;
}

/** The number of pairs of provider and model that are remembered. */
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
      return {
        // Most processes have learnt nothing, and then need no key.
        known: () => (fields.size === 0 ? undefined : fields.get(keyOf(target))),
        saw(field) {
          const key = keyOf(target);
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
