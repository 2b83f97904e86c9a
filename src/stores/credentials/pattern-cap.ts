import { createLock } from '../../base/async/lock.ts';
import type { GatewayError } from '../../base/errors.ts';
import { refusal } from '../../base/refusal.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { StoredCredential } from '../../schema/tenants/credential.ts';

/**
 * Caps the patterns of a workspace. Every request of the workspace is compared with all of its different patterns with
 * a star; those without a star are only looked up.
 */
export interface PatternCap {
  /**
   * Writes a credential, if its patterns fit among those of the others. Changes with patterns take turns.
   * @param id  of a credential that is replaced; null: a new one
   * @throws GatewayError invalid_request (400); nothing is then written
   */
  within<T>(
    workspaceId: WorkspaceId,
    id: string | null,
    allowedModels: readonly string[] | null | undefined,
    write: () => Promise<T>,
  ): Promise<T>;
}

export interface PatternCapDeps {
  /** Reads all credentials of a workspace from the store. */
  readAll: (workspaceId: WorkspaceId) => Promise<readonly StoredCredential[]>;
  max: number;
}

export function createPatternCap({ readAll, max }: PatternCapDeps): PatternCap {
  const turns = createLock();

  async function check(workspaceId: WorkspaceId, id: string | null, added: readonly string[]): Promise<void> {
    const patterns = new Set(added);
    for (const other of await readAll(workspaceId))
      if (other.id !== id) for (const pattern of starredIn(other.allowed_models)) patterns.add(pattern);
    if (patterns.size > max) throw tooMany(max);
  }

  return {
    within(workspaceId, id, allowedModels, write) {
      const added = starredIn(allowedModels);
      if (added.length === 0) return write();
      return turns.run(workspaceId, async () => {
        await check(workspaceId, id, added);
        return write();
      });
    },
  };
}

function starredIn(allowedModels: readonly string[] | null | undefined): readonly string[] {
  return (allowedModels ?? []).filter((pattern) => pattern.includes('*'));
}

function tooMany(max: number): GatewayError {
  const message = `expected at most ${max} different patterns with a * in all provider credentials of the workspace`;
  return refusal('invalid_request', [{ path: 'allowed_models', message }]);
}
