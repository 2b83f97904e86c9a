import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { fromBase64, toBase64 } from '../../base/base64.ts';
import { decrypt, encrypt, importKey, keyBytes, randomNonce } from './aes.ts';
import { cannotOpen } from './errors.ts';
import type { Sealer } from './index.ts';

interface RingKey {
  id: string;
  /** Imports the key at the first use. */
  key: () => Promise<CryptoKey>;
}

/**
 * Seals data keys with secrets from the configuration. HKDF-SHA256 derives from each secret a key, and an id that
 * reveals nothing about the key.
 * @param secrets      of at least 32 characters; `current` seals, all open
 * @param randomBytes  cryptographically strong
 */
export function keyRing(
  secrets: { current: string; previous?: readonly string[] },
  randomBytes: (size: number) => Uint8Array,
): Sealer {
  const current = ringKey(secrets.current);
  const keys = new Map<string, RingKey>();
  for (const one of [current, ...(secrets.previous ?? []).map(ringKey)]) keys.set(one.id, one);
  return {
    keyId: current.id,
    async seal(dataKey, context) {
      const bytes = await encrypt(await current.key(), dataKey, context, randomNonce(randomBytes));
      return { keyId: current.id, sealed: toBase64(bytes) };
    },
    async open({ keyId, sealed }, context) {
      const known = keys.get(keyId);
      if (!known) throw cannotOpen(`the master key ${keyId} is not among the configured secrets`);
      const bytes = fromBase64(sealed);
      const dataKey = bytes && (await decrypt(await known.key(), bytes, context));
      if (!dataKey) throw cannotOpen('its data key was altered, or is of another credential');
      return dataKey;
    },
  };
}

function ringKey(secret: string): RingKey {
  let imported: Promise<CryptoKey> | null = null;
  return {
    id: bytesToHex(stretch(secret, 'master key id', 8)),
    key: () => {
      imported ??= importKey(stretch(secret, 'master key', keyBytes));
      return imported;
    },
  };
}

/** Derives bytes for one purpose. The bytes for different purposes reveal nothing about each other. */
function stretch(secret: string, purpose: string, length: number): Uint8Array {
  return hkdf(sha256, utf8ToBytes(secret.toWellFormed()), utf8ToBytes('model-gateway'), utf8ToBytes(purpose), length);
}
