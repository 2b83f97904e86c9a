import * as z from 'zod';
import {
  type CreateGuardrail,
  createGuardrailSchema,
  type Guardrail,
  type GuardrailFields,
  guardrailSchema,
} from '../../schema/tenants/guardrail.ts';
import { type FindsWorkspaces, reachableWorkspace, setBy } from '../../stores/access.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { checkSettings, type GuardrailDeps, showGuardrail } from './response.ts';

export interface CreateGuardrailDeps extends GuardrailDeps {
  workspaces: FindsWorkspaces;
}

/** Creates a guardrail. It acts on nothing before it is assigned. */
export function createGuardrail({
  guardrails,
  workspaces,
  bounds,
}: CreateGuardrailDeps): ApiOperation<'guardrails.create', GuardrailFields, { data: Guardrail }, CreateGuardrail> {
  return {
    name: 'createGuardrail',
    api: 'guardrails.create',
    method: 'POST',
    path: '/guardrails',
    permissions: ['management'],
    body: createGuardrailSchema,
    result: () => z.object({ data: guardrailSchema() }),
    async run({ body, caller }) {
      const { workspace_id, ...settings } = body;
      const workspaceId = await reachableWorkspace(workspaces, caller, workspace_id);
      const steps = await checkSettings(settings, bounds);
      const made = await guardrails(workspaceId).create(settings, steps, setBy(caller));
      return jsonReply({ data: showGuardrail(made, workspaceId) }, 201);
    },
  };
}
