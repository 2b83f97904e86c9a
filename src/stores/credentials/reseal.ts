import type { StoredCredential } from '../../schema/credential.ts';
import type { Collection } from '../collection.ts';
import type { Vault } from '../vault.ts';

/**
 * Seals a credential's secret with the current master key. What somebody else changed since it was read stays as they
 * left it.
 * @returns whether it is now as we sealed it; false: it was changed or deleted meanwhile
 * @throws as `Vault.reseal`, and the store
 */
export async function resealCredential(
  { collection, vault }: { collection: Collection<StoredCredential>; vault: Vault },
  workspaceId: string,
  { id, provider, sealed }: StoredCredential,
): Promise<boolean> {
  const fresh = await vault.reseal(sealed, { workspaceId, provider, credentialId: id });
  let isOurs = false;
  await collection.update(id, (now) => {
    isOurs = now.sealed.ciphertext === sealed.ciphertext && now.sealed.sealedKey === sealed.sealedKey;
    return isOurs ? { ...now, sealed: fresh } : now;
  });
  return isOurs;
}
