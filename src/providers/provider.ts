import type { Clock } from '../base/clock.ts';
import type { DataPolicy } from '../call/model.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Transport } from '../transport/transport.ts';

/** A provider key: ours, or a caller's. Most providers take one string; some need several (region, account, …). */
export interface Credential {
  /** The key; the part `apiKey` where there are several. '' where there is none, such as for a local server. */
  secret: string;
  /** The other parts by name, of a provider that declares some. */
  parts?: Readonly<Record<string, string>>;
  /**
   * Headers that go with it, such as an organization's or a proxy's; names in lower case. Only of the operator's own.
   */
  headers?: Readonly<Record<string, string>>;
}

/** One part of a credential that has several. */
export interface CredentialPart {
  /** Completes "expected …" where the part is missing or wrong, such as `a region such as us-east-1`. */
  expected: string;
  /** true: may be left out. */
  isOptional?: boolean;
  /**
   * false: not confidential, such as a region, and not taken out of responses that hold it. Default true. What becomes
   * part of an address must not be confidential: its usual pattern keeps it from naming another host.
   */
  isSecret?: boolean;
  /**
   * What the complete value must match. Default: of a secret, visible characters on one line; of another part, up to
   * 128 letters, digits, `-` and `_`.
   */
  pattern?: RegExp;
  /** Environment variables that hold this part, most usual first. Those of the part `apiKey` are the provider's `env`. */
  env?: readonly string[];
}

/** What the credentials of a provider consist of. */
export interface CredentialShape {
  /** By name. The part `apiKey` becomes `secret`, the others `parts`. */
  parts: Readonly<Record<string, CredentialPart>>;
  /** Sets of optional parts, such as the two ways to sign in. One of the sets must be complete. */
  oneOf?: readonly (readonly string[])[];
  /**
   * Other names of parts, such as those in a file of keys that the provider issues: a workspace may send such a file as
   * it is. null: a name of the file that is no part, and is left out.
   */
  aliases?: Readonly<Record<string, string | null>>;
  /** Parts that only the built-in address needs: where the operator sets `baseUrl`, there are none of them. */
  ofAddress?: readonly string[];
}

/** A request that is about to be sent. */
export interface OutgoingRequest {
  /** HTTP method. */
  method: 'POST' | 'GET';
  /** The complete address. */
  url: string;
  /** All headers, names in lower case. */
  headers: Record<string, string>;
  /** The body as text. */
  body: string;
}

/**
 * Puts the credential onto a finished request. May sign the body, and may be asynchronous.
 * @param clock  the time: what is signed expires
 */
export type Auth = (
  request: OutgoingRequest,
  credential: Credential,
  clock: Clock,
) => OutgoingRequest | Promise<OutgoingRequest>;

/** What an in-process provider may use. */
export interface ProviderRuntime {
  /** The time. */
  clock: Clock;
  /** In [0, 1). */
  random: () => number;
}

/** Where and how a provider speaks a dialect that is not its usual one. */
export interface DialectAddress {
  /** As in `Provider`. */
  baseUrl: Provider['baseUrl'];
  /** Default: that of the provider. */
  auth?: Auth;
  /** How it differs from this dialect. Default: not at all. */
  quirks?: object;
}

/**
 * A company that serves models: where, which key, which quirks. What it speaks is its dialect, which says which quirks
 * there are.
 */
export interface Provider<Quirks extends object = object> {
  /** What models and preferences call it: the name of its entry in the option `providers`. */
  slug: string;
  /** Display name: `provider` in results, `provider_name` in listings. Default: the slug. */
  name: string;
  /**
   * Everything before the path of the dialect, such as `/chat/completions`. A query is kept, behind that path. May
   * depend on the credential, such as on its region.
   */
  baseUrl: string | ((credential: Credential) => string);
  /** The wire format that it speaks, such as `openaiChat`. */
  dialect: Dialect<Quirks>;
  /**
   * Of a built-in provider: the other dialects that it speaks, by name, and where. The option `dialect` of a provider
   * chooses one of them.
   */
  also?: Readonly<Record<string, DialectAddress>>;
  /** Your key for it; wins over `env`. */
  apiKey?: string | undefined;
  /** The other parts of your credential, by name, where `credentialShape` declares some. */
  credential?: Readonly<Record<string, string>> | undefined;
  /** Of what a credential consists, where that is more than one string. */
  credentialShape?: CredentialShape;
  /**
   * Puts the credential onto a request. Default `bearer`. Where it throws, or takes longer than `timeouts.headersMs`,
   * the attempt has failed and the next target is called.
   */
  auth: Auth;
  /**
   * true: a workspace's own credential (BYOK) may be sent to `baseUrl`. Default false: whatever is at an address that
   * the operator chose may serve at the operator's expense, whichever key it is sent. Then `auth` must add nothing of
   * the operator's. The built-in addresses are those of the providers themselves, and take them.
   */
  byok?: boolean;
  /** How it differs from its dialect. Default: not at all. */
  quirks: Quirks;
  /**
   * Environment variables that hold the key, most usual first. Of a provider made in code, the first one that is set
   * when the gateway is made is the key; where none is, the provider is not called with the operator's credential. Of a
   * built-in provider that the options name by settings, they are what the documentation and the command line name.
   * Default: none, which is a provider that needs no key, or whose `auth` brings its own.
   */
  env: readonly string[];
  /** What it does with the data of requests. Default: not known. */
  dataPolicy: DataPolicy;
  /** true: no model writes its responses. Routers choose it only by name, or where nothing else is configured. */
  isSandbox?: boolean;
  /** An upstream inside this process instead of one over the network. */
  createTransport?: (runtime: ProviderRuntime) => Transport;
}

/** Completes a provider with the defaults: bearer key, no quirks, unknown data policy. */
export function defineProvider<Quirks extends object>(
  provider: Pick<Provider<Quirks>, 'slug' | 'baseUrl' | 'dialect'> &
    Partial<Omit<Provider<Quirks>, 'quirks'>> & { quirks?: NoInfer<Quirks> },
): Provider<Quirks> {
  return {
    name: provider.slug,
    auth: bearer,
    env: [],
    dataPolicy: { zeroRetention: null, trains: null },
    ...provider,
    // No quirk is required.
    quirks: provider.quirks ?? ({} as Quirks),
  };
}

/** `Authorization: Bearer <secret>`; nothing where there is no secret. */
export const bearer: Auth = (request, credential) =>
  credential.secret === ''
    ? request
    : { ...request, headers: { ...request.headers, authorization: `Bearer ${credential.secret}` } };

/** Puts the secret into a header of its own; nothing where there is no secret. @param name  in lower case */
export function inHeader(name: string): Auth {
  return (request, { secret }) =>
    secret === '' ? request : { ...request, headers: { ...request.headers, [name]: secret } };
}

/** Servers that take the key otherwise than as a bearer token, by the dialect that they speak. */
const usualAuths: Readonly<Record<string, Auth>> = {
  'anthropic-messages': inHeader('x-api-key'),
  'google-generate-content': inHeader('x-goog-api-key'),
};

/**
 * How a server that speaks a dialect usually takes the key: as the company does that the dialect is of.
 * @see https://platform.claude.com/docs/en/api/overview "Authentication"
 * @see https://ai.google.dev/gemini-api/docs/api-key
 */
export function usualAuth(dialect: string): Auth {
  return Object.hasOwn(usualAuths, dialect) ? (usualAuths[dialect] as Auth) : bearer;
}
