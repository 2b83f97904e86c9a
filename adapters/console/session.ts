import { EncryptJWT, errors, jwtDecrypt } from 'jose';

/** The content of a session: the key with which its owner has signed in. */
export interface Session {
  /** The API key. It is in the browser in sealed form only. */
  key: string;
  /** The time of the sign-in, epoch ms. */
  startedAtMs: number;
  /** The end of the session, epoch ms. It is kept in whole seconds. */
  expiresAtMs: number;
}

/** Seals sessions, so that a cookie can carry them and no store has to keep them. */
export interface Sealer {
  /** Seals a session. @returns a compact JWE: letters, digits, `-`, `_` and `.` */
  seal(session: Session): Promise<string>;
  /** Opens a sealed session. @returns null: it was made with another secret, was changed, or has expired */
  open(sealed: string, nowMs: number): Promise<Session | null>;
}

/** The type of the token. The seal covers it, so that nothing else that the same secret sealed opens as a session. */
const typ = 'model-gateway-console-session+jwt';
const algorithms = { alg: 'dir', enc: 'A256GCM' } as const;

/**
 * Makes a sealer of one secret: an encrypted JWT, AES-256-GCM under the SHA-256 of the secret.
 * @param secret  32 characters or bytes at least
 */
export function createSealer(secret: string | Uint8Array<ArrayBuffer>): Sealer {
  let digest: Promise<Uint8Array> | null = null;
  const keyOf = async () => {
    const bytes = typeof secret === 'string' ? new TextEncoder().encode(secret) : secret;
    return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  };
  const sealingKey = () => (digest ??= keyOf());
  return {
    async seal({ key, startedAtMs, expiresAtMs }) {
      return new EncryptJWT({ key, startedAtMs })
        .setProtectedHeader({ ...algorithms, typ })
        .setExpirationTime(Math.floor(expiresAtMs / 1000))
        .encrypt(await sealingKey());
    },
    async open(sealed, nowMs) {
      try {
        const { payload } = await jwtDecrypt<Pick<Session, 'key' | 'startedAtMs'>>(sealed, await sealingKey(), {
          typ,
          currentDate: new Date(nowMs),
          requiredClaims: ['exp'],
          keyManagementAlgorithms: [algorithms.alg],
          contentEncryptionAlgorithms: [algorithms.enc],
        });
        const { key, startedAtMs, exp = 0 } = payload;
        return { key, startedAtMs, expiresAtMs: exp * 1000 };
      } catch (error) {
        // It was sealed with another secret, has expired, or somebody changed it: as good as no session.
        if (error instanceof errors.JOSEError) return null;
        throw error;
      }
    },
  };
}
