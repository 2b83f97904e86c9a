import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list } from '../bounded.ts';
import { count, integer, numberOrNull, optionalText, text, textOrNull } from '../scalars.ts';

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
 * The ways to get output of a schema from a provider: its own field, the arguments of a tool that it must call, or an
 * instruction in the prompt.
 */
export const structuredOutputs = ['native', 'tool', 'instruction'] as const;
export type StructuredOutput = (typeof structuredOutputs)[number];

/**
 * The reasons for which a provider is told to drop thoughts that no longer fit the messages before them: the gateway
 * has changed the prompt, or the provider has refused such thoughts before.
 */
export const thoughtDropReasons = ['prompt_changed', 'provider_refused'] as const;
export type ThoughtDropReason = (typeof thoughtDropReasons)[number];

/** The report of a provider about parts of a conversation that it left out. */
export interface InputTransformations {
  /** The number of thoughts that were left out. */
  count: number;
  /** The first of them. */
  shown: { type: string; reason: string; path: string }[];
}

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

/** An endpoint that may not serve, and why. */
export const exclusionSchema = lazily(() =>
  z.object({
    /** Slug of the model. */
    model: text(),
    /** Slug of the endpoint: `provider` or `provider/variant`. */
    provider: text(),
    /** The rule that removed it. */
    filter: text(),
    /** The missing part, such as a part of a BYOK credential, with its expected form. */
    lacks: text().optional(),
  }),
);

/** A stage that changed the request or the response. */
export const pipelineStageSchema = lazily(() =>
  z.looseObject({
    /** `plugin`, `guardrail` or another kind of stage. */
    type: z.enum(pipelineStageTypes),
    /** Name of the stage. */
    name: text(),
    /** The action of the stage, for people. */
    summary: optionalText(),
    /** The action of the stage, for programs. */
    data: jsonObject().optional(),
    /** Id of the guardrail. */
    guardrail_id: optionalText(),
    /** The assignment of the guardrail. */
    guardrail_scope: optionalText(),
    /** The cost of the stage, in USD. */
    cost_usd: numberOrNull(),
  }),
);
export interface PipelineStage extends z.infer<ReturnType<typeof pipelineStageSchema>> {}

/** The routing of a request; the caller has to opt in. */
export const serviceMetadataSchema = lazily(() =>
  z.looseObject({
    /** Model slug as sent. */
    requested: text(),
    /** The order of the endpoints. */
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
    /** The way in which the provider that serves got the schema of the output; absent: the request has none. */
    structured_output: z.enum(structuredOutputs).optional(),
    /**
     * The treatment of thoughts of the model that are bound to their conversation; absent: none were sent, or all
     * fitted.
     */
    thought_bindings: z
      .looseObject({
        /** The reason why the provider was told to drop thoughts that no longer fit; absent: it was not. */
        drop_reason: z.enum(thoughtDropReasons).optional(),
        /** The number of thoughts that the provider reported to have left out. */
        transformed: count(),
        /** The first of them, as the provider reported them. */
        input_transformations: list(z.looseObject({ type: text(), reason: text(), path: text() })),
      })
      .optional(),
    /** The stages of plugins and guardrails. */
    pipeline: list(pipelineStageSchema()).optional(),
  }),
);
/** The account that the gateway gives of how it served a request. */
export interface ServiceMetadata extends z.infer<ReturnType<typeof serviceMetadataSchema>> {}

/** Body of every error response; `code` equals the HTTP status. */
export const errorBodySchema = lazily(() =>
  z.looseObject({
    /** The error. */
    error: z.looseObject({
      /** HTTP status of the error. */
      code: integer(),
      /** The message, for people. */
      message: text(),
      /** Further facts. */
      metadata: jsonObject().nullish(),
    }),
    /** The routing of the request, if the caller asked for it. */
    service_metadata: serviceMetadataSchema().nullish(),
    /** The host app's id of the user. */
    user_id: textOrNull(),
  }),
);
/** The body of every response that is an error. */
export interface ErrorBody extends z.infer<ReturnType<typeof errorBodySchema>> {}
