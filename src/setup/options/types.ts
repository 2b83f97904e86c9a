import type * as z from 'zod';
import type { thoughtBindingSettingsSchema } from '../../schema/chat/thought-bindings.ts';
import type { masterSecretsSchema } from '../../schema/settings/master-secrets.ts';
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
  tokenCountSettingsSchema,
} from '../../schema/settings/settings.ts';
import type { timeoutSettingsSchema } from '../../schema/settings/timeouts.ts';
import type { webSocketSettingsSchema } from '../../schema/settings/web-sockets.ts';
import type { rateLimitsSchema } from '../../schema/tenants/rate-limits.ts';
import type { dataPolicyOptions, endpointOptions, pricingOptions } from './endpoint.ts';
import type { catalogOptions, modelOptions } from './model.ts';

// The sections of the options by name, for code that writes them apart from `createGateway`.

/** A model, with the endpoints that serve it. */
export interface ModelOptions extends z.input<ReturnType<typeof modelOptions>> {}

/** One model at one provider. */
export interface EndpointOptions extends z.input<ReturnType<typeof endpointOptions>> {}

/** Prices of an endpoint, in USD. */
export interface PricingOptions extends z.input<ReturnType<typeof pricingOptions>> {}

/** A provider's treatment of the data of requests. */
export interface DataPolicyOptions extends z.input<ReturnType<typeof dataPolicyOptions>> {}

/** The sources of further models and their prices. */
export interface CatalogOptions extends z.input<ReturnType<typeof catalogOptions>> {}

/** The secrets that encrypt stored provider keys, prompts and responses. */
export interface SecretOptions extends z.input<ReturnType<typeof masterSecretsSchema>> {}

/** The rate limits of one key or workspace. */
export interface RateLimitSetOptions extends z.input<ReturnType<typeof rateLimitsSchema>> {}

/** The way in which budgets are held. */
export interface BudgetOptions extends z.input<ReturnType<typeof budgetSettingsSchema>> {}

/** The safety of a Redis that the gateway accepts. */
export interface RedisOptions extends z.input<ReturnType<typeof redisSettingsSchema>> {}

/** The web pages of other sites that may use the gateway. */
export interface CorsOptions extends z.input<ReturnType<typeof corsSettingsSchema>> {}

/** Requests and tokens per minute, and requests in flight. */
export interface RateLimitOptions extends z.input<ReturnType<typeof rateLimitSettingsSchema>> {}

/** The limits above which the process refuses requests. */
export interface OverloadOptions extends z.input<ReturnType<typeof overloadSettingsSchema>> {}

/** Maximum sizes. */
export interface LimitOptions extends z.input<ReturnType<typeof limitSettingsSchema>> {}

/** Maximum durations. */
export interface TimeoutOptions extends z.input<ReturnType<typeof timeoutSettingsSchema>> {}

/** The retries of failed attempts. */
export interface RetryOptions extends z.input<ReturnType<typeof retrySettingsSchema>> {}

/** The form of a broken stream. */
export interface StreamOptions extends z.input<ReturnType<typeof streamSettingsSchema>> {}

/** Connections of clients that speak Responses over a WebSocket. */
export interface WebSocketOptions extends z.input<ReturnType<typeof webSocketSettingsSchema>> {}

/** Comments in silent streams. */
export interface KeepAliveOptions extends z.input<ReturnType<typeof keepAliveSettingsSchema>> {}

/** The failures that put an endpoint into cooldown. */
export interface HealthOptions extends z.input<ReturnType<typeof cooldownSettingsSchema>> {}

/** A second attempt beside a stream whose first token is late. */
export interface HedgeOptions extends z.input<ReturnType<typeof hedgeSettingsSchema>> {}

/** The time for which a conversation keeps its endpoint. */
export interface StickyOptions extends z.input<ReturnType<typeof stickySettingsSchema>> {}

/** Thoughts that a provider binds to their conversation. */
export interface ThoughtBindingOptions extends z.input<ReturnType<typeof thoughtBindingSettingsSchema>> {}

/** Counts of the tokens of a request. */
export interface TokenCountOptions extends z.input<ReturnType<typeof tokenCountSettingsSchema>> {}
