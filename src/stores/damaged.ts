import { GatewayError } from '../base/errors.ts';

/**
 * A record exists but is malformed. That is not an absence: damaged data fails closed. The error names only its kind.
 */
export function damagedRecord(kind: string): GatewayError {
  return new GatewayError('internal', 'A stored record is damaged', {
    cause: new Error(`${kind} record is malformed`),
  });
}
