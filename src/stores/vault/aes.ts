const algorithm = 'AES-GCM';
const nonceBytes = 12;
const tagBytes = 16;

/** AES-256 keys are so long. */
export const keyBytes = 32;

/** @param bytes  32; copied */
export function importKey(bytes: Uint8Array): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', new Uint8Array(bytes), algorithm, false, ['encrypt', 'decrypt']);
}

/**
 * AES-256-GCM.
 * @param context  what the bytes belong to; they only open for the same
 * @param nonce    12 bytes, random: never twice with one key
 * @returns the nonce, then ciphertext and tag
 */
export async function encrypt(key: CryptoKey, bytes: Uint8Array, context: string, nonce: Uint8Array) {
  const iv = new Uint8Array(nonce);
  const sealed = await crypto.subtle.encrypt(
    { name: algorithm, iv, additionalData: encode(context) },
    key,
    copy(bytes),
  );
  const whole = new Uint8Array(nonceBytes + sealed.byteLength);
  whole.set(iv);
  whole.set(new Uint8Array(sealed), nonceBytes);
  return whole;
}

/** null: altered, cut short, of another context or sealed with another key. */
export async function decrypt(key: CryptoKey, sealed: Uint8Array, context: string): Promise<Uint8Array | null> {
  if (sealed.length < nonceBytes + tagBytes) return null;
  const iv = copy(sealed.subarray(0, nonceBytes));
  try {
    const parameters = { name: algorithm, iv, additionalData: encode(context) };
    return new Uint8Array(await crypto.subtle.decrypt(parameters, key, copy(sealed.subarray(nonceBytes))));
  } catch {
    // All that WebCrypto says of a failure is that there was one.
    return null;
  }
}

export function randomNonce(randomBytes: (size: number) => Uint8Array): Uint8Array {
  return randomBytes(nonceBytes);
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Of memory that is not shared, as WebCrypto wants it. */
function copy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
