import type { GatewayError } from '../../base/errors.ts';
import { nanoToUsd } from '../../base/money.ts';
import { refusal } from '../../base/refusal.ts';
import type { OperatorSet, StoredApiKey } from '../../schema/tenants/api-key.ts';
import type { RateLimits } from '../../schema/tenants/rate-limits.ts';
import type { SetBy } from '../access.ts';
import { checkModelsWithin } from './allowed-models.ts';

/** The settings of a key that limit it. */
export type KeyLimits = Pick<StoredApiKey, 'limitNanoUsd' | 'limitReset' | 'includeByokInLimit' | 'disabled'> &
  RateLimits & {
    allowedModels: string[] | null;
  };

/**
 * The limits that an operator has set on a key. A key of an earlier version does not say who set them: then an operator
 * set all of them.
 */
export function operatorSetOf(key: KeyLimits & Pick<StoredApiKey, 'operatorSet'>): OperatorSet {
  return key.operatorSet ?? limitsOf(key);
}

/**
 * The limits of a key after a change.
 * @param rates  the rate limits that the options give to every key that has none of its own; null: none
 * @throws GatewayError permission_denied (403): a caller bound to the workspace would lift what an operator set
 */
export function changedLimits<Key extends KeyLimits & Pick<StoredApiKey, 'operatorSet'>>(
  before: Key,
  given: Partial<KeyLimits>,
  by: SetBy,
  rates: RateLimits | null,
): Key {
  const set = operatorSetOf(before);
  if (by === 'workspace') checkUnder(set, before, given, rates);
  const { operatorSet: _, ...rest } = before;
  const after = { ...rest, ...given } as Key;
  if (by === 'workspace') return remembering(after, set);
  const rate = (name: keyof RateLimits) => (given[name] === undefined ? set[name] : given[name]);
  return remembering(after, {
    limitNanoUsd: given.limitNanoUsd === undefined ? set.limitNanoUsd : given.limitNanoUsd,
    // The operator's limit takes over the new reset interval of the key.
    limitReset: after.limitReset,
    includeByokInLimit: given.includeByokInLimit ?? set.includeByokInLimit,
    disabled: given.disabled ?? set.disabled,
    requestsPerMinute: rate('requestsPerMinute'),
    tokensPerMinute: rate('tokensPerMinute'),
    requestsInFlight: rate('requestsInFlight'),
    allowedModels: copyOf(given.allowedModels === undefined ? set.allowedModels : given.allowedModels),
  });
}

/**
 * The limits of a key that a caller bound to the workspace makes with a key of its own: the limits of its own key also
 * limit the new one. Only the budgets of the workspace limit the number of such keys.
 * @param maker  null: the caller has no key in the store
 * @param rates  as in `changedLimits`
 * @throws GatewayError permission_denied (403): the new key would have more than its maker
 */
export function limitsWithin<Key extends KeyLimits & Pick<StoredApiKey, 'expiresAtMs'>>(
  input: Key,
  maker: StoredApiKey | null,
  rates: RateLimits | null,
): Key & Pick<StoredApiKey, 'operatorSet'> {
  const ofMaker = maker === null ? unlimited : operatorSetOf(maker);
  const { requestsPerMinute, tokensPerMinute, requestsInFlight, allowedModels } = ofMaker;
  const money = ofMaker.limitNanoUsd === null ? unlimited : ofMaker;
  const set = { ...money, requestsPerMinute, tokensPerMinute, requestsInFlight, allowedModels, disabled: false };
  checkUnder(set, set, input, rates);
  const expiresAtMs = maker?.expiresAtMs ?? null;
  if (expiresAtMs !== null && (input.expiresAtMs === null || input.expiresAtMs > expiresAtMs))
    throw denied('expires_at', 'A key that expires cannot make one that expires later, or never');
  return remembering(input, set);
}

const unlimited: OperatorSet = {
  limitNanoUsd: null,
  limitReset: null,
  includeByokInLimit: false,
  disabled: false,
  requestsPerMinute: null,
  tokensPerMinute: null,
  requestsInFlight: null,
  allowedModels: null,
};

/** @throws GatewayError permission_denied (403) */
function checkUnder(
  set: OperatorSet,
  before: KeyLimits | OperatorSet,
  given: Partial<KeyLimits>,
  rates: RateLimits | null,
): void {
  if (given.disabled === false && set.disabled)
    throw denied('disabled', 'An operator has disabled this key, and only an operator can enable it');
  checkRates(set, given, rates);
  checkModelsWithin(given.allowedModels, set.allowedModels);
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

/**
 * Checks rate limits against the operator's. A limit of the options counts as an operator's. @throws GatewayError
 * permission_denied (403)
 */
function checkRates(set: OperatorSet, given: Partial<KeyLimits>, rates: RateLimits | null): void {
  for (const [name, path] of Object.entries(rateFields) as [keyof RateLimits, string][]) {
    const most = set[name] ?? rates?.[name] ?? null;
    if (given[name] === undefined || most === null) continue;
    const wanted = given[name] ?? rates?.[name] ?? null;
    if (wanted === null || wanted > most)
      throw denied(path, `expected at most ${most}: an operator has set this limit`);
  }
}

const rateFields = {
  requestsPerMinute: 'requests_per_minute',
  tokensPerMinute: 'tokens_per_minute',
  requestsInFlight: 'requests_in_flight',
} as const satisfies Record<keyof RateLimits, string>;

/**
 * Adds `operatorSet` only where the operator's limits differ from those of the key. Without it, the record is the same
 * as one that an earlier version writes.
 */
function remembering<Key extends KeyLimits>(key: Key, set: OperatorSet): Key & Pick<StoredApiKey, 'operatorSet'> {
  const own = limitsOf(key);
  const isSame = (Object.keys(own) as (keyof OperatorSet)[]).every((name) => isEqual(own[name], set[name]));
  return isSame ? key : { ...key, operatorSet: set };
}

function limitsOf(key: KeyLimits): OperatorSet {
  const { limitNanoUsd, limitReset, includeByokInLimit, disabled } = key;
  const { requestsPerMinute, tokensPerMinute, requestsInFlight } = key;
  return {
    limitNanoUsd,
    limitReset,
    includeByokInLimit,
    disabled,
    requestsPerMinute,
    tokensPerMinute,
    requestsInFlight,
    allowedModels: copyOf(key.allowedModels),
  };
}

function copyOf(patterns: readonly string[] | null): string[] | null {
  return patterns && [...patterns];
}

function isEqual(a: OperatorSet[keyof OperatorSet], b: OperatorSet[keyof OperatorSet]): boolean {
  return Array.isArray(a) ? JSON.stringify(a) === JSON.stringify(b) : a === b;
}

function denied(path: string, message: string): GatewayError {
  return refusal('permission_denied', [{ path, message }]);
}
