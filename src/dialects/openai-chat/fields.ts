import { isObject, type Loose, without } from '../../base/values.ts';
import { badResponse, thinkingText } from '../shared/values.ts';

/**
 * Returns the thoughts of the model in a message or a piece of one, from every field that servers use; null: there are
 * none.
 */
export function thoughtIn({ reasoning, reasoning_content: reasoningContent, content }: Loose): string | null {
  if (typeof reasoning === 'string') return reasoning;
  const thought = reasoningContent ?? thinkingText(content);
  return typeof thought === 'string' ? thought : null;
}

const ofCalls: readonly string[] = ['index', 'id', 'type', 'function'];
const ofFunctions: readonly string[] = ['name', 'arguments'];

/**
 * Returns the fields that servers add to a call or a piece of one, such as the signature that Google wants back with
 * it.
 */
export function addedToCall(call: Loose): Loose {
  return withoutNulls(without(ofCalls, call));
}

export function addedToFunction(called: Loose): Loose {
  return withoutNulls(without(ofFunctions, called));
}

function withoutNulls(fields: Loose): Loose {
  for (const key in fields) if (fields[key] === null) delete fields[key];
  return fields;
}

/** Returns the function of a call or of a piece of one. */
export function functionIn({ function: called }: Loose): Loose {
  return isObject(called) ? called : {};
}

export function brokenOff(native: string | null) {
  return badResponse(`The provider broke off its response (${native}).`, native ?? undefined);
}
