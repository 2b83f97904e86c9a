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
import { createSpeech, explainSpeech } from './audio/speech.ts';
import {
  createTranscription,
  createTranslation,
  explainTranscription,
  explainTranslation,
} from './audio/transcriptions.ts';
import { type AuditedDeps, audited } from './audit/audited.ts';
import { listAudit } from './audit/list.ts';
import { deleteBudget } from './budgets/delete.ts';
import { getBudget } from './budgets/get.ts';
import { listBudgets } from './budgets/list.ts';
import { putBudget } from './budgets/put.ts';
import { type CreateChatCompletionDeps, createChatCompletion } from './chat/create.ts';
import { explainChatCompletion } from './chat/explain.ts';
import type { Presentation } from './compat.ts';
import type { CompletionsDeps } from './completions/call-of.ts';
import { createCompletion } from './completions/create.ts';
import { explainCompletion } from './completions/explain.ts';
import { createConversation } from './conversations/create.ts';
import { createConversationItems } from './conversations/create-items.ts';
import { deleteConversation } from './conversations/delete.ts';
import { deleteConversationItem } from './conversations/delete-item.ts';
import { listConversationItems } from './conversations/list-items.ts';
import { retrieveConversation } from './conversations/retrieve.ts';
import { retrieveConversationItem } from './conversations/retrieve-item.ts';
import { updateConversation } from './conversations/update.ts';
import { type CredentialDeps, createCredential } from './credentials/create.ts';
import { deleteCredential } from './credentials/delete.ts';
import { getCredential } from './credentials/get.ts';
import { listCredentials } from './credentials/list.ts';
import { updateCredential } from './credentials/update.ts';
import { createDecisions, explainDecisions } from './decisions/create.ts';
import { createEmbeddings, explainEmbeddings } from './embeddings/create.ts';
import { listEmbeddingsModels } from './embeddings/list-models.ts';
import { countTokens } from './gemini/count-tokens.ts';
import { batchEmbedContents, embedContent } from './gemini/embed-content.ts';
import { explainContent } from './gemini/explain.ts';
import { generateContent, streamGenerateContent } from './gemini/generate-content.ts';
import { getHello } from './get-hello.ts';
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
import { createImage, explainImage } from './images/create.ts';
import { editImages, explainImageEdits } from './images/edits.ts';
import { createImages, explainImages } from './images/generations.ts';
import { countMessageTokens } from './messages/count-tokens.ts';
import { createMessage } from './messages/create.ts';
import { explainMessage } from './messages/explain.ts';
import { countModels } from './models/count.ts';
import { getModel } from './models/get.ts';
import { listModels } from './models/list.ts';
import { listAllEndpoints } from './models/list-all-endpoints.ts';
import { listModelEndpoints } from './models/list-endpoints.ts';
import { listUserModels } from './models/list-of-user.ts';
import { listProviders } from './models/list-providers.ts';
import { listZdrEndpoints } from './models/list-zdr-endpoints.ts';
import { retrieveModel } from './models/retrieve-model.ts';
import { createModerations, explainModerations } from './moderations/create.ts';
import type { Operation } from './operation.ts';
import { getActivity } from './records/get-activity.ts';
import { type GenerationDeps, getGeneration } from './records/get-generation.ts';
import { getGenerationContent } from './records/get-generation-content.ts';
import { listGenerations } from './records/list-generations.ts';
import { streamRequests } from './records/stream-requests.ts';
import { createRerank, explainRerank } from './rerank/create.ts';
import { compactResponse } from './responses/compact.ts';
import { countInputTokens } from './responses/count-input-tokens.ts';
import { createResponse } from './responses/create.ts';
import { deleteResponse } from './responses/delete.ts';
import type { ResponsesDeps } from './responses/deps.ts';
import { explainResponse } from './responses/explain.ts';
import { listInputItems } from './responses/list-input-items.ts';
import { retrieveResponse } from './responses/retrieve.ts';
import type { TaskDeps } from './tasks/task-call.ts';
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
  bounds: ResponsesDeps['bounds'] & GuardrailDeps['bounds'] & TaskDeps['bounds'] & CompletionsDeps['bounds'];
  responses: ResponsesDeps['responses'];
  conversations: ResponsesDeps['conversations'];
  notKept: ResponsesDeps['notKept'];
  notAdded: ResponsesDeps['notAdded'];
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
    createCompletion(deps),
    explainCompletion(deps),
    createResponse(deps),
    explainResponse(deps),
    compactResponse(deps),
    countInputTokens(deps),
    retrieveResponse(deps),
    deleteResponse(deps),
    listInputItems(deps),
    createConversation(deps),
    retrieveConversation(deps),
    updateConversation(deps),
    deleteConversation(deps),
    createConversationItems(deps),
    listConversationItems(deps),
    retrieveConversationItem(deps),
    deleteConversationItem(deps),
    createMessage(deps),
    explainMessage(deps),
    countMessageTokens(deps),
    generateContent(deps),
    streamGenerateContent(deps),
    countTokens(deps),
    explainContent(deps),
    embedContent(deps),
    batchEmbedContents(deps),
    createEmbeddings(deps),
    explainEmbeddings(deps),
    listEmbeddingsModels(listings),
    createRerank(deps),
    explainRerank(deps),
    createModerations(deps),
    explainModerations(deps),
    createDecisions(deps),
    explainDecisions(deps),
    createSpeech(deps),
    explainSpeech(deps),
    createTranscription(deps),
    explainTranscription(deps),
    createTranslation(deps),
    explainTranslation(deps),
    createImages(deps),
    explainImages(deps),
    editImages(deps),
    explainImageEdits(deps),
    createImage(deps),
    explainImage(deps),
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
    listAllEndpoints(listings),
    listZdrEndpoints(listings),
    listProviders(listings),
    getGeneration(deps),
    getGenerationContent(deps),
    listGenerations(deps),
    getActivity(deps),
    streamRequests(deps),
    getOpenApi(),
    getHello(),
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
