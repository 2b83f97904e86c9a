import { andThen } from '../base/async/and-then.ts';
import type { Clock } from '../base/clock.ts';
import { GatewayError } from '../base/errors.ts';
import { createFairCache } from '../base/fair-cache.ts';
import { constantTimeEqual, sha256Hex } from '../base/secrets.ts';
import type { AllowedModels, Caller, KeyLimit, Permission } from '../call/call.ts';
import { defaultWorkspaceId, type WorkspaceId } from '../call/workspace.ts';
import { storedKeyPrefix } from '../schema/tenants/api-key.ts';
import type { RateLimits } from '../schema/tenants/rate-limits.ts';
import { type FindHostCaller, foundCaller, type HostCaller } from './host-caller.ts';

/** Number of authorization headers whose hashes are cached. */
const maxRemembered = 1000;
/** A longer header, mostly white space, is parsed each time. */
const longestRemembered = 500;

/**
 * Finds the caller of a request.
 * @param host  the caller whom the host app names, or its function that finds one of its users
 * @throws GatewayError unauthenticated (401)
 */
export type Authenticate = (request: Request, host?: Caller | FindHostCaller) => Caller | Promise<Caller>;

/** A key from the options, as a hash. */
export interface KnownKey {
  /** SHA-256 of the key, hex. */
  hash: string;
  permissions: readonly Permission[];
  /** null: the key is bound to no workspace. */
  workspaceId: WorkspaceId | null;
  models: AllowedModels | undefined;
  tags: readonly string[] | undefined;
}

/** Finds a key in the store by its hash; null: there is no such key. */
export type FindKey = (hash: string) => StoredKey | null | Promise<StoredKey | null>;

/** The fields of a stored key that authentication needs. */
export interface StoredKey {
  hash: string;
  permissions: readonly Permission[];
  workspaceId: WorkspaceId;
  disabled: boolean;
  /** Epoch ms; null: never. */
  expiresAtMs: number | null;
  limit: KeyLimit | null;
  /** undefined: the key has no limits of its own. */
  rateLimits: RateLimits | undefined;
  /** undefined: all models. */
  models: AllowedModels | undefined;
  /** undefined: no tags. */
  tags: readonly string[] | undefined;
}

export interface AuthenticateDeps {
  /** Keys of the options. */
  keys: readonly KnownKey[];
  findKey: FindKey;
  clock: Clock;
  /** The option `authenticate`; null: the host app has given none. */
  byHostApp: ((request: Request) => HostCaller | null | Promise<HostCaller | null>) | null;
}

/**
 * Makes the function that finds the caller of a request: the caller that the host app names, else the owner of a key,
 * else the user that the host app finds for the request. The bearer key counts first. Clients of other wire formats send
 * their key as `x-api-key`, as `x-goog-api-key` or in the query as `key`; these count in that order where the ones before
 * are no known keys. If a function of the host app throws, the request fails.
 */
export function createAuthenticate(deps: AuthenticateDeps): Authenticate {
  const byKey = keyLookup(deps);
  const { byHostApp } = deps;
  return (request, host) => {
    if (typeof host === 'object') return host;
    const header = request.headers.get('authorization') ?? '';
    const found = byKey(header);
    if (found !== null && !(found instanceof Promise)) return found;
    return andThen(found, (caller) => caller ?? byOtherKey(request, header, otherKeys(request), host));
  };

  function byOtherKey(
    request: Request,
    header: string,
    [key, ...further]: readonly string[],
    host: FindHostCaller | undefined,
  ): Caller | Promise<Caller> {
    if (key === undefined) return ownUser(request, header, host);
    return andThen(byKey(`Bearer ${key}`), (caller) => caller ?? byOtherKey(request, header, further, host));
  }

  /** Finds the caller of a request without a known key. */
  async function ownUser(request: Request, header: string, find: FindHostCaller | undefined): Promise<Caller> {
    const own = (await find?.()) ?? (await byHostApp?.(request));
    if (own) return foundCaller(own);
    if (find || byHostApp) throw unauthenticated('The request could not be authenticated');
    throw unauthenticated(otherKeys(request).length > 0 ? 'The API key is not valid' : faultOf(header));
  }
}

/**
 * Looks a bearer key up by its hash, in the options first, then in the store. When the store does not respond, the
 * request fails (503), because the key cannot be checked.
 * @returns null: the header holds no known key
 */
