import { fromBase64, toBase64 } from '../../base/base64.ts';
import { GatewayError, isGatewayError } from '../../base/errors.ts';
import { lazily } from '../../base/lazily.ts';
import { type Sealed, sealedSchema } from '../../schema/tenants/credential.ts';
import { decrypt, encrypt, importKey, keyBytes, randomNonce } from './aes.ts';
import { cannotOpen, noMasterKey } from './errors.ts';

/**
 * Seals data keys of 32 bytes. `keyRing` seals with secrets from the configuration. For a key service (KMS), write your
 * own. Any rejection counts as an outage (503). A rejection with GatewayError `internal` means that the data key can
 * never be opened.
 */
export interface Sealer {
  /** Id of the key that new seals use; not secret. Up to 2,048 characters. */
  readonly keyId: string;
  /** @param context  the owner of the data key: the key must only open for the same text (KMS: encryption context) */
  seal(dataKey: Uint8Array, context: string): Promise<SealedKey>;
  /** Opens what `seal` sealed. */
  open(sealed: SealedKey, context: string): Promise<Uint8Array>;
}

/** A data key as a `Sealer` has sealed it. */
export interface SealedKey {
  /** The id of the key that sealed the data key. */
  keyId: string;
  /** The sealed data key, up to 16,384 characters. */
  sealed: string;
}

/** The owner of a secret. A secret that was sealed for one owner opens for no other. */
export type SecretOwner = CredentialOwner | GenerationOwner | ResponseOwner | ConversationOwner;

export interface CredentialOwner {
  credentialId: string;
  workspaceId: string;
  provider: string;
}

/** The owner of the prompt and the response of a request. */
export interface GenerationOwner {
  generationId: string;
  workspaceId: string;
}

/** The owner of a response that is kept, with its input. */
export interface ResponseOwner {
  responseId: string;
  workspaceId: string;
}

/** The owner of the items and the metadata of a conversation. */
export interface ConversationOwner {
  conversationId: string;
  workspaceId: string;
}

/**
 * Seals the provider keys of workspaces, and the prompts, responses and conversations that they keep. Each has a data key of its own,
 * which a master key seals. Both are bound to the owner, so that a record that was moved or swapped does not open.
 */
export interface Vault {
  /** false: there is no master key, so nothing can be sealed. */
  readonly isOpen: boolean;
  /** @throws GatewayError unavailable (503) when there is no master key, or its service is out of reach */
  seal(secret: string, of: SecretOwner): Promise<Sealed>;
  /**
   * @throws GatewayError internal (500): the secret can never be opened; unavailable (503): the key service is out of
   * reach
   */
  open(sealed: Sealed, of: SecretOwner): Promise<string>;
  /** Tells whether another master key than the current one sealed the secret. */
  needsReseal(sealed: Sealed): boolean;
  /** Seals the same data key with the current master key. The secret stays the same. @throws like `open` */
  reseal(sealed: Sealed, of: SecretOwner): Promise<Sealed>;
}

export interface VaultDeps {
  /** null: no master key is configured. */
  sealer: Sealer | null;
  /** `size` random bytes, cryptographically strong. */
  randomBytes: (size: number) => Uint8Array;
}

const sealedKeySchema = lazily(() => sealedSchema().pick({ keyId: true, sealedKey: true }));

export function createVault({ sealer, randomBytes }: VaultDeps): Vault {
  async function sealKey(dataKey: Uint8Array, context: string): Promise<Pick<Sealed, 'keyId' | 'sealedKey'>> {
    if (!sealer) throw noMasterKey();
    const { keyId, sealed } = await reaching(() => sealer.seal(dataKey, context));
    // A stored record with other values could not be read again.
    const checked = sealedKeySchema().safeParse({ keyId, sealedKey: sealed });
    if (checked.success) return checked.data;
    throw new GatewayError('internal', 'A provider key could not be sealed', {
      cause: new Error('the sealer gave something other than { keyId, sealed }, two texts of bounded length'),
    });
  }

  async function openKey({ keyId, sealedKey }: Sealed, context: string): Promise<Uint8Array> {
    if (!sealer) throw cannotOpen('no master key is configured');
    const dataKey = await reaching(() => sealer.open({ keyId, sealed: sealedKey }, context));
    if (dataKey.length !== keyBytes) throw cannotOpen('its data key has another length');
    return dataKey;
  }

  return {
    isOpen: sealer !== null,
    async seal(secret, of) {
      const context = contextOf(of);
      const dataKey = randomBytes(keyBytes);
      const sealedKey = await sealKey(dataKey, context);
      const bytes = new TextEncoder().encode(secret);
      const ciphertext = await encrypt(await importKey(dataKey), bytes, context, randomNonce(randomBytes));
      return { version: 1, ...sealedKey, ciphertext: toBase64(ciphertext) };
    },
    async open(sealed, of) {
      const context = contextOf(of);
      const dataKey = await openKey(sealed, context);
      const ciphertext = fromBase64(sealed.ciphertext);
      const bytes = ciphertext && (await decrypt(await importKey(dataKey), ciphertext, context));
      if (!bytes) throw cannotOpen('it was altered, or is of another credential');
      return new TextDecoder().decode(bytes);
    },
    needsReseal: (sealed) => sealer !== null && sealed.keyId !== sealer.keyId,
    async reseal(sealed, of) {
      const context = contextOf(of);
      return { ...sealed, ...(await sealKey(await openKey(sealed, context), context)) };
    },
  };
}

/** A text for the owner. Different owners have different texts. */
function contextOf(owner: SecretOwner): string {
  if ('responseId' in owner) return JSON.stringify(['model-gateway response', owner.workspaceId, owner.responseId]);
  if ('conversationId' in owner)
    return JSON.stringify(['model-gateway conversation', owner.workspaceId, owner.conversationId]);
  return 'generationId' in owner
    ? JSON.stringify(['model-gateway generation', owner.workspaceId, owner.generationId])
    : JSON.stringify(['model-gateway credential', owner.workspaceId, owner.provider, owner.credentialId]);
}

async function reaching<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (isGatewayError(error)) throw error;
    throw new GatewayError('unavailable', 'The service that guards provider keys is out of reach; try again', {
      cause: error,
      retryAfterMs: 1000,
    });
  }
}
