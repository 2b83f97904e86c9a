import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { isOnOneLine, pastedKey } from '../../base/text/pasted-key.ts';
import { list, textUpTo } from '../bounded.ts';
import { expectation } from '../chat/expectations.ts';
import { limitParameter, offsetParameter, type QueryFields, uuidText } from '../page.ts';
import { text } from '../scalars.ts';
import { slugForm } from '../slug-form.ts';

/** Long enough for a service account's file, which some providers take for a key. */
const maxKeyChars = 16_384;

/**
 * The key of a provider, as the caller sends it: one string, or the JSON text of several parts. Blanks, quotation marks
 * and the word `Bearer` around it are left out.
 */
const rawKey = lazily(() =>
  textUpTo(maxKeyChars)
    .overwrite((key) => pastedKey(key).key)
    .min(1)
    .refine(
      isUsableKey,
      expectation('expected a key of visible ASCII characters on one line; or a JSON object, which may span lines'),
    ),
);

const maxNameChars = 255;

const name = lazily(() => textUpTo(maxNameChars).nullable());
/** null: no restriction; empty: nothing is allowed. */
const allowed = lazily(() => list(textUpTo(256)).max(100).nullable());
const allowedHashes = lazily(() =>
  list(
    z
      .string()
      .regex(/^[0-9a-f]{64}$/, expectation('expected the hash of an api key: 64 lower-case hexadecimal digits')),
  )
    .max(100)
    .nullable(),
);
const flag = lazily(() => z.boolean());

const restrictions = lazily(() => ({
  allowed_models: allowed(),
  allowed_user_ids: allowed(),
  allowed_api_key_hashes: allowedHashes(),
}));

/**
 * A provider's key that a workspace brought, as callers see it: without the key.
 * @see interface document, "Provider credential (BYOK)"
 */
export const credentialSchema = lazily(() =>
  z.object({
    id: z.uuid(),
    /** A UUID, unless the host app names workspaces otherwise. */
    workspace_id: text(),
    provider: providerSlug(),
    name: name(),
    /** First and last characters of the key only; nothing of a short one. */
    label: text(),
    disabled: flag(),
    /** true: tried after the others of its provider, the operator's own key included. */
    is_fallback: flag(),
    /** Ascending; per provider. */
    sort_order: z.int(),
    /** Model slugs; `*` stands for anything. */
    ...restrictions(),
    /** ISO 8601, UTC. */
    created_at: z.iso.datetime(),
    /** The reason why no request uses the credential, and what is expected; absent: requests may use it. */
    unusable_reason: text().optional(),
  }),
);
export interface ShownCredential extends z.infer<ReturnType<typeof credentialSchema>> {}

export const credentialAnswerSchema = lazily(() => z.object({ data: credentialSchema() }));
export const credentialListSchema = lazily(() => z.object({ data: z.array(credentialSchema()), total_count: z.int() }));
export const credentialDeletedSchema = lazily(() => z.object({ deleted: z.literal(true) }));

const base64 = lazily(() => z.string().regex(/^[A-Za-z0-9+/]+=*$/));

/** A secret, encrypted by a key of its own, which is encrypted by a master key. */
export const sealedSchema = lazily(() =>
  z.strictObject({
    version: z.literal(1),
    /** Id of the master key that sealed the data key. */
    keyId: z.string().min(1).max(2048),
    /** As its sealer writes it. */
    sealedKey: z.string().min(1).max(16_384),
    /** 12 bytes of nonce, then AES-256-GCM's ciphertext and tag. */
    ciphertext: base64(),
  }),
);
export interface Sealed extends z.infer<ReturnType<typeof sealedSchema>> {}

/** A credential as it is stored. */
export const storedCredentialSchema = lazily(() =>
  z.strictObject({
    ...credentialSchema().omit({ unusable_reason: true }).shape,
    sealed: sealedSchema(),
    /** The parts that the provider needs and the key lacks; null: none. Absent in records of earlier versions. */
    lacks: text().nullable().optional(),
    /** ISO 8601, UTC; null: as it was made. */
    updated_at: z.iso.datetime().nullable(),
  }),
);
export interface StoredCredential extends z.infer<ReturnType<typeof storedCredentialSchema>> {}

const maxSlugChars = 100;

/** Slug of a provider. The gateway checks whether it exists, not the schema. */
const providerSlug = lazily(() =>
  z
    .string()
    .max(maxSlugChars)
    .regex(
      slugForm,
      expectation('expected the slug of a provider: lower-case letters, digits, single hyphens or dots'),
    ),
);

const settings = lazily(() => ({
  name: name().optional(),
  disabled: flag().optional(),
  is_fallback: flag().optional(),
  allowed_models: allowed().optional(),
  allowed_user_ids: allowed().optional(),
  /** Later versions of the interface take it; in this one, only responses hold it. */
  allowed_api_key_hashes: allowedHashes().optional(),
}));

/**
 * Body of POST /byok. Closed: a restriction that was misspelt and silently ignored would let through what the caller
 * meant to keep out.
 * @see interface document, "POST /byok"
 */
export const createCredentialSchema = lazily(() =>
  z.strictObject({
    provider: providerSlug(),
    key: rawKey(),
    workspace_id: uuidText().optional(),
    ...settings(),
  }),
);
export interface CreateCredential extends z.infer<ReturnType<typeof createCredentialSchema>> {}
/** The same before it is checked. */
export interface CredentialFields extends z.input<ReturnType<typeof createCredentialSchema>> {}

/**
 * Body of PATCH /byok/{id}: what is left out stays, null clears, a list replaces; `key` replaces the key and its label.
 */
export const updateCredentialSchema = lazily(() => z.strictObject({ key: rawKey().optional(), ...settings() }));
export interface UpdateCredential extends z.infer<ReturnType<typeof updateCredentialSchema>> {}

/** Query of GET /byok. */
export const listCredentialsQuery = lazily(() =>
  z.strictObject({
    offset: offsetParameter(),
    limit: limitParameter(),
    workspace_id: uuidText().optional(),
    provider: providerSlug().optional(),
  }),
);
export interface ListCredentialsQuery extends z.infer<ReturnType<typeof listCredentialsQuery>> {}
export interface ListCredentialsFields extends QueryFields<z.input<ReturnType<typeof listCredentialsQuery>>> {}

/**
 * Tells whether a key can be sent in a header: a line break would end the header, and a blank at the end of a key is a
 * mistake of copying. Keys that are JSON are split into parts before use.
 */
function isUsableKey(key: string): boolean {
  // It is refused already, and may be megabytes of brackets, which keep the parser busy for seconds.
  if (key.length > 2 * maxKeyChars) return true;
  if (isOnOneLine(key)) return true;
  if (!key.startsWith('{') || !key.isWellFormed()) return false;
  try {
    JSON.parse(key);
    return true;
  } catch {
    return false;
  }
}
