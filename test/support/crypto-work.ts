/** WebCrypto works on other threads, for as long as they take: a manual clock must not move on meanwhile. */
export const cryptoWork = { pending: 0 };

const counted = ['encrypt', 'decrypt', 'importKey', 'deriveKey', 'deriveBits', 'digest', 'sign', 'verify'] as const;

const subtle = Object.getPrototypeOf(crypto.subtle) as Record<string, (...args: unknown[]) => Promise<unknown>>;
for (const name of counted) {
  const original = subtle[name] as (...args: unknown[]) => Promise<unknown>;
  subtle[name] = async function (this: unknown, ...args: unknown[]) {
    cryptoWork.pending++;
    try {
      return await original.apply(this, args);
    } finally {
      cryptoWork.pending--;
    }
  };
}
