import { isoTime } from '../../base/clock.ts';
import { refusal } from '../../base/refusal.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { checkPatterns } from '../../guardrails/stored.ts';
import type { LimitSettings } from '../../schema/settings/settings.ts';
import type { Guardrail, GuardrailSettings, StoredGuardrail } from '../../schema/tenants/guardrail.ts';
import type { Guardrails } from '../../stores/guardrails.ts';
import type { Owners } from '../../stores/owners.ts';

/** Dependencies of the operations on guardrails. */
export interface GuardrailDeps {
  guardrails: (workspaceId: WorkspaceId) => Guardrails;
  owners: Owners;
  bounds: Pick<LimitSettings, 'expressionSteps' | 'guardrailSteps'>;
}

export function showGuardrail(
  { id, settings, ofWorkspace, createdAtMs, updatedAtMs }: StoredGuardrail,
  workspaceId: WorkspaceId,
): Guardrail {
  return {
    id,
    ...settings,
    workspace_id: workspaceId,
    is_assigned_to_workspace: ofWorkspace,
    created_at: isoTime(createdAtMs),
    updated_at: updatedAtMs === null ? null : isoTime(updatedAtMs),
  };
}

/**
 * @returns the steps that its expressions may take
 * @throws GatewayError invalid_request (400) naming the invalid field
 */
export async function checkSettings(settings: GuardrailSettings, bounds: GuardrailDeps['bounds']): Promise<number> {
  const { limit_usd: limit, reset_interval: interval } = settings;
  if ((limit === null) !== (interval === null)) {
    const [path, other] = limit === null ? ['limit_usd', 'reset_interval'] : ['reset_interval', 'limit_usd'];
    throw refusal('invalid_request', [{ path, message: `expected a value beside ${other}: a budget has both` }]);
  }
  const checked = await checkPatterns(settings, bounds);
  if ('fault' in checked) throw refusal('invalid_request', [checked.fault]);
  return checked.steps;
}
