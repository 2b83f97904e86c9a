import type { Explanation, InProcessApi } from '../../../src/index.ts';

/** The result of an operation, by the place of its function: its type is that of the operation's schema. */
type Result<
  Group extends keyof InProcessApi,
  Name extends keyof InProcessApi[Group],
> = InProcessApi[Group][Name] extends (...given: never[]) => Promise<infer Value> ? Value : never;

export type Explained = Explanation;
export type ActivityResult = Result<'generations', 'activity'>;
export type Activity = ActivityResult['data'][number];
export type GenerationsResult = Result<'generations', 'list'>;
export type Generation = GenerationsResult['data'][number];
export type GenerationResult = Result<'generations', 'get'>;
export type ContentResult = Result<'generations', 'content'>;
export type EndpointsResult = Result<'models', 'listAllEndpoints'>;
export type Endpoint = EndpointsResult['data'][number];
export type ModelsResult = Result<'models', 'list'>;
export type ProvidersResult = Result<'providers', 'list'>;
export type WorkspacesResult = Result<'workspaces', 'list'>;
export type BudgetsResult = Result<'budgets', 'list'>;
export type Budget = BudgetsResult['data'][number];
export type KeysResult = Result<'apiKeys', 'list'>;
export type KeyMade = Result<'apiKeys', 'create'>;
export type CredentialsResult = Result<'credentials', 'list'>;
export type GuardrailsResult = Result<'guardrails', 'list'>;
export type Guardrail = GuardrailsResult['data'][number];
export type AuditResult = Result<'audit', 'list'>;
