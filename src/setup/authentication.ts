import type { Clock } from '../base/clock.ts';
import { sha256Hex } from '../base/secrets.ts';
import { type Authenticate, createAuthenticate } from '../http/authenticate.ts';
import { allowedModelsOf } from '../stores/api-keys/allowed-models.ts';
import type { Stores } from './stores.ts';

type Deps = Parameters<typeof createAuthenticate>[0];
type OwnKey = Deps['keys'][number];

/** The options that decide who may call. */
export interface AuthenticationSettings {
  authenticate?: Deps['byHostApp'] | 'host' | undefined;
  apiKeys?:
    | readonly (Pick<OwnKey, 'permissions'> & {
        key: string;
        workspaceId?: OwnKey['workspaceId'] | undefined;
        models?: readonly string[] | null | undefined;
        tags: readonly string[];
      })[]
    | undefined;
}

/** Authenticates by keys of the options, keys of the store, or the host app. */
export function authentication(
  { authenticate, apiKeys = [] }: AuthenticationSettings,
  stores: Pick<Stores, 'findApiKey'>,
  clock: Clock,
): Authenticate {
  return createAuthenticate({
    keys: apiKeys.map(({ key, permissions, workspaceId, models, tags }) => ({
      hash: sha256Hex(key),
      permissions,
      workspaceId: workspaceId ?? null,
      models: allowedModelsOf(models),
      tags: tags.length > 0 ? tags : undefined,
    })),
    findKey: stores.findApiKey,
    clock,
    byHostApp: typeof authenticate === 'function' ? authenticate : null,
  });
}
