import * as z from 'zod';

export const permissionSchema = z.enum(['inference', 'management']);

/** A key as it is stored: its hash, never the key. */
export const storedApiKeySchema = z.strictObject({
  /** SHA-256 of the key, hex: also its id. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  name: z.string().max(255),
  /** First and last characters only. */
  label: z.string(),
  permissions: z.array(permissionSchema).min(1),
  workspaceId: z.string().min(1),
  disabled: z.boolean(),
  /** Epoch ms. */
  createdAtMs: z.int(),
  /** Epoch ms; null: never. */
  expiresAtMs: z.int().nullable(),
});
export interface StoredApiKey extends z.infer<typeof storedApiKeySchema> {}

/** What a new key is made from. */
export const newApiKeySchema = z.strictObject({
  name: z.string().min(1).max(255).default('API key'),
  permissions: z.array(permissionSchema).min(1).default(['inference']),
  /** Epoch ms; default never. */
  expiresAtMs: z.int().positive().nullable().default(null),
});
export interface NewApiKey extends z.input<typeof newApiKeySchema> {}
