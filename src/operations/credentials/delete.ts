import { credentialDeletedSchema } from '../../schema/tenants/credential.ts';
import { notOwned, ownerReachable } from '../../stores/access.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import type { CredentialDeps } from './create.ts';

/** Deletes the complete record, the sealed key included. */
export function deleteCredential({
  credentials,
  owners,
}: Pick<CredentialDeps, 'credentials' | 'owners'>): ApiOperation<
  'credentials.delete',
  { id: string },
  { deleted: true }
> {
  return {
    name: 'deleteBYOKKey',
    api: 'credentials.delete',
    method: 'DELETE',
    path: '/byok/:id',
    permissions: ['management'],
    body: null,
    result: credentialDeletedSchema,
    async run({ params: { id = '' }, caller }) {
      const workspaceId = await ownerReachable(owners, caller, 'credential', id);
      if (!(await credentials(workspaceId).delete(id.toLowerCase()))) throw notOwned('credential');
      return jsonReply({ deleted: true });
    },
  };
}
