import type { Loose } from '../../base/values.ts';
import type { SchemaEffort } from './json-schema.ts';
import type { ModelTraits } from './models.ts';
import type { MessagesQuirks } from './quirks.ts';

/** The results of encoding one request, besides its body. */
export interface Encoding {
  quirks: MessagesQuirks;
  /** The provider's own name for the model. */
  upstreamModel: string;
  /** true: thoughts go back. */
  hasThoughts: boolean;
  /** The features that the model takes. */
  traits: ModelTraits;
  /** Request fields that are left out. */
  dropped: Set<string>;
  /** Values of the header `anthropic-beta`. */
  betas: Set<string>;
  /** The blocks that carry a mark of parts to cache, in the order of the prompt. */
  marked: Loose[];
  /** The work that may still be done for schemas. */
  schemas: SchemaEffort;
  /** Returns a tool call's id as Anthropic takes it. */
  toolId(id: string): string;
}

/** The characters that are kept of a longer id that Anthropic would refuse. */
const longestMade = 256;
const takenId = /^[\w-]+$/;

/**
 * Makes ids of tool calls as Anthropic takes them: letters, digits, `_` and `-`. The ids of other providers hold more.
 */
export function toolIds(): (id: string) => string {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  /** The next number to try, by the id without a number: thousands of ids may become the same. */
  const numbers = new Map<string, number>();
  return (id) => {
    const known = ids.get(id);
    if (known !== undefined) return known;
    const base = takenId.test(id) ? id : id.slice(0, longestMade).replace(/[^\w-]/g, '_') || 'call';
    let made = base;
    while (taken.has(made)) {
      const number = numbers.get(base) ?? 2;
      numbers.set(base, number + 1);
      made = `${base}_${number}`;
    }
    ids.set(id, made);
    taken.add(made);
    return made;
  };
}
