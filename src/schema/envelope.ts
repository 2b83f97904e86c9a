import * as z from 'zod';

export const routingStrategies = [
  'direct',
  'auto',
  'free',
  'latest',
  'alias',
  'fallback',
  'pareto',
  'bodybuilder',
  'fusion',
] as const;
export type RoutingStrategy = (typeof routingStrategies)[number];

export const pipelineStageTypes = [
  'guardrail',
  'plugin',
  'server_tools',
  'response_healing',
  'context_compression',
] as const;

/** A try that was sent to a provider and what it answered: an HTTP status. */
export const routerAttemptSchema = z.looseObject({ provider: z.string(), model: z.string(), status: z.int() });
export interface RouterAttempt extends z.infer<typeof routerAttemptSchema> {}

/** A stage that did something to the request or the answer. */
export const pipelineStageSchema = z.looseObject({
  type: z.enum(pipelineStageTypes),
  name: z.string(),
  summary: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  guardrail_id: z.string().optional(),
  guardrail_scope: z.string().optional(),
  cost_usd: z.number().nullish(),
});
export interface PipelineStage extends z.infer<typeof pipelineStageSchema> {}

/** How a request was routed: shown when the caller opted in. */
export const serviceMetadataSchema = z.looseObject({
  /** Model slug as sent. */
  requested: z.string(),
  strategy: z.enum(routingStrategies),
  region: z.string().nullable(),
  summary: z.string(),
  /** 1: the first try served; 0: no provider was reached. */
  attempt: z.int().nonnegative(),
  is_byok: z.boolean(),
  /** None is selected when the request failed. */
  endpoints: z.looseObject({
    total: z.int().nonnegative(),
    available: z.array(z.looseObject({ provider: z.string(), model: z.string(), selected: z.boolean() })),
  }),
  attempts: z.array(routerAttemptSchema).optional(),
  params: z
    .looseObject({
      quality_floor: z.number().optional(),
      throughput_floor: z.number().optional(),
      version_group: z.string().optional(),
    })
    .optional(),
  pipeline: z.array(pipelineStageSchema).optional(),
});
export interface ServiceMetadata extends z.infer<typeof serviceMetadataSchema> {}

/** Body of every answer that is not a success; `code` equals the HTTP status. */
export const errorBodySchema = z.looseObject({
  error: z.looseObject({
    code: z.int(),
    message: z.string(),
    metadata: z.record(z.string(), z.unknown()).nullish(),
  }),
  service_metadata: serviceMetadataSchema.nullish(),
  user_id: z.string().nullish(),
});
export interface ErrorBody extends z.infer<typeof errorBodySchema> {}
