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
}
