import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { expectation } from '../chat/expectations.ts';

/** This secret can open every stored provider key. It must be long and random; keep it apart from the store. */
const masterSecret = lazily(() =>
  z
    .string()
    .refine(
      (secret) => secret.length >= 32,
      expectation('expected at least 32 random characters, such as `openssl rand -base64 32` prints'),
    ),
);

/**
 * The secrets that seal stored provider keys.
 * - `current` seals keys.
 * - `previous` only open keys that they sealed earlier, until `current` has sealed all keys again.
 */
export const masterSecretsSchema = lazily(() =>
  z.strictObject({
    /** At least 32 random characters; encrypts. */
    current: masterSecret(),
    /** Earlier values of `current`: they decrypt what they encrypted, until `gateway.credentials.rotate()` has run. */
    previous: z.array(masterSecret()).max(100).default([]),
  }),
);
export interface MasterSecrets extends z.infer<ReturnType<typeof masterSecretsSchema>> {}
