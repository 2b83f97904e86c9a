import type { Credential } from '../provider.ts';

/** How long a token lives: Google takes none that lives longer. */
const lifetimeMs = 60 * 60 * 1000;
/** A token is renewed so long before its end: the provider's clock may be ahead, and requests take time. */
const marginMs = 10 * 60 * 1000;

interface SignedToken {
  token: Promise<string>;
  renewAtMs: number;
}

const tokens = new WeakMap<Credential, SignedToken>();

/**
 * A token that the service account signs for itself, so that none has to be fetched. It is kept until shortly before
 * its end; signing takes a millisecond.
 * @throws where the private key is none
 * @see https://google.aip.dev/auth/4111
 */
export function serviceAccountToken(credential: Credential, nowMs: number): Promise<string> {
  const known = tokens.get(credential);
  // A clock that was set back must not keep a token for longer.
  if (known && nowMs < known.renewAtMs && nowMs > known.renewAtMs - lifetimeMs) return known.token;
  const token = sign(credential, Math.floor(nowMs / 1000));
  tokens.set(credential, { token, renewAtMs: nowMs + lifetimeMs - marginMs });
  token.catch(() => {
    if (tokens.get(credential)?.token === token) tokens.delete(credential);
  });
  return token;
}

async function sign({ parts }: Credential, nowSeconds: number): Promise<string> {
  const { clientEmail = '', privateKey = '', privateKeyId } = parts ?? {};
  // Few gateways need it.
  const { importPKCS8, SignJWT } = await import('jose');
  const key = await importPKCS8(privateKey.replaceAll('\\n', '\n').trim(), 'RS256');
  return new SignJWT()
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(privateKeyId === undefined ? {} : { kid: privateKeyId }) })
    .setIssuer(clientEmail)
    .setSubject(clientEmail)
    .setAudience('https://aiplatform.googleapis.com/')
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + lifetimeMs / 1000)
    .sign(key);
}
