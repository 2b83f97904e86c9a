import { refusal } from '../base/refusal.ts';
import { type BodyCheck, checkBy, type Schema } from './schema.ts';

/** The value as the schema gives it. @throws GatewayError invalid_request (400) that lists every issue */
export function checked<T>(schema: Schema<T> | BodyCheck<T>, value: unknown): T {
  const found = checkBy(schema, value);
  if (found.issues !== null) throw refusal('invalid_request', found.issues);
  return found.value;
}
