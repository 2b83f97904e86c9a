import { LRUCache } from 'lru-cache';
import { andThen } from '../base/and-then.ts';
import type { Clock } from '../base/clock.ts';
import { GatewayError } from '../base/errors.ts';
import { constantTimeEqual, sha256Hex } from '../base/secrets.ts';
import type { Caller, KeyLimit, Permission } from '../call/call.ts';
import { defaultWorkspaceId, parseWorkspaceId, type WorkspaceId } from '../call/workspace.ts';

/** Number of authorization headers whose hashes are cached. */
const maxRemembered = 1000;
/** A longer header, mostly white space, is parsed each time. */
const longestRemembered = 500;

/** Finds the caller of a request. @throws GatewayError unauthenticated (401) */
export type Authenticate = (request: Request) => Caller | Promise<Caller>;

/** A caller as a host app with its own users describes it. */
export interface HostCaller {
  permissions: readonly Permission[];
  /** Id of the caller's workspace, the only one that it may manage. Default: the default workspace. */
  workspaceId?: string;
  /** true: the permission `management` covers every workspace. Default: true only without `workspaceId`. */
  managesAll?: boolean;
  /** Shown as `user_id` in error bodies. */
  userId?: string | null;
}

/** A key from the options, as a hash. */
export interface KnownKey {
  /** SHA-256 of the key, hex. */
  hash: string;
  permissions: readonly Permission[];
  /** null: the key is bound to no workspace. */
  workspaceId: WorkspaceId | null;
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
}

/**
 * Authenticates by bearer key. A key's hash is looked up in the options first, then in the store. When the store does
 * not respond, the request fails (503), because the key cannot be checked.
 */
export function authenticateByKey(keys: readonly KnownKey[], find: FindKey, clock: Clock): Authenticate {
  const byHash = new Map(keys.map((key) => [key.hash, key]));
  // Hashing took a quarter of a small request's time, so hashes are cached in memory. Only accepted keys are cached:
  // wrong keys must not fill the cache. The cache key is the complete header, so that a hit needs no parsing.
  const hashes = new LRUCache<string, string>({ max: maxRemembered });
  return (request) => {
    const header = request.headers.get('authorization') ?? '';
    const remembered = hashes.get(header);
    const hash = remembered ?? sha256Hex(bearerIn(header));
    // The time of a look-up by hash reveals nothing about a key. The comparison takes constant time.
    const known = byHash.get(hash);
    const caller =
      known && (remembered !== undefined || constantTimeEqual(known.hash, hash))
        ? callerOf(known)
        : andThen(find(hash), (record) => callerBy(record, hash));
    if (remembered !== undefined || header.length > longestRemembered) return caller;
    return andThen(caller, (accepted) => {
      hashes.set(header, hash);
      return accepted;
    });
  };

  /** @throws GatewayError unauthenticated (401) */
  function callerBy(record: StoredKey | null, hash: string): Caller {
    if (!record || !constantTimeEqual(record.hash, hash)) throw unauthenticated('The API key is not valid');
    if (record.disabled) throw unauthenticated('The API key is disabled');
    if (record.expiresAtMs !== null && record.expiresAtMs <= clock.now())
      throw unauthenticated('The API key has expired');
    const { permissions, workspaceId, limit } = record;
    return { permissions, apiKeyHash: hash, workspaceId, managesAll: false, keyLimit: limit, userId: null };
  }
}

function callerOf({ hash, permissions, workspaceId }: KnownKey): Caller {
  return {
    permissions,
    apiKeyHash: hash,
    workspaceId: workspaceId ?? defaultWorkspaceId,
    managesAll: workspaceId === null,
    keyLimit: null,
    userId: null,
  };
}

/** Authenticates the host app's own users. If `authenticate` throws, the request fails. */
export function authenticateByHostApp(
  authenticate: (request: Request) => HostCaller | null | Promise<HostCaller | null>,
): Authenticate {
  return async (request) => {
    const caller = await authenticate(request);
    if (!caller) throw unauthenticated('The request could not be authenticated');
    const { permissions, workspaceId: named, managesAll = named === undefined, userId = null } = caller;
    const workspaceId = named === undefined ? defaultWorkspaceId : parseWorkspaceId(named);
    if (workspaceId === null)
      throw new GatewayError('internal', 'Something went wrong inside the gateway', {
        cause: new Error('authenticate() named a workspace that is no id: letters, digits, - and _ only'),
      });
    return { permissions, apiKeyHash: null, workspaceId, managesAll, keyLimit: null, userId };
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

/** @throws GatewayError unauthenticated (401) */
function bearerIn(header: string): string {
  if (header === '')
    throw unauthenticated('The Authorization header is missing; send "Authorization: Bearer <API key>"');
  const match = /^bearer +(\S+)\s*$/i.exec(header);
  if (!match) throw unauthenticated('The Authorization header is not of the form "Bearer <API key>"');
  return match[1] as string;
}

function unauthenticated(message: string): GatewayError {
  return new GatewayError('unauthenticated', message, { headers: { 'www-authenticate': 'Bearer' } });
}
