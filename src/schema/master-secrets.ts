import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { expectation } from './expectations.ts';

/** Whoever has it can open every stored provider key: long, random, and kept apart from the store. */
const masterSecret = lazily(() =>
  z
    .string()
    .refine(
      (secret) => secret.length >= 32,
      expectation('expected at least 32 random characters, such as `openssl rand -base64 32` prints'),
    ),
);

/**
 * What stored provider keys are sealed with.
 * - `current` seals
 * - `previous` only open what they sealed before, until all of it has been sealed anew
 */
export const masterSecretsSchema = lazily(() =>
  z.strictObject({
    current: masterSecret(),
    previous: z.array(masterSecret()).max(100).default([]),
  }),
);
export interface MasterSecrets extends z.infer<ReturnType<typeof masterSecretsSchema>> {}
