import { GatewayError } from '../../base/errors.ts';
import { nanoToUsd } from '../../base/money.ts';
import type { OperatorSet, StoredApiKey } from '../../schema/api-key.ts';
import type { SetBy } from '../access.ts';

/** The settings of a key that limit it. */
export type KeyLimits = Pick<StoredApiKey, 'limitNanoUsd' | 'limitReset' | 'includeByokInLimit' | 'disabled'>;

/** What an operator set of a key. A key of an earlier version does not say: everything was set by an operator. */
export function operatorSetOf(key: KeyLimits & Pick<StoredApiKey, 'operatorSet'>): OperatorSet {
  return key.operatorSet ?? limitsOf(key);
}

/**
 * The limits of a key after a change.
 * @throws GatewayError permission_denied (403): a caller bound to the workspace would lift what an operator set
 */
export function changedLimits<Key extends KeyLimits & Pick<StoredApiKey, 'operatorSet'>>(
  before: Key,
  given: Partial<KeyLimits>,
  by: SetBy,
): Key {
  const set = operatorSetOf(before);
  if (by === 'workspace') checkUnder(set, before, given);
  const { operatorSet: _, ...rest } = before;
  const after = { ...rest, ...given } as Key;
  if (by === 'workspace') return remembering(after, set);
  return remembering(after, {
    limitNanoUsd: given.limitNanoUsd === undefined ? set.limitNanoUsd : given.limitNanoUsd,
    // An operator's limit resets as the key now says.
    limitReset: after.limitReset,
    includeByokInLimit: given.includeByokInLimit ?? set.includeByokInLimit,
    disabled: given.disabled ?? set.disabled,
  });
}

/**
 * The limits of a key that a caller bound to the workspace makes with a key of its own: what limits that key limits the
 * new one. How many such keys there are, only the budgets of the workspace limit.
 * @param maker  null: the caller has no key in the store
 * @throws GatewayError permission_denied (403): the new key would have more than its maker
 */
export function limitsWithin<Key extends KeyLimits & Pick<StoredApiKey, 'expiresAtMs'>>(
  input: Key,
  maker: StoredApiKey | null,
): Key & Pick<StoredApiKey, 'operatorSet'> {
  const { limitNanoUsd, limitReset, includeByokInLimit } = maker === null ? unlimited : operatorSetOf(maker);
  const set = limitNanoUsd === null ? unlimited : { limitNanoUsd, limitReset, includeByokInLimit, disabled: false };
  checkUnder(set, set, input);
  const expiresAtMs = maker?.expiresAtMs ?? null;
  if (expiresAtMs !== null && (input.expiresAtMs === null || input.expiresAtMs > expiresAtMs))
    throw denied('expires_at', 'A key that expires cannot make one that expires later, or never');
  return remembering(input, set);
}

const unlimited: OperatorSet = { limitNanoUsd: null, limitReset: null, includeByokInLimit: false, disabled: false };

/** @throws GatewayError permission_denied (403) */
function checkUnder(set: OperatorSet, before: KeyLimits | OperatorSet, given: Partial<KeyLimits>): void {
  if (given.disabled === false && set.disabled)
    throw denied('disabled', 'An operator has disabled this key, and only an operator can enable it');
  if (set.limitNanoUsd === null) return;
  const { limitNanoUsd, limitReset, includeByokInLimit } = given;
  const most = `an operator has limited this key to $${nanoToUsd(set.limitNanoUsd)}`;
  if (limitNanoUsd === null || (limitNanoUsd !== undefined && limitNanoUsd > set.limitNanoUsd))
    throw denied('limit', `expected at most that: ${most}`);
  if (limitReset !== undefined && limitReset !== before.limitReset)
    throw denied('limit_reset', `expected ${JSON.stringify(before.limitReset)}: ${most}`);
  if (includeByokInLimit === false && set.includeByokInLimit)
    throw denied('include_byok_in_limit', `expected true: ${most}, BYOK credentials included`);
}

/** Says what an operator set only where that is not what holds: a record without it is as earlier versions write it. */
function remembering<Key extends KeyLimits>(key: Key, set: OperatorSet): Key & Pick<StoredApiKey, 'operatorSet'> {
  const own = limitsOf(key);
  const isSame = (Object.keys(own) as (keyof OperatorSet)[]).every((name) => own[name] === set[name]);
  return isSame ? key : { ...key, operatorSet: set };
}

function limitsOf({ limitNanoUsd, limitReset, includeByokInLimit, disabled }: KeyLimits): OperatorSet {
  return { limitNanoUsd, limitReset, includeByokInLimit, disabled };
}

function denied(path: string, message: string): GatewayError {
  return new GatewayError('permission_denied', `${path}: ${message}`, { metadata: { issues: [{ path, message }] } });
}
