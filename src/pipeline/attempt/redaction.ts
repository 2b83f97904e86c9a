import { secretsInUrl } from '../../base/base-url.ts';
import { createRedactor, type Redactor } from '../../base/secrets.ts';
import { UpstreamError } from '../../base/upstream-error.ts';
import type { Credential, Provider } from '../../providers/provider.ts';
import type { ChatResult } from '../../schema/chat.ts';
import { secretsInHeaders } from './header-secrets.ts';

const redactors = new WeakMap<Credential, Redactor>();
const errorRedactors = new WeakMap<Credential, Redactor>();

/**
 * For what the upstream sends. It takes out the key, the secret parts of the credential, and what its headers and the
 * query of the provider's address hold. Other parts, such as a region, are words that a response may well hold.
 */
export function redactorOf({ credentialShape: shape, baseUrl }: Provider, credential: Credential): Redactor {
  let redactor = redactors.get(credential);
  if (!redactor) {
    const parts = Object.entries(credential.parts ?? {}).filter(([name]) => shape?.parts[name]?.isSecret !== false);
    redactor = createRedactor([
      credential.secret,
      ...parts.map(([, value]) => value),
      ...secretsInHeaders(credential.headers ?? {}),
      ...secretsInAddress(baseUrl, credential),
    ]);
    redactors.set(credential, redactor);
  }
  return redactor;
}

/**
 * An upstream may put the key it was sent into its error text. Of an error, which is short, all parts are taken out.
 */
export function withoutKeys(error: unknown, credential: Credential, baseUrl: Provider['baseUrl']): unknown {
  if (!(error instanceof UpstreamError)) return error;
  let redactor = errorRedactors.get(credential);
  if (!redactor) {
    const { secret, parts = {}, headers = {} } = credential;
    redactor = createRedactor([
      secret,
      ...Object.values(parts),
      ...Object.values(headers),
      ...secretsInHeaders(headers),
      ...secretsInAddress(baseUrl, credential),
    ]);
    errorRedactors.set(credential, redactor);
  }
  return withoutSecrets(error, redactor);
}

function secretsInAddress(baseUrl: Provider['baseUrl'], credential: Credential): string[] {
  try {
    return secretsInUrl(typeof baseUrl === 'string' ? baseUrl : baseUrl(credential));
  } catch {
    // The host app's own function throws: the attempt fails where the request is made, and there is no address.
    return [];
  }
}

/** Takes secrets out of the texts that an error shows. */
export function withoutSecrets(error: UpstreamError, redactor: Redactor): UpstreamError {
  const message = redactor.redact(error.message);
  const providerCode = error.providerCode === undefined ? undefined : redactor.redact(error.providerCode);
  const raw = error.raw === undefined ? undefined : redactor.redact(error.raw);
  if (message === error.message && providerCode === error.providerCode && raw === error.raw) return error;
  return error.with({ message, providerCode, raw });
}

/**
 * A complete response came without secrets, but for what only its decoding has put together: texts in several parts.
 */
export function withoutJoinedSecrets(result: ChatResult, redactor: Redactor): void {
  for (const { message } of result.choices) {
    if (typeof message.content !== 'string') continue;
    const clean = redactor.redact(message.content);
    if (clean !== message.content) message.content = clean;
  }
}
