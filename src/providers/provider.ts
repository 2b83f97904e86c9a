import * as z from 'zod';
import type { Clock } from '../base/clock.ts';
import { definedOnly } from '../base/defined-only.ts';
import { lazily } from '../base/lazily.ts';
import type { DataPolicy } from '../call/model.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { checkedHostObject, field, throwIssues } from '../schema/host-object.ts';
import { checkBy } from '../schema/schema.ts';
import { type HealthCheckOptions, healthCheckSettingsSchema } from '../schema/settings/health-check.ts';
import { type TaskName, taskNames } from '../schema/tasks.ts';
import type { Transport } from '../transport/transport.ts';
import type { ApiKeySource } from './keys/api-key.ts';
import { type GivenKey, type KeyStrategy, keyOption, keyStrategies, mostKeys } from './keys/options.ts';

/** A provider key: ours, or a caller's. Most providers take one string; some need several (region, account, …). */
export interface Credential {
  /** The key, or the part `apiKey` of several parts. '' where there is none, such as for a local server. */
  secret: string;
  /** The other parts by name, for a provider whose credentials have parts. */
  parts?: Readonly<Record<string, string>>;
  /**
   * Headers that go with the credential, such as an organization's or a proxy's; names in lower case. Only the
   * operator's own credential has them.
   */
  headers?: Readonly<Record<string, string>>;
}

/** One part of a credential that has several. */
export interface CredentialPart {
  /** A text that completes "expected …" where the part is missing or wrong, such as `a region such as us-east-1`. */
  expected: string;
  /** true: may be left out. */
  isOptional?: boolean;
  /**
   * false: not confidential, such as a region, so responses may contain it. Default true. A part that becomes part of a
   * URL must not be confidential: its usual pattern keeps it from naming another host.
   */
  isSecret?: boolean;
  /**
   * The pattern of the complete value. Default: for a secret, visible characters on one line; for another part, up to
   * 128 letters, digits, `-` and `_`.
   */
  pattern?: RegExp;
  /** Environment variables of this part, the most usual first. Those of the part `apiKey` are the provider's `env`. */
  env?: readonly string[];
}

/** The parts of a provider's credentials. */
export interface CredentialShape {
  /** The parts by name. The part `apiKey` becomes `secret`, the others `parts`. */
  parts: Readonly<Record<string, CredentialPart>>;
  /** Sets of optional parts, such as the two ways to sign in. One of the sets must be complete. */
  oneOf?: readonly (readonly string[])[];
  /**
   * Other names of parts, such as those in a file of keys that the provider issues: a workspace may send such a file as
   * it is. null: the name in the file is no part, and is left out.
   */
  aliases?: Readonly<Record<string, string | null>>;
  /** Parts that only the built-in address needs: they do not exist where the operator sets `baseUrl`. */
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
  /** The body as text; as bytes where it is a form with files. */
  body: string | Uint8Array<ArrayBuffer>;
}

/**
 * Puts the credential onto a finished request. May sign the body, and may be asynchronous.
 * @param clock  the time, because signatures expire
 */
export type Auth = (
  request: OutgoingRequest,
  credential: Credential,
  clock: Clock,
) => OutgoingRequest | Promise<OutgoingRequest>;

/** The tools of a provider in this process. */
export interface ProviderRuntime {
  /** The time. */
  clock: Clock;
  /** A random number in [0, 1). */
  random: () => number;
}

/** The address at which a provider speaks a dialect that is not its usual one. */
export interface DialectAddress {
  /** As in `Provider`. */
  baseUrl: Provider['baseUrl'];
  /** Default: that of the provider. */
  auth?: Auth;
  /** The differences from this dialect. Default: none. */
  quirks?: object;
}

/**
 * A company that serves models: its address, its key and its quirks. Its wire format is its dialect, which defines the
 * possible quirks.
 */
