import { GatewayError } from '../../base/errors.ts';

/**
 * A stored key that can never be opened: altered, moved, or sealed with a key that is not configured.
 * @param why  for the log; holds no secret
 */
export function cannotOpen(why: string): GatewayError {
  return new GatewayError('internal', 'A stored provider key cannot be opened', {
    cause: new Error(`A stored provider key cannot be opened: ${why}`),
  });
}

export function noMasterKey(): GatewayError {
  return new GatewayError(
    'unavailable',
    'Provider keys cannot be stored here yet: whoever runs this gateway must set its option `secrets`',
  );
}
