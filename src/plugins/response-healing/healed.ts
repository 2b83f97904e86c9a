/** The kinds of changes to a text. */
export type Fix = 'unescaped' | 'extracted' | 'repaired' | 'coerced';

export interface Healed {
  kind: 'healed';
  text: string;
  fixes: Fix[];
  /** true: the value fits the schema; null: there is no schema, or it cannot be checked. */
  fitsSchema: boolean | null;
}

/**
 * The reason why a text stays as it is: it ends within a value, says several things, holds no JSON, is of another shape
 * than the schema, is too deep, or would take more work than it may.
 */
export type LeftReason = 'cut' | 'ambiguous' | 'no_json' | 'schema' | 'depth' | 'steps';

export interface Left {
  kind: 'left';
  reason: LeftReason;
  /** The kind of value within which the text ends. */
  cutIn?: string;
}