function keyLookup({ keys, findKey, clock }: AuthenticateDeps) {
  const byHash = new Map(keys.map((key) => [key.hash, key]));
  // Hashing took a quarter of a small request's time, so hashes are cached in memory. Only accepted keys are cached:
  // wrong keys must not fill the cache. The cache key is the complete header, so that a hit needs no parsing; one key has
  // many headers, which differ in letters and spaces.
  const hashes = createFairCache<string, string>({ clock, max: maxRemembered });
  return (header: string): Caller | null | Promise<Caller | null> => {
    const remembered = hashes.get(header);
    const key = remembered === undefined ? bearerIn(header) : null;
    const hash = remembered ?? (key === null ? null : sha256Hex(key));
    if (hash === null) return null;
    // The time of a look-up by hash reveals nothing about a key. The comparison takes constant time.
    const known = byHash.get(hash);
    const isKnown = known !== undefined && (remembered !== undefined || constantTimeEqual(known.hash, hash));
    // A token of the host app, such as a JWT, needs no look-up in the store.
    if (!isKnown && key !== null && !key.startsWith(storedKeyPrefix)) return null;
    const caller = isKnown ? callerOf(known) : andThen(findKey(hash), (record) => callerBy(record, hash));
    if (remembered !== undefined || header.length > longestRemembered) return caller;
    return andThen(caller, (accepted) => {
      if (accepted !== null) hashes.set(accepted.workspaceId, header, hash);
      return accepted;
    });
  };

  /** @throws GatewayError unauthenticated (401) for a known key that is not valid any more */
  function callerBy(record: StoredKey | null, hash: string): Caller | null {
    if (!record || !constantTimeEqual(record.hash, hash)) return null;
    if (record.disabled) throw unauthenticated('The API key is disabled', hash);
    if (record.expiresAtMs !== null && record.expiresAtMs <= clock.now())
      throw unauthenticated('The API key has expired', hash);
    const { permissions, workspaceId, limit: keyLimit, rateLimits, models, tags } = record;
    return {
      permissions,
      apiKeyHash: hash,
      workspaceId,
      managesAll: false,
      keyLimit,
      rateLimits,
      models,
      tags,
      userId: null,
    };
  }
}

function callerOf({ hash, permissions, workspaceId, models, tags }: KnownKey): Caller {
  return {
    permissions,
    apiKeyHash: hash,
    workspaceId: workspaceId ?? defaultWorkspaceId,
    managesAll: workspaceId === null,
    keyLimit: null,
    rateLimits: undefined,
    models,
    tags,
    userId: null,
  };
}

/** @throws GatewayError permission_denied (403) */
export function requirePermission(caller: Caller, needed: readonly Permission[]): void {
  if (needed.some((permission) => caller.permissions.includes(permission))) return;
  throw new GatewayError(
    'permission_denied',
    `This operation needs the permission ${needed.join(' or ')}, which the API key does not have`,
  );
}

/** @returns null: the header holds no key */
function bearerIn(header: string): string | null {
  return /^bearer +(\S+)\s*$/i.exec(header)?.[1] ?? null;
}

/** The keys of a request outside of the header `Authorization`, in the order in which they count. */
function otherKeys({ headers, url }: Request): string[] {
  const inQuery = /[?&]key=([^&#]+)/.exec(url)?.[1];
  return [
    headers.get('x-api-key'),
    headers.get('x-goog-api-key'),
    inQuery === undefined ? null : textOf(inQuery),
  ].flatMap((key) => (key === null || !/^\S+$/.test(key.trim()) ? [] : [key.trim()]));
}

/** Decodes a value of a query. @returns null: it is none */
function textOf(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
}

/** The reason why a header identifies no caller. */
function faultOf(header: string): string {
  if (header === '') return 'The Authorization header is missing; send "Authorization: Bearer <API key>"';
  if (bearerIn(header) === null) return 'The Authorization header is not of the form "Bearer <API key>"';
  return 'The API key is not valid';
}

/** @param keyHash  the hash of a known key, for the record and the log */
function unauthenticated(message: string, keyHash?: string): GatewayError {
  const cause = keyHash === undefined ? undefined : new RefusedKey(keyHash);
  return new GatewayError('unauthenticated', message, { headers: { 'www-authenticate': 'Bearer' }, cause });
}

/** The cause of a refusal: a known key that is not valid any more. */
export class RefusedKey {
  readonly hash: string;

  constructor(hash: string) {
    this.hash = hash;
  }
}