export interface Provider<Quirks extends object = object> {
  /** The name by which models and preferences refer to it: its key in the option `providers`. */
  slug: string;
  /** Display name: `provider` in results, `provider_name` in listings. Default: the slug. */
  name: string;
  /** Slug of the built-in provider that this one is another account of: the catalogue knows its models under that slug. */
  like?: string;
  /**
   * Everything before the path of the dialect, such as `/chat/completions`. A query is kept, behind that path. May
   * depend on the credential, such as on its region.
   */
  baseUrl: string | ((credential: Credential) => string);
  /** The wire format that it speaks, such as `openaiChat`. */
  dialect: Dialect<Quirks>;
  /**
   * The other dialects of a built-in provider by name, each with its address. The option `dialect` of a provider
   * chooses one of them.
   */
  also?: Readonly<Record<string, DialectAddress>>;
  /** Your key for it, or a function that returns it, such as `clientCredentials`; wins over `env`. */
  apiKey?: string | ApiKeySource | undefined;
  /** Several keys instead of `apiKey`, as in the option `apiKeys` of a provider. */
  apiKeys?: readonly GivenKey[] | undefined;
  /** The key that a request begins with, where there are several. Default `round-robin`. */
  keyStrategy?: KeyStrategy | undefined;
  /** Checks of its server, as in the option `healthCheck` of a provider. Default: none. */
  healthCheck?: HealthCheckOptions | undefined;
  /** The other parts of your credential, by name, where `credentialShape` declares some. */
  credential?: Readonly<Record<string, string>> | undefined;
  /** The parts of a credential, if it is more than one string. */
  credentialShape?: CredentialShape;
  /**
   * Puts the credential onto a request. Default `bearer`. If it throws, or takes longer than `timeouts.headersMs`, the
   * attempt has failed and the next target is called.
   */
  auth: Auth;
  /**
   * true: a workspace's own credential (BYOK) may be sent to `baseUrl`. Default false: a server at an address of the
   * operator's choice may serve at the operator's expense, whichever key it gets. If true, `auth` must add nothing of
   * the operator's. The built-in addresses are those of the providers themselves, and get such credentials.
   */
  byok?: boolean;
  /** The tasks that it serves. Default: chat, and all that its dialect speaks. */
  tasks?: readonly TaskName[];
  /** The tasks that cost nothing at its built-in address. Default: none; what has no price may cost anything. */
  freeTasks?: readonly TaskName[];
  /** true: WebSockets to it are kept, as in the option `webSocket` of a provider. Default false. */
  webSocket?: boolean;
  /** The differences from its dialect. Default: none. */
  quirks: Quirks;
  /**
   * Environment variables of the key, the most usual first. For a provider made in code, the key is the first variable
   * that is set when the gateway is made; if none is, the provider is not called with the operator's credential. For a
   * built-in provider that the options name by settings, the documentation and the command line name them. Default:
   * none, for a provider that needs no key, or whose `auth` brings its own.
   */
  env: readonly string[];
  /** The provider's treatment of the data of requests. Default: not known. */
  dataPolicy: DataPolicy;
  /** true: no model writes its responses. Routers choose it only by name, or where nothing else is configured. */
  isSandbox?: boolean;
  /** An upstream inside this process instead of one over the network. */
  createTransport?: (runtime: ProviderRuntime) => Transport;
}

/** A provider in code: what is left out has its default. */
type GivenProvider<Quirks extends object> = Pick<Provider<Quirks>, 'slug' | 'baseUrl' | 'dialect'> &
  Partial<Omit<Provider<Quirks>, 'quirks'>> & { quirks?: NoInfer<Quirks> };

const shape = lazily(() => ({
  slug: field.text(),
  name: field.text().optional(),
  like: field.text().optional(),
  baseUrl: z.union([field.text(), field.fn()]),
  dialect: field.object(),
  also: field.object().optional(),
  apiKey: z.union([z.string(), field.fn()]).optional(),
  apiKeys: z.array(keyOption()).min(1).max(mostKeys).optional(),
  keyStrategy: z.enum(keyStrategies).optional(),
  healthCheck: healthCheckSettingsSchema().optional(),
  credential: field.object().optional(),
  credentialShape: field.object().optional(),
  auth: field.fn().optional(),
  byok: field.flag().optional(),
  webSocket: field.flag().optional(),
  tasks: z.array(z.enum(taskNames)).min(1).optional(),
  freeTasks: z.array(z.enum(taskNames)).optional(),
  quirks: field.object().optional(),
  env: z.array(field.text()).optional(),
  dataPolicy: field.object().optional(),
  isSandbox: field.flag().optional(),
  createTransport: field.fn().optional(),
}));

/**
 * Checks a provider, and completes it with the defaults, also where a field is `undefined`: bearer key, no quirks, unknown
 * data policy.
 * @throws GatewayError invalid_request (400) for a name that no provider has, a value of the wrong type, or a quirk that
 *         the dialect does not have
 */
export function defineProvider<Quirks extends object>(provider: GivenProvider<Quirks>): Provider<Quirks> {
  const { dialect, quirks } = checkedHostObject('defineProvider', provider, shape);
  const { issues } = checkBy(dialect.quirks(), quirks ?? {});
  throwIssues('defineProvider.quirks', issues ?? []);
  return completeProvider(definedOnly(provider) as GivenProvider<Quirks>);
}

/** The same, for what is ours. */
export function completeProvider<Quirks extends object>(provider: GivenProvider<Quirks>): Provider<Quirks> {
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

/** Adds `Authorization: Bearer <secret>`; nothing where there is no secret. */
export const bearer: Auth = (request, credential) =>
  credential.secret === ''
    ? request
    : { ...request, headers: { ...request.headers, authorization: `Bearer ${credential.secret}` } };

/** Puts the secret into a header of its own; nothing where there is no secret. @param name  in lower case */
export function inHeader(name: string): Auth {
  return (request, { secret }) =>
    secret === '' ? request : { ...request, headers: { ...request.headers, [name]: secret } };
}

/** The ways to send the key other than as a bearer token, by the dialect of the server. */
const usualAuths: Readonly<Record<string, Auth>> = {
  'anthropic-messages': inHeader('x-api-key'),
  'google-generate-content': inHeader('x-goog-api-key'),
};

/**
 * The usual way to send the key to a server that speaks a dialect: the way of the company that made the dialect.
 * @see https://platform.claude.com/docs/en/api/overview "Authentication"
 * @see https://ai.google.dev/gemini-api/docs/api-key
 */
export function usualAuth(dialect: string): Auth {
  return Object.hasOwn(usualAuths, dialect) ? (usualAuths[dialect] as Auth) : bearer;
}
