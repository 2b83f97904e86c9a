import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { jsonObject, list } from './bounded.ts';
import { count, integer, numberOrNull, optionalText, text, textOrNull } from './scalars.ts';

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

/** An attempt: a target that was called, and the HTTP status of its response. */
export const routerAttemptSchema = lazily(() => z.looseObject({ provider: text(), model: text(), status: integer() }));
export interface RouterAttempt extends z.infer<ReturnType<typeof routerAttemptSchema>> {}

/** A stage that changed the request or the response. */
export const pipelineStageSchema = lazily(() =>
  z.looseObject({
    type: z.enum(pipelineStageTypes),
    name: text(),
    summary: optionalText(),
    data: jsonObject().optional(),
    guardrail_id: optionalText(),
    guardrail_scope: optionalText(),
    cost_usd: numberOrNull(),
  }),
);
export interface PipelineStage extends z.infer<ReturnType<typeof pipelineStageSchema>> {}

/** How a request was routed; the caller has to opt in. */
export const serviceMetadataSchema = lazily(() =>
  z.looseObject({
    /** Model slug as sent. */
    requested: text(),
    strategy: z.enum(routingStrategies),
    region: text().nullable(),
    summary: text(),
    /** Number of attempts. 1: the first attempt served; 0: no provider was called. */
    attempt: count(),
    is_byok: z.boolean(),
    /** None is selected when the request failed. */
    endpoints: z.looseObject({
      total: count(),
      available: list(z.looseObject({ provider: text(), model: text(), selected: z.boolean() })),
    }),
    attempts: list(routerAttemptSchema()).optional(),
    params: z
      .looseObject({
        quality_floor: z.number().optional(),
        throughput_floor: z.number().optional(),
        version_group: optionalText(),
      })
      .optional(),
    pipeline: list(pipelineStageSchema()).optional(),
  }),
);
export interface ServiceMetadata extends z.infer<ReturnType<typeof serviceMetadataSchema>> {}

/** Body of every error response; `code` equals the HTTP status. */
export const errorBodySchema = lazily(() =>
  z.looseObject({
    error: z.looseObject({
      code: integer(),
      message: text(),
      metadata: jsonObject().nullish(),
    }),
    service_metadata: serviceMetadataSchema().nullish(),
    user_id: textOrNull(),
  }),
);
export interface ErrorBody extends z.infer<ReturnType<typeof errorBodySchema>> {}
