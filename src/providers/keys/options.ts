import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { expectation } from '../../schema/chat/expectations.ts';
import { func } from '../../schema/functions.ts';
import { slugForm } from '../../schema/slug-form.ts';
import type { ApiKeySource } from './api-key.ts';

/**
 * The orders in which several keys are used:
 * - order: as they are listed, so a key is used while those before it are in cooldown
 * - round-robin: each request begins with the next key
 * - least-loaded: the key with the fewest requests in flight comes first; of equals, in turn
 */
export const keyStrategies = ['order', 'round-robin', 'least-loaded'] as const;
/** One of these orders. */
export type KeyStrategy = (typeof keyStrategies)[number];

/** The most keys of a provider. */
export const mostKeys = 100;

/** A key, or a function that returns it. */
export const anyKey = lazily(() => z.union([z.string().min(1), func<ApiKeySource>('({ refused, signal }) => key')]));

/** One of several keys. */
export const keyOption = lazily(() =>
  z.union([
    anyKey(),
    z.strictObject({
      /** The key, or a function that returns it. */
      key: anyKey(),
      /**
       * Names the key in logs, records, spans, explanations and `gateway.state()`: a slug that no other key of the provider
       * has.
       * @default `key-` and the place in the list, from 1
       */
      label: z
        .string()
        .regex(slugForm, expectation('expected a slug: lower-case letters, digits, single hyphens or dots'))
        .optional(),
    }),
  ]),
);

/** One of several keys, as a host app gives it. */
export type GivenKey = z.input<ReturnType<typeof keyOption>>;
