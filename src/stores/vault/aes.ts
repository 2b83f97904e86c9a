const algorithm = 'AES-GCM';
const nonceBytes = 12;
const tagBytes = 16;

/** The length of an AES-256 key. */
export const keyBytes = 32;

/** @param bytes  32 bytes; copied */
export function importKey(bytes: Uint8Array): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', new Uint8Array(bytes), algorithm, false, ['encrypt', 'decrypt']);
}

/**
 * Encrypts with AES-256-GCM.
 * @param context  the owner of the bytes; they only open for the same text
 * @param nonce    12 random bytes: never twice with one key
 * @returns the nonce, then ciphertext and tag
 */
export async function encrypt(key: CryptoKey, bytes: Uint8Array, context: string, nonce: Uint8Array) {
  const iv = new Uint8Array(nonce);
  const sealed = await crypto.subtle.encrypt(
    { name: algorithm, iv, additionalData: encode(context) },
    key,
    copy(bytes),
  );
  const joined = new Uint8Array(nonceBytes + sealed.byteLength);
  joined.set(iv);
  joined.set(new Uint8Array(sealed), nonceBytes);
  return joined;
}

/** @returns null: altered, cut, of another context, or sealed with another key */
export async function decrypt(key: CryptoKey, sealed: Uint8Array, context: string): Promise<Uint8Array | null> {
  if (sealed.length < nonceBytes + tagBytes) return null;
  const iv = copy(sealed.subarray(0, nonceBytes));
  try {
    const parameters = { name: algorithm, iv, additionalData: encode(context) };
    return new Uint8Array(await crypto.subtle.decrypt(parameters, key, copy(sealed.subarray(nonceBytes))));
  } catch {
    // WebCrypto gives no details about a failure.
    return null;
  }
}

export function randomNonce(randomBytes: (size: number) => Uint8Array): Uint8Array {
  return randomBytes(nonceBytes);
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Copies bytes into memory that is not shared, as WebCrypto requires. */
function copy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
