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

/**
 * How a provider is asked for output of a schema: in its own words, as the arguments of a tool that it must call, or by
 * an instruction in the prompt.
 */
export const structuredOutputs = ['native', 'tool', 'instruction'] as const;
export type StructuredOutput = (typeof structuredOutputs)[number];

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
    /** `plugin`, `guardrail` or another kind of stage. */
    type: z.enum(pipelineStageTypes),
    /** Name of the stage. */
    name: text(),
    /** What it did, for people. */
    summary: optionalText(),
    /** What it did, for programs. */
    data: jsonObject().optional(),
    /** Id of the guardrail. */
    guardrail_id: optionalText(),
    /** Where the guardrail was imposed. */
    guardrail_scope: optionalText(),
    /** What the stage cost, in USD. */
    cost_usd: numberOrNull(),
  }),
);
export interface PipelineStage extends z.infer<ReturnType<typeof pipelineStageSchema>> {}

/** How a request was routed; the caller has to opt in. */
export const serviceMetadataSchema = lazily(() =>
  z.looseObject({
    /** Model slug as sent. */
    requested: text(),
    /** How the endpoints were ordered. */
    strategy: z.enum(routingStrategies),
    /** The option `region`. */
    region: text().nullable(),
    /** The same for people. */
    summary: text(),
    /** Number of attempts. 1: the first attempt served; 0: no provider was called. */
    attempt: count(),
    /** true: a workspace's own provider credential served. */
    is_byok: z.boolean(),
    /** None is selected when the request failed. */
    endpoints: z.looseObject({
      /** Endpoints of the requested models. */
      total: count(),
      /** Endpoints that could have served. */
      available: list(z.looseObject({ provider: text(), model: text(), selected: z.boolean() })),
    }),
    /** Every attempt, in order. */
    attempts: list(routerAttemptSchema()).optional(),
    /** Values that the routing used. */
    params: z
      .looseObject({
        /** The least quality that was accepted. */
        quality_floor: z.number().optional(),
        /** The least throughput that was accepted, in tokens per second. */
        throughput_floor: z.number().optional(),
        /** Models that count as versions of one. */
        version_group: optionalText(),
      })
      .optional(),
    /** Request fields that the provider that serves did not get, such as `seed`; absent: it got all. */
    dropped: list(text()).optional(),
    /** How the provider that serves was asked for output of a schema; absent: it was not. */
    structured_output: z.enum(structuredOutputs).optional(),
    /** What plugins and guardrails did. */
    pipeline: list(pipelineStageSchema()).optional(),
  }),
);
export interface ServiceMetadata extends z.infer<ReturnType<typeof serviceMetadataSchema>> {}

/** Body of every error response; `code` equals the HTTP status. */
export const errorBodySchema = lazily(() =>
  z.looseObject({
    /** What went wrong. */
    error: z.looseObject({
      /** HTTP status of the error. */
      code: integer(),
      /** What went wrong, for people. */
      message: text(),
      /** What is known besides. */
      metadata: jsonObject().nullish(),
    }),
    /** How the request was routed, where the caller asked for it. */
    service_metadata: serviceMetadataSchema().nullish(),
    /** The host app's id of the user. */
    user_id: textOrNull(),
  }),
);
export interface ErrorBody extends z.infer<ReturnType<typeof errorBodySchema>> {}
