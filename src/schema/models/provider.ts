import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';

/** A provider in listings. null: not known. */
export const providerSchema = lazily(() =>
  z.object({
    name: z.string(),
    slug: z.string(),
    privacy_policy_url: z.string().nullable(),
    terms_of_service_url: z.string().nullable(),
    status_page_url: z.string().nullable(),
    /** ISO 3166-1 alpha-2. */
    headquarters: z.string().nullable(),
    datacenters: z.array(z.string()).nullable(),
  }),
);
export interface ShownProvider extends z.infer<ReturnType<typeof providerSchema>> {}
