import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';

/** With a larger limit, what is counted in a minute might not be an exact number any more. */
export const largestRateLimit = 1_000_000_000;

/** null: no limit. */
export const rateLimit = lazily(() => z.int().min(1).max(largestRateLimit).nullable());

/** Limits of one API key or of one workspace, in options and stored records. */
export const rateLimitsSchema = lazily(() =>
  z.strictObject({
    /** Client calls. */
    requestsPerMinute: rateLimit().default(null),
    /** Tokens of prompts and responses together. */
    tokensPerMinute: rateLimit().default(null),
    /** Client calls at the same time. */
    requestsInFlight: rateLimit().default(null),
  }),
);
export interface RateLimits extends z.output<ReturnType<typeof rateLimitsSchema>> {}

/** The same on the wire. */
export const rateLimitFields = lazily(() => ({
  /** Client calls a minute; null: the limit that the options give to every key. */
  requests_per_minute: rateLimit(),
  /** Tokens of prompts and responses together; null: as above. */
  tokens_per_minute: rateLimit(),
  /** Client calls at the same time; null: as above. */
  requests_in_flight: rateLimit(),
}));

/** A limit and what is left of it, in responses. */
export const rateLimitStateSchema = lazily(() =>
  z.object({
    scope: z.enum(['key', 'workspace']),
    name: z.enum(['requests_per_minute', 'tokens_per_minute', 'requests_in_flight']),
    limit: z.int(),
    remaining: z.int(),
    /** Until all of it is free again, if nothing else comes; null for requests in flight. */
    reset_seconds: z.number().nullable(),
  }),
);
export interface RateLimitState extends z.output<ReturnType<typeof rateLimitStateSchema>> {}
