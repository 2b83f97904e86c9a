import { isObject, type Loose } from '../../base/values.ts';
import type { Json, Notes } from './types.ts';

/** The name under which the AI SDK carries what is the gateway's. */
export const ownName = 'gateway';

/** Returns the options of a part that are the gateway's. */
export function ownNotes({ providerOptions }: Loose): Loose {
  const own = isObject(providerOptions) ? providerOptions[ownName] : null;
  return isObject(own) ? own : {};
}

/** Makes notes of values that came as JSON. @returns undefined: there are none */
export function notesOf(values: Loose): Notes | undefined {
  const set = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return set.length === 0 ? undefined : { [ownName]: Object.fromEntries(set) as Record<string, Json> };
}

/** Returns the field for notes. */
export function withNotes(values: Loose): { providerMetadata?: Notes } {
  const providerMetadata = notesOf(values);
  return providerMetadata === undefined ? {} : { providerMetadata };
}
