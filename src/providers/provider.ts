import type { Clock } from '../base/clock.ts';
import type { DataPolicy } from '../call/model.ts';
import type { Dialect, Quirks } from '../dialects/dialect.ts';
import type { Transport } from '../transport/transport.ts';

/** A provider key: ours, or a caller's. Most providers take one string; some need several (region, account, …). */
export interface Credential {
  /** '' where the provider asks for none, such as a local server. */
  secret: string;
  /** Further named parts. */
  parts?: Readonly<Record<string, string>>;
}

/** A request that is about to be sent. */
export interface OutgoingRequest {
  method: 'POST' | 'GET';
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** Puts the credential onto a finished request. May sign the body, and may be asynchronous. */
export type Auth = (request: OutgoingRequest, credential: Credential) => OutgoingRequest | Promise<OutgoingRequest>;

/** What an in-process provider may use. */
export interface ProviderRuntime {
  clock: Clock;
  /** In [0, 1). */
  random: () => number;
}

/** A company that serves models: where, which key, which quirks. What it speaks is its dialect. */
export interface Provider {
  slug: string;
  /** Display name: `provider` in results, `provider_name` in listings. */
  name: string;
  /** Without a trailing slash. May depend on the credential, such as on its region. */
  baseUrl: string | ((credential: Credential) => string);
  dialect: Dialect;
  auth: Auth;
  quirks: Quirks;
  /** Environment variables that customarily hold the key, most usual first. */
  env: readonly string[];
  dataPolicy: DataPolicy;
  /** An upstream inside this process instead of one over the network. */
  createTransport?: (runtime: ProviderRuntime) => Transport;
}

/** Completes a provider with the defaults: bearer key, no quirks, unknown data policy. */
export function defineProvider(provider: Pick<Provider, 'slug' | 'baseUrl' | 'dialect'> & Partial<Provider>): Provider {
  return {
    name: provider.slug,
    auth: bearer,
    quirks: {},
    env: [],
    dataPolicy: { zeroRetention: null, trains: null },
    ...provider,
  };
}

/** `Authorization: Bearer <secret>`; nothing where there is no secret. */
export const bearer: Auth = (request, credential) =>
  credential.secret === ''
    ? request
    : { ...request, headers: { ...request.headers, authorization: `Bearer ${credential.secret}` } };
