import { GatewayError } from '../base/errors.ts';

/** A record that is there and makes no sense. Not an absence: what is damaged fails closed. Only its kind is told. */
export function damagedRecord(kind: string): GatewayError {
  return new GatewayError('internal', 'A stored record is damaged', {
    cause: new Error(`${kind} record is malformed`),
  });
}
