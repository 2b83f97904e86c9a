/** What was done to a text. */
export type Fix = 'unescaped' | 'extracted' | 'repaired' | 'coerced';

export interface Healed {
  kind: 'healed';
  text: string;
  fixes: Fix[];
  /** Whether it is of the schema; null: there is none, or it cannot be checked. */
  fitsSchema: boolean | null;
}

/**
 * Why a text stays as it is: it ends within something, says several things, holds no JSON, is of another shape than the
 * schema, or would take more work than it may.
 */
export type LeftReason = 'cut' | 'ambiguous' | 'no_json' | 'schema' | 'depth' | 'steps';

export interface Left {
  kind: 'left';
  reason: LeftReason;
  /** Within what the text ends. */
  cutIn?: string;
}
