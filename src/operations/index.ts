import type { Clock } from '../base/clock.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import { noQuery } from '../schema/page.ts';
import type { ApiKeyStore } from '../stores/api-keys/index.ts';
import type { BudgetsOf } from '../stores/budgets.ts';
import type { Guardrails } from '../stores/guardrails.ts';
import type { Spending } from '../stores/spending/spending.ts';
import type { Workspaces } from '../stores/workspaces.ts';
import type { NotesSwitches } from '../telemetry/idle-switches.ts';
import { createApiKey } from './api-keys/create.ts';
import { deleteApiKey } from './api-keys/delete.ts';
import { getApiKey } from './api-keys/get.ts';
import { getCurrentKey } from './api-keys/get-current.ts';
import { listApiKeys } from './api-keys/list.ts';
import { updateApiKey } from './api-keys/update.ts';
import { type AuditedDeps, audited } from './audit/audited.ts';
import { listAudit } from './audit/list.ts';
import { deleteBudget } from './budgets/delete.ts';
import { getBudget } from './budgets/get.ts';
import { listBudgets } from './budgets/list.ts';
import { putBudget } from './budgets/put.ts';
import { type CreateChatCompletionDeps, createChatCompletion } from './chat/create.ts';
import { explainChatCompletion } from './chat/explain.ts';
import type { Presentation } from './compat.ts';
import { type CredentialDeps, createCredential } from './credentials/create.ts';
import { deleteCredential } from './credentials/delete.ts';
import { getCredential } from './credentials/get.ts';
import { listCredentials } from './credentials/list.ts';
import { updateCredential } from './credentials/update.ts';
import { getOpenApi } from './get-open-api.ts';
import { assignGuardrailKeys } from './guardrails/assign-keys.ts';
import { assignGuardrailWorkspaces } from './guardrails/assign-workspaces.ts';
import { createGuardrail } from './guardrails/create.ts';
import { deleteGuardrail } from './guardrails/delete.ts';
import { getGuardrail } from './guardrails/get.ts';
import { listGuardrails } from './guardrails/list.ts';
import { listGuardrailKeys } from './guardrails/list-keys.ts';
import type { GuardrailDeps } from './guardrails/response.ts';
import { unassignGuardrailKeys } from './guardrails/unassign-keys.ts';
import { unassignGuardrailWorkspaces } from './guardrails/unassign-workspaces.ts';
import { updateGuardrail } from './guardrails/update.ts';
import { countModels } from './models/count.ts';
import { getModel } from './models/get.ts';
import { listModels } from './models/list.ts';
import { listModelEndpoints } from './models/list-endpoints.ts';
import { listUserModels } from './models/list-of-user.ts';
import { listProviders } from './models/list-providers.ts';
import { listZdrEndpoints } from './models/list-zdr-endpoints.ts';
import { retrieveModel } from './models/retrieve-model.ts';
import type { Operation } from './operation.ts';
import { getActivity } from './records/get-activity.ts';
import { type GenerationDeps, getGeneration } from './records/get-generation.ts';
import { getGenerationContent } from './records/get-generation-content.ts';
import { listGenerations } from './records/list-generations.ts';
import { streamRequests } from './records/stream-requests.ts';
import { compactResponse } from './responses/compact.ts';
import { countInputTokens } from './responses/count-input-tokens.ts';
import { createResponse } from './responses/create.ts';
import { explainResponse } from './responses/explain.ts';
import { createWorkspace } from './workspaces/create.ts';
import { deleteWorkspace } from './workspaces/delete.ts';
import { getWorkspace } from './workspaces/get.ts';
import { listWorkspaces } from './workspaces/list.ts';
import { putWorkspace } from './workspaces/put.ts';
import { updateWorkspace } from './workspaces/update.ts';

export interface OperationDeps extends CreateChatCompletionDeps, CredentialDeps, GenerationDeps, AuditedDeps {
  workspaces: Workspaces;
  noteSwitches: NotesSwitches;
  budgets: BudgetsOf;
  apiKeys: ApiKeyStore;
  guardrails: (workspaceId: WorkspaceId) => Guardrails;
  bounds: CreateChatCompletionDeps['bounds'] & GuardrailDeps['bounds'];
  spending: Spending;
  clock: Clock;
  presentation: Presentation;
}

/** Every operation of the interface, in the form that mounts them. */
export function operations(deps: OperationDeps): Operation[] {
  return audited(deps, operationTable(deps as never)).map(withQuery);
}

/** The list of operations, each with its own types, from which the types of the functions in process are made. */
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
    putWorkspace(deps),
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
    // After the others below `/models`: it matches any path there.
    retrieveModel(listings),
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
 * Refuses a query for an operation that declares none. Chat is the exception: it is all in the body, and its clients
 * add parameters of their own to any URL, such as `?api-version=`.
 */
function withQuery(operation: Operation): Operation {
  const isChat = operation.body !== null && operation.permissions.includes('inference');
  return operation.query || isChat ? operation : { ...operation, query: noQuery };
}
