import { isoTime } from '../../base/clock.ts';
import { refusal } from '../../base/refusal.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { faultOfPatterns } from '../../guardrails/stored.ts';
import type { Guardrail, GuardrailSettings, StoredGuardrail } from '../../schema/guardrail.ts';
import type { Guardrails } from '../../stores/guardrails.ts';
import type { Owners } from '../../stores/owners.ts';

/** Dependencies of the operations on guardrails. */
export interface GuardrailDeps {
  guardrails: (workspaceId: WorkspaceId) => Guardrails;
  owners: Owners;
}

export function showGuardrail(
  { id, settings, ofWorkspace, createdAtMs, updatedAtMs }: StoredGuardrail,
  workspaceId: WorkspaceId,
): Guardrail {
  return {
    id,
    ...settings,
    limit_usd: null,
    reset_interval: null,
    workspace_id: workspaceId,
    is_assigned_to_workspace: ofWorkspace,
    created_at: isoTime(createdAtMs),
    updated_at: updatedAtMs === null ? null : isoTime(updatedAtMs),
  };
}

/** @throws GatewayError invalid_request (400) naming the expression that cannot be */
export async function checkPatterns(settings: GuardrailSettings): Promise<void> {
  const fault = await faultOfPatterns(settings);
  if (fault !== null) throw refusal('invalid_request', [fault]);
}
