import type { Clock } from '../base/clock.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import { noQuery } from '../schema/page.ts';
import type { ApiKeyStore } from '../stores/api-keys.ts';
import type { BudgetsOf } from '../stores/budgets.ts';
import type { Guardrails } from '../stores/guardrails.ts';
import type { Spending } from '../stores/spending/spending.ts';
import type { Workspaces } from '../stores/workspaces.ts';
import type { NotesSwitches } from '../telemetry/idle-switches.ts';
import { assignGuardrailKeys } from './assign-guardrail-keys.ts';
import { assignGuardrailWorkspaces } from './assign-guardrail-workspaces.ts';
import { type AuditedDeps, audited } from './audit/audited.ts';
import { compactResponse } from './compact-response.ts';
import type { Presentation } from './compat.ts';
import { countInputTokens } from './count-input-tokens.ts';
import { countModels } from './count-models.ts';
import { createApiKey } from './create-api-key.ts';
import { type CreateChatCompletionDeps, createChatCompletion } from './create-chat-completion.ts';
import { type CredentialDeps, createCredential } from './create-credential.ts';
import { createGuardrail } from './create-guardrail.ts';
import { createResponse } from './create-response.ts';
import { createWorkspace } from './create-workspace.ts';
import { deleteApiKey } from './delete-api-key.ts';
import { deleteBudget } from './delete-budget.ts';
import { deleteCredential } from './delete-credential.ts';
import { deleteGuardrail } from './delete-guardrail.ts';
import { deleteWorkspace } from './delete-workspace.ts';
import { explainChatCompletion } from './explain-chat-completion.ts';
import { explainResponse } from './explain-response.ts';
import { getActivity } from './get-activity.ts';
import { getApiKey } from './get-api-key.ts';
import { getBudget } from './get-budget.ts';
import { getCredential } from './get-credential.ts';
import { getCurrentKey } from './get-current-key.ts';
import { type GenerationDeps, getGeneration } from './get-generation.ts';
import { getGenerationContent } from './get-generation-content.ts';
import { getGuardrail } from './get-guardrail.ts';
import { getModel } from './get-model.ts';
import { getOpenApi } from './get-open-api.ts';
import { getWorkspace } from './get-workspace.ts';
import { listApiKeys } from './list-api-keys.ts';
import { listAudit } from './list-audit.ts';
import { listBudgets } from './list-budgets.ts';
import { listCredentials } from './list-credentials.ts';
import { listGenerations } from './list-generations.ts';
import { listGuardrailKeys } from './list-guardrail-keys.ts';
import { listGuardrails } from './list-guardrails.ts';
import { listModelEndpoints } from './list-model-endpoints.ts';
import { listModels } from './list-models.ts';
import { listProviders } from './list-providers.ts';
import { listUserModels } from './list-user-models.ts';
import { listWorkspaces } from './list-workspaces.ts';
import { listZdrEndpoints } from './list-zdr-endpoints.ts';
import type { Operation } from './operation.ts';
import { putBudget } from './put-budget.ts';
import { streamRequests } from './stream-requests.ts';
import { unassignGuardrailKeys } from './unassign-guardrail-keys.ts';
import { unassignGuardrailWorkspaces } from './unassign-guardrail-workspaces.ts';
import { updateApiKey } from './update-api-key.ts';
import { updateCredential } from './update-credential.ts';
import { updateGuardrail } from './update-guardrail.ts';
import { updateWorkspace } from './update-workspace.ts';

export interface OperationDeps extends CreateChatCompletionDeps, CredentialDeps, GenerationDeps, AuditedDeps {
  workspaces: Workspaces;
  noteSwitches: NotesSwitches;
  budgets: BudgetsOf;
  apiKeys: ApiKeyStore;
  guardrails: (workspaceId: WorkspaceId) => Guardrails;
  spending: Spending;
  clock: Clock;
  presentation: Presentation;
}

/** Every operation of the interface, in the form that mounts them. */
export function operations(deps: OperationDeps): Operation[] {
  return audited(deps, operationTable(deps as never)).map(withQuery);
}

/** The same, each with its own types, from which those of the functions in process are made. */
export type OperationTable = typeof operationTable extends (given: never) => infer Table ? Table : never;

/** @param given  `OperationDeps`; its type would put all stores into the declarations of the package */
function operationTable(given: never) {
  const deps: OperationDeps = given;
  const listings = { ...deps.pipeline, presentation: deps.presentation };
  return [
    createChatCompletion(deps),
    explainChatCompletion(deps),
    createResponse(deps),
    explainResponse(deps),
    compactResponse(deps),
    countInputTokens(deps),
    createWorkspace(deps),
    listWorkspaces(deps),
    getWorkspace(deps),
    updateWorkspace(deps),
    deleteWorkspace(deps),
    listBudgets(deps),
    getBudget(deps),
    putBudget(deps),
    deleteBudget(deps),
    createCredential(deps),
    listCredentials(deps),
    getCredential(deps),
    updateCredential(deps),
    deleteCredential(deps),
    createApiKey(deps),
    listApiKeys(deps),
    getApiKey(deps),
    updateApiKey(deps),
    deleteApiKey(deps),
    getCurrentKey(deps),
    createGuardrail(deps),
    listGuardrails(deps),
    getGuardrail(deps),
    updateGuardrail(deps),
    deleteGuardrail(deps),
    listGuardrailKeys(deps),
    assignGuardrailKeys(deps),
    unassignGuardrailKeys(deps),
    assignGuardrailWorkspaces(deps),
    unassignGuardrailWorkspaces(deps),
    listAudit(deps),
    listModels(listings),
    listUserModels(listings),
    countModels(listings),
    getModel(listings),
    listModelEndpoints(listings),
    listZdrEndpoints(listings),
    listProviders(listings),
    getGeneration(deps),
    getGenerationContent(deps),
    listGenerations(deps),
    getActivity(deps),
    streamRequests(deps),
    getOpenApi(),
  ] as const;
}

/**
 * An operation that declares no query takes none. Chat is the exception: all of it is in the body, and its clients add
 * parameters of their own to any address, such as `?api-version=`.
 */
function withQuery(operation: Operation): Operation {
  const isChat = operation.body !== null && operation.permissions.includes('inference');
  return operation.query || isChat ? operation : { ...operation, query: noQuery };
}
