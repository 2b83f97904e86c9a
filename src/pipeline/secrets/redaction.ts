import { secretsInUrl } from '../../base/http/base-url.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import { createRedactor, type Redactor } from '../../base/secrets.ts';
import { dropNativeBody } from '../../call/native-events.ts';
import type { EncodedRequest } from '../../dialects/dialect.ts';
import type { Credential, OutgoingRequest, Provider } from '../../providers/provider.ts';
import type { ChatResult } from '../../schema/chat/chat.ts';

/**
 * Headers whose values name the client or the kind of request, and which responses may well hold. The others may hold a
 * secret.
 */
const publicHeaders: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'anthropic-beta',
  'anthropic-version',
  'content-type',
  'http-referer',
  'openai-beta',
  'origin',
  'referer',
  'user-agent',
  'x-title',
]);

const redactors = new WeakMap<Credential, Redactor>();
const errorRedactors = new WeakMap<Credential, Redactor>();

/**
 * Makes the redactor of everything that the upstream sends. It takes out the key, the secret parts of the credential,
 * and the values of its headers and of the query of the provider's address. Other parts, such as a region, are words
 * that a response may well hold.
 */
export function redactorOf(provider: Provider, credential: Credential): Redactor {
  let redactor = redactors.get(credential);
  if (!redactor) {
    redactor = createRedactor(secretsOf(provider, credential));
    redactors.set(credential, redactor);
  }
  return redactor;
}

function secretsOf({ credentialShape: shape, baseUrl }: Provider, credential: Credential): string[] {
  const parts = Object.entries(credential.parts ?? {}).filter(([name]) => shape?.parts[name]?.isSecret !== false);
  return [
    credential.secret,
    ...parts.map(([, value]) => value),
    ...secretsInHeaders(credential.headers ?? {}),
    ...secretsInAddress(baseUrl, credential),
  ];
}

/**
 * Returns the lines of a private key, whose ends may be written as two characters. Each line is a part of the secret.
 * No provider is sent such a key: only errors are searched for its lines.
 */
function linesOf(value: string): string[] {
  const lines = value.split(/\r?\n|\\n/).filter((line) => line !== '' && !line.startsWith('-----'));
  return value.startsWith('-----BEGIN ') ? [lines.join(''), ...lines.filter((line) => line.length >= 16)] : [];
}

const signedRedactors = new WeakMap<Credential, { token: string; redactor: Redactor }>();

/**
 * Makes the same redactor, also for a token that `auth` has made of the credential, such as that of a service account:
 * it opens everything that the credential does, for as long as it lives. A signature of one request is not a token.
 */
export function redactorOfSigned(context: Context, { headers }: OutgoingRequest): Redactor {
  const { provider, credential, encoded } = context;
  const { authorization } = headers;
  const token = authorization?.startsWith('Bearer ') ? authorization.slice('Bearer '.length) : '';
  const isMade = token !== '' && token !== credential.secret && headers !== encoded.headers;
  if (!isMade || Object.values(credential.parts ?? {}).includes(token)) return context.redactor;
  const known = signedRedactors.get(credential);
  if (known?.token === token) return known.redactor;
  const redactor = createRedactor([token, ...secretsOf(provider, credential)]);
  signedRedactors.set(credential, { token, redactor });
  return redactor;
}

type Context = {
  provider: Provider;
  credential: Credential;
  encoded: Pick<EncodedRequest, 'headers'>;
  redactor: Redactor;
};

/**
 * Takes all parts of the credential out of an error, which is short: an upstream may put the key it was sent into its
 * error text.
 */
export function withoutKeys(error: unknown, credential: Credential, baseUrl: Provider['baseUrl']): unknown {
  if (!(error instanceof UpstreamError)) return error;
  let redactor = errorRedactors.get(credential);
  if (!redactor) {
    const { secret, parts = {}, headers = {} } = credential;
    redactor = createRedactor([
      secret,
      ...Object.values(parts).flatMap((value) => [value, ...linesOf(value)]),
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
  const failure = error.failure === undefined ? undefined : redactor.redact(error.failure);
  const isClean = message === error.message && providerCode === error.providerCode && raw === error.raw;
  if (isClean && failure === error.failure) return error;
  return error.with({ message, providerCode, raw, failure });
}

/**
 * Takes out secrets that only decoding has put together, such as texts in several parts. The response itself came
 * without secrets.
 */
export function withoutJoinedSecrets(result: ChatResult, redactor: Redactor): void {
  for (const { message } of result.choices) {
    if (typeof message.content !== 'string') continue;
    const clean = redactor.redact(message.content);
    if (clean === message.content) continue;
    message.content = clean;
    // The body holds the pieces, and belongs to the first message.
    for (const one of result.choices) dropNativeBody(one.message);
  }
}

/**
 * Returns the parts that must not be shown of headers that an operator sends with every request: their values, and the
 * parts of these, such as the token after `Bearer`, the user and password of `Basic`, and the values of cookies.
 */
function secretsInHeaders(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers)
    .filter(([name]) => !publicHeaders.has(name.toLowerCase()))
    .flatMap(([name, value]) => partsOf(name.toLowerCase(), value.trim()));
}

function partsOf(name: string, value: string): string[] {
  if (name === 'cookie') return [value, ...value.split(/; */).map((pair) => pair.slice(pair.indexOf('=') + 1))];
  const [scheme = '', ...rest] = value.split(' ');
  const token = rest.join(' ').trim();
  if (token === '') return [value];
  return [value, token, ...(scheme.toLowerCase() === 'basic' ? userAndPassword(token) : [])];
}

function userAndPassword(base64: string): string[] {
  try {
    const pair = atob(base64);
    return [pair, pair.slice(pair.indexOf(':') + 1)];
  } catch {
    // The value is no base64, and so holds nothing else.
    return [];
  }
}
