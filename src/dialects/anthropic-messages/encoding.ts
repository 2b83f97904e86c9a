import type { Loose } from '../../base/values.ts';
import type { SchemaEffort } from './json-schema.ts';
import type { ModelTraits } from './models.ts';
import type { MessagesQuirks } from './quirks.ts';

/** What the encoding of one request gathers besides its body. */
export interface Encoding {
  quirks: MessagesQuirks;
  /** The provider's own name for the model. */
  upstreamModel: string;
  /** Whether thoughts go back. */
  hasThoughts: boolean;
  /** What the model takes. */
  traits: ModelTraits;
  /** Request fields that are left out. */
  dropped: Set<string>;
  /** Values of the header `anthropic-beta`. */
  betas: Set<string>;
  /** Blocks that carry a mark of what to cache, in the order of the prompt. */
  marked: Loose[];
  /** What may still be done for schemas. */
  schemas: SchemaEffort;
  /** A tool call's id as Anthropic takes it. */
  toolId(id: string): string;
}

/** Of a longer id that Anthropic would refuse, the beginning is kept. */
const longestMade = 256;
const takenId = /^[\w-]+$/;

/** Anthropic takes letters, digits, `_` and `-` in the id of a tool call; other providers' ids hold more. */
export function toolIds(): (id: string) => string {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  /** The next number to try, by what the id would be: thousands of ids may become the same. */
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
