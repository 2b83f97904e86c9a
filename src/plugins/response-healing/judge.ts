import { cleanName } from '../../base/clean-text.ts';
import { heal, readJson } from './heal.ts';
import { wrongIn } from './schema-check.ts';

/** A model that is told more would not do more. */
const mostNamed = 10;

/**
 * What keeps a text from being what was asked for, also after it was healed, in words for the model that wrote it.
 * @returns null: nothing does
 */
export function judge(text: string, schema: object | null, maxRepairChars: number): string[] | null {
  const healed = heal(text, schema, maxRepairChars);
  if (healed !== null && healed.fitsSchema !== false) return null;
  const value = readJson(healed?.text ?? text);
  if (value === undefined) return ['it is not JSON'];
  const wrong = schema === null ? [] : wrongIn(value, schema);
  if (wrong === null || wrong.length === 0) return null;
  return wrong.slice(0, mostNamed).map(({ path, what }) => cleanName(`${path}: ${what}`, 160));
}
