import { createRedactor, type Redactor, redact } from '../../base/secrets.ts';
import { UpstreamError } from '../../base/upstream-error.ts';
import type { Credential, Provider } from '../../providers/provider.ts';

const redactors = new WeakMap<Credential, Redactor>();

/**
 * For what the upstream sends. It takes out the key and the secret parts of the credential. Other parts, such as a
 * region, are words that a response may well hold.
 */
export function redactorOf({ credentialShape: shape }: Provider, credential: Credential): Redactor {
  let redactor = redactors.get(credential);
  if (!redactor) {
    const parts = Object.entries(credential.parts ?? {}).filter(([name]) => shape?.parts[name]?.isSecret !== false);
    redactor = createRedactor([credential.secret, ...parts.map(([, value]) => value)].filter(isNotEmpty));
    redactors.set(credential, redactor);
  }
  return redactor;
}

/** An upstream may put the key it was sent into its error text. Of an error, which is short, all parts are taken out. */
export function withoutKeys(error: unknown, credential: Credential): unknown {
  const secrets = [credential.secret, ...Object.values(credential.parts ?? {})].filter(isNotEmpty);
  if (!(error instanceof UpstreamError) || secrets.length === 0) return error;
  const message = redact(error.message, secrets);
  const providerCode = error.providerCode === undefined ? undefined : redact(error.providerCode, secrets);
  if (message === error.message && providerCode === error.providerCode) return error;
  return error.with({ message, providerCode });
}

function isNotEmpty(text: string): boolean {
  return text !== '';
}
