import { credentialAnswerSchema, type ShownCredential } from '../../schema/tenants/credential.ts';
import { notOwned, ownerReachable } from '../../stores/access.ts';
import { shownCredential } from '../../stores/credentials/record.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { whyNotSent } from './byok-provider.ts';
import type { CredentialDeps } from './create.ts';

/** @see interface document, "GET /byok/{id}" */
export function getCredential({
  credentials,
  owners,
  byokProviders,
}: Pick<CredentialDeps, 'credentials' | 'owners' | 'byokProviders'>): ApiOperation<
  'credentials.get',
  { id: string },
  { data: ShownCredential }
> {
  return {
    name: 'getBYOKKey',
    api: 'credentials.get',
    method: 'GET',
    path: '/byok/:id',
    permissions: ['management'],
    body: null,
    result: credentialAnswerSchema,
    async run({ params: { id = '' }, caller }) {
      const workspaceId = await ownerReachable(owners, caller, 'credential', id);
      const record = await credentials(workspaceId).get(id.toLowerCase());
      if (!record) throw notOwned('credential');
      return jsonReply({ data: shownCredential(record, whyNotSent(record.provider, byokProviders)) });
    },
  };
}
