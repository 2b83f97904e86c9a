import type { Loose } from '../../../base/values.ts';
import type { Native } from '../../../call/native.ts';
import type { Dropped } from '../dropped.ts';

/**
 * Fields that only Responses have, and that name nothing that an account has stored. Others, such as `prompt`, could
 * name the property of anybody who uses the operator's key.
 */
const passed: readonly string[] = [
  'truncation',
  'max_tool_calls',
  'parallel_tool_calls',
  'context_management',
  'client_metadata',
];
/** The fields that cost money: the provider's own output for them is paid for, and no largest output limits it. */
const costly: readonly string[] = ['context_management'];

/** Adds the fields that a chat request has no place for. Fields that the request itself has are there already. */
export function passNativeFields({ fields }: Native, payload: Loose, isLimited: boolean, dropped: Dropped): void {
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (value === null || value === undefined || Object.hasOwn(payload, key)) continue;
    if (passed.includes(key) && !(isLimited && costly.includes(key))) payload[key] = value;
    else dropped.noteOthers('', { [key]: value }, []);
  }
}
