import type { StoredCredential } from '../../schema/tenants/credential.ts';
import type { Collection } from '../collection.ts';
import type { Vault } from '../vault/index.ts';

/**
 * Seals a credential's secret with the current master key. A change that somebody else has made since the read stays.
 * @returns true: the record has our seal; false: the credential was changed or deleted meanwhile
 * @throws the errors of `Vault.reseal` and of the store
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
