import { EncryptJWT, errors, jwtDecrypt } from 'jose';

/** The content of a session: the key with which its owner has signed in. */
export interface Session {
  /** Names the session, however often its cookie is renewed. */
  id: string;
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
    async seal({ id, key, startedAtMs, expiresAtMs }) {
      return new EncryptJWT({ key, startedAtMs })
        .setProtectedHeader({ ...algorithms, typ })
        .setJti(id)
        .setExpirationTime(Math.floor(expiresAtMs / 1000))
        .encrypt(await sealingKey());
    },
    async open(sealed, nowMs) {
      try {
        const { payload } = await jwtDecrypt<Pick<Session, 'key' | 'startedAtMs'>>(sealed, await sealingKey(), {
          typ,
          currentDate: new Date(nowMs),
          requiredClaims: ['exp', 'jti'],
          keyManagementAlgorithms: [algorithms.alg],
          contentEncryptionAlgorithms: [algorithms.enc],
        });
        const { jti: id = '', key, startedAtMs, exp = 0 } = payload;
        return { id, key, startedAtMs, expiresAtMs: exp * 1000 };
      } catch (error) {
        // It was sealed with another secret, has expired, or somebody changed it: as good as no session.
        if (error instanceof errors.JOSEError) return null;
        throw error;
      }
    },
  };
}

/** The sessions whose owners have signed out in this process: copies of their cookies are as none. */
export interface EndedSessions {
  add(session: Session, nowMs: number): void;
  has(session: Session): boolean;
}

/** So many are kept: only who has signed in can add one. */
const mostEnded = 10_000;

/** @param maxSessionMs  the time after which a session has ended in any case */
export function createEndedSessions(maxSessionMs: number): EndedSessions {
  /** The end in any case, by id, the oldest first. */
  const ended = new Map<string, number>();
  return {
    add({ id, startedAtMs }, nowMs) {
      for (const [known, endMs] of ended) if (endMs <= nowMs || ended.size >= mostEnded) ended.delete(known);
      ended.set(id, startedAtMs + maxSessionMs);
    },
    has: ({ id }) => ended.has(id),
  };
}
