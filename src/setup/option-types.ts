import type * as z from 'zod';
import type { masterSecretsSchema } from '../schema/master-secrets.ts';
import type { rateLimitsSchema } from '../schema/rate-limits.ts';
import type {
  budgetSettingsSchema,
  cooldownSettingsSchema,
  corsSettingsSchema,
  hedgeSettingsSchema,
  keepAliveSettingsSchema,
  limitSettingsSchema,
  overloadSettingsSchema,
  rateLimitSettingsSchema,
  redisSettingsSchema,
  retrySettingsSchema,
  stickySettingsSchema,
  streamSettingsSchema,
  timeoutSettingsSchema,
} from '../schema/settings.ts';
import type { dataPolicyOptions, endpointOptions, pricingOptions } from './endpoint-options.ts';
import type { catalogOptions, modelOptions } from './model-options.ts';

// The sections of the options by name, for whoever writes them apart from `createGateway`.

/** A model, with the endpoints that serve it. */
export interface ModelOptions extends z.input<ReturnType<typeof modelOptions>> {}

/** One model at one provider. */
export interface EndpointOptions extends z.input<ReturnType<typeof endpointOptions>> {}

/** Prices of an endpoint, in USD. */
export interface PricingOptions extends z.input<ReturnType<typeof pricingOptions>> {}

/** What a provider does with the data of requests. */
export interface DataPolicyOptions extends z.input<ReturnType<typeof dataPolicyOptions>> {}

/** Where further models and their prices come from. */
export interface CatalogOptions extends z.input<ReturnType<typeof catalogOptions>> {}

/** The secrets that encrypt stored provider keys, prompts and responses. */
export interface SecretOptions extends z.input<ReturnType<typeof masterSecretsSchema>> {}

/** The rate limits of one key or workspace. */
export interface RateLimitSetOptions extends z.input<ReturnType<typeof rateLimitsSchema>> {}

/** How budgets are held. */
export interface BudgetOptions extends z.input<ReturnType<typeof budgetSettingsSchema>> {}

/** How safe a Redis must be set up. */
export interface RedisOptions extends z.input<ReturnType<typeof redisSettingsSchema>> {}

/** Which web pages of other sites may use the gateway. */
export interface CorsOptions extends z.input<ReturnType<typeof corsSettingsSchema>> {}

/** Requests and tokens per minute, and requests in flight. */
export interface RateLimitOptions extends z.input<ReturnType<typeof rateLimitSettingsSchema>> {}

/** When the process has too much to do. */
export interface OverloadOptions extends z.input<ReturnType<typeof overloadSettingsSchema>> {}

/** Maximum sizes. */
export interface LimitOptions extends z.input<ReturnType<typeof limitSettingsSchema>> {}

/** Maximum durations. */
export interface TimeoutOptions extends z.input<ReturnType<typeof timeoutSettingsSchema>> {}

/** What is retried, and when. */
export interface RetryOptions extends z.input<ReturnType<typeof retrySettingsSchema>> {}

/** What a broken stream looks like. */
export interface StreamOptions extends z.input<ReturnType<typeof streamSettingsSchema>> {}

/** Comments in silent streams. */
export interface KeepAliveOptions extends z.input<ReturnType<typeof keepAliveSettingsSchema>> {}

/** When an endpoint that fails goes into cooldown. */
export interface HealthOptions extends z.input<ReturnType<typeof cooldownSettingsSchema>> {}

/** A second attempt beside a stream whose first token is late. */
export interface HedgeOptions extends z.input<ReturnType<typeof hedgeSettingsSchema>> {}

/** How long a conversation keeps its endpoint. */
export interface StickyOptions extends z.input<ReturnType<typeof stickySettingsSchema>> {}
