import { refusal } from '../../base/refusal.ts';
import type { WorkspaceAssignment } from '../../schema/tenants/guardrail.ts';
import { notOwned, ownerReachable, setBy } from '../../stores/access.ts';
import type { OperationInput } from '../operation.ts';
import type { GuardrailDeps } from './response.ts';

/**
 * Makes a guardrail act on every request of its workspace, or only on those of its keys.
 * @returns the number of changed assignments: 0 or 1
 * @throws GatewayError invalid_request (400) for another workspace than the guardrail's
 */
export async function setWorkspaceAssignment(
  { guardrails, owners }: GuardrailDeps,
  { params, body: { workspace_ids: workspaceIds }, caller }: OperationInput<WorkspaceAssignment>,
  ofWorkspace: boolean,
): Promise<number> {
  const id = (params.id as string).toLowerCase();
  const workspaceId = await ownerReachable(owners, caller, 'guardrail', id);
  const issues = workspaceIds.flatMap((one, at) =>
    one === workspaceId ? [] : { path: `workspace_ids[${at}]`, message: 'expected the workspace of the guardrail' },
  );
  if (issues.length > 0) throw refusal('invalid_request', issues);
  let count = 0;
  const after = await guardrails(workspaceId).update(id, setBy(caller), (one) => {
    count = one.ofWorkspace === ofWorkspace ? 0 : 1;
    return { ...one, ofWorkspace };
  });
  if (!after) throw notOwned('guardrail');
  return count;
}
