export type { ByteSource } from './base/bytes.ts';
export type { Clock } from './base/clock.ts';
export { type ErrorKind, GatewayError, isGatewayError } from './base/errors.ts';
export type { Caller, Permission } from './call/call.ts';
export {
  type FetchedFile,
  type FetchFault,
  FetchRefused,
  type FetchUrl,
  type FetchUrlOptions,
} from './call/fetch-url.ts';
export type {
  CompleteResponse,
  Generation,
  GenerationLog,
  ModelResponse,
  Receipt,
  ResponseEnd,
  StreamedResponse,
} from './call/generation.ts';
export type {
  Expense,
  ForeseenGeneration,
  Generate,
  PlanningContext,
  PluginContext,
  PluginHooks,
  Step,
} from './call/hooks.ts';
export type { Reply, ReplyStream } from './call/reply.ts';
export type {
  FoundPages,
  SearchAnswer,
  SearchEngine,
  SearchQuery,
  SearchRequest,
  SearchResult,
} from './call/search.ts';
export { CatalogError } from './catalog/document.ts';
export type { AiSdkQuirks } from './dialects/ai-sdk/quirks.ts';
export { aiSdk } from './dialects/ai-sdk.ts';
export type { MessagesQuirks } from './dialects/anthropic-messages/quirks.ts';
export { anthropicMessages } from './dialects/anthropic-messages.ts';
export type { ConverseQuirks } from './dialects/bedrock-converse/quirks.ts';
export { bedrockConverse } from './dialects/bedrock-converse.ts';
export type { CohereQuirks } from './dialects/cohere-chat/quirks.ts';
export { cohereChat } from './dialects/cohere-chat.ts';
export type { Dialect } from './dialects/dialect.ts';
export type { GoogleQuirks } from './dialects/google-generate-content/quirks.ts';
export { googleGenerateContent } from './dialects/google-generate-content.ts';
export type { ChatQuirks } from './dialects/openai-chat/quirks.ts';
export { openaiChat } from './dialects/openai-chat.ts';
export type { ResponsesQuirks } from './dialects/openai-responses/quirks.ts';
export { openaiResponses } from './dialects/openai-responses.ts';
export { type CallerGateway, createGateway, type Gateway, type RequestHandler } from './gateway.ts';
export type { BuiltinPattern } from './guardrails/builtin/index.ts';
export { blockedBy, defineGuardrail, type Guardrail, type GuardrailPreview } from './guardrails/guardrail.ts';
export type { GuardrailAction, TextPattern } from './guardrails/text/patterns.ts';
export { type TextGuardrailOptions, textGuardrail } from './guardrails/text-guardrail.ts';
export type { HandleContext } from './http/context.ts';
export type { FindHostCaller, HostCaller } from './http/host-caller.ts';
export { defineOperation, type Operation, type OperationInput } from './operations/operation.ts';
export { type ApiKeyOptions, type GatewayOptions, OptionsError } from './options.ts';
export { type ContextCompressionOptions, contextCompression } from './plugins/context-compression.ts';
export { type MistralOcrOptions, mistralOcr, type OcrEngine } from './plugins/file-parser/ocr.ts';
export { type FileParserOptions, fileParser } from './plugins/file-parser.ts';
export type { FusionModels, FusionOptions, FusionPreset } from './plugins/fusion/settings.ts';
export { fusion } from './plugins/fusion.ts';
export { localModerator } from './plugins/moderation/local.ts';
export type { Moderator, Verdict } from './plugins/moderation/moderator.ts';
export {
  type ModerationOptions,
  moderation,
  type OpenAiModeratorOptions,
  openaiModerator,
} from './plugins/moderation.ts';
export { definePlugin, type Plugin } from './plugins/plugin.ts';
export { type ResponseHealingOptions, responseHealing } from './plugins/response-healing.ts';
export { type WebOptions, web } from './plugins/web.ts';
export { type WebFetchOptions, webFetch } from './plugins/web-fetch.ts';
export { type AiSdkModel, type AiSdkModels, type AiSdkProviderOptions, fromAiSdk } from './providers/ai-sdk.ts';
export { type BuiltInSlug, builtInProviders, type ProviderSlug } from './providers/index.ts';
export {
  type Auth,
  bearer,
  type Credential,
  type CredentialPart,
  type CredentialShape,
  defineProvider,
  type OutgoingRequest,
  type Provider,
} from './providers/provider.ts';
export type { SaidAnswer, SandboxAnswer, ScriptRequest } from './providers/sandbox/answer.ts';
export { type SandboxScript, type ScriptEntry, ScriptError, sandboxScript } from './providers/sandbox/script.ts';
export type { NewApiKey, StoredApiKey } from './schema/api-key.ts';
export type { AuditEntry, AuditedType } from './schema/audit.ts';
export type { BudgetEvent } from './schema/budget-event-settings.ts';
export type { ChatRequest, ChatResult, Usage } from './schema/chat.ts';
export type { ChatChunk } from './schema/chunk.ts';
export type { ErrorBody, ServiceMetadata } from './schema/envelope.ts';
export type { Explanation } from './schema/explanation.ts';
export { braveSearch } from './search/brave.ts';
export type { KeyedEngineOptions, SearchEngineOptions } from './search/engine.ts';
export { exaSearch } from './search/exa.ts';
export { firecrawlSearch } from './search/firecrawl.ts';
export { parallelSearch } from './search/parallel.ts';
export { perplexitySearch } from './search/perplexity.ts';
export { type SearxngOptions, searxngSearch } from './search/searxng.ts';
export { tavilySearch } from './search/tavily.ts';
export { defineServerTool, type ServerTool, type ServerToolContext } from './server-tools/server-tool.ts';
export type { Explain, ExplainFor } from './setup/explainer.ts';
export type { HostApiKeys } from './setup/host-api-keys.ts';
export type { InProcessApi } from './setup/in-process.ts';
export type {
  BudgetOptions,
  CatalogOptions,
  CorsOptions,
  DataPolicyOptions,
  EndpointOptions,
  HealthOptions,
  HedgeOptions,
  KeepAliveOptions,
  LimitOptions,
  ModelOptions,
  OverloadOptions,
  PricingOptions,
  RateLimitOptions,
  RateLimitSetOptions,
  RedisOptions,
  RetryOptions,
  SecretOptions,
  StickyOptions,
  StreamOptions,
  TimeoutOptions,
} from './setup/option-types.ts';
export type { ProviderOptions, Providers } from './setup/provider-options.ts';
export type { Readiness } from './setup/readiness.ts';
export type { GatewayState } from './setup/state.ts';
export type { StoreOption } from './setup/stores.ts';
export type { Rotation } from './stores/credentials/rotate.ts';
export type { ApiKeys } from './stores/host-api-keys.ts';
export type {
  Addition,
  EndOutcome,
  HoldOutcome,
  HoldRequest,
  Ledger,
  LimitedWindow,
  Window,
  WindowState,
} from './stores/ledger/ledger.ts';
export type { SealedKey, Sealer } from './stores/vault.ts';
export type {
  BeginFollowing,
  BegunAttempt,
  BegunCall,
  CallContent,
  CallFollower,
  FollowedAttempt,
  FollowedWork,
  Recorder,
} from './telemetry/follow.ts';
export { idleSwitches, type PartSwitch, type SwitchSettings } from './telemetry/idle-switches.ts';
export type { AttemptParameters } from './telemetry/parameters.ts';
export type {
  GenerationRecord,
  Logger,
  OperationRecord,
  OperationRecorder,
  RequestRecord,
} from './telemetry/record.ts';
export type { Transport, TransportRequest, TransportResponse } from './transport/transport.ts';
