import { Source } from '../../config-source.ts';
import { isMapping } from '../mapping.ts';
import { type Variables, variableName } from '../variables.ts';

/** The place of a credential. */
export type Location =
  | { kind: 'env' | 'path_from_env'; name: string }
  | { kind: 'path'; path: string }
  | { kind: 'dynamic' | 'none' | 'sdk' | 'other' };

/** Reads a location: one, or a usual one with a fallback. */
export function locationsIn(value: unknown, usual: string): Location[] {
  if (value === undefined) return locationsIn(usual, usual);
  if (typeof value === 'string') return [locationOf(value)];
  if (!isMapping(value)) return [{ kind: 'other' }];
  return [value.default, value.fallback].flatMap((one) => (typeof one === 'string' ? [locationOf(one)] : []));
}

function locationOf(text: string): Location {
  const [, kind = '', rest = ''] = /^(\w+)(?:::(.*))?$/s.exec(text) ?? [];
  const name = variableName(rest);
  if ((kind === 'env' || kind === 'path_from_env') && name !== null) return { kind, name };
  if (kind === 'path' && rest !== '') return { kind, path: rest };
  return kind === 'dynamic' || kind === 'none' || kind === 'sdk' ? { kind } : { kind: 'other' };
}

/** The variable that `env::X` names; null: the text is a literal. */
export function environmentName(value: string): string | null {
  return variableName(/^env::(.*)$/s.exec(value)?.[1]);
}

/** The text at a place of a service account: its path, or the variable of its path or its JSON; null: it has none. */
export function accountText(location: Location, variables: Variables): Source | null {
  if (location.kind === 'env' || location.kind === 'path_from_env') return variables.refer(location.name);
  if (location.kind === 'path') return new Source(JSON.stringify(location.path));
  return location.kind === 'sdk' ? variables.refer('GOOGLE_APPLICATION_CREDENTIALS') : null;
}
