export { type ErrorKind, GatewayError, isGatewayError } from './base/errors.ts';
export { isUploadedFile, type UploadedFile } from './base/http/uploaded-file.ts';
export type { Ask, Revised, Revision } from './call/ask.ts';
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
  ServerToolUse,
  StreamedResponse,
} from './call/generation.ts';
export type {
  Expense,
  ForeseeContext,
  ForeseenGeneration,
  Generate,
  PlanningContext,
  PluginContext,
  PluginHooks,
  ResponseStep,
} from './call/hooks.ts';
export type { Native, NativeObject, WireFormat } from './call/native.ts';
export type { OperationReply, ReplyStream } from './call/reply.ts';
export type { FollowedWork } from './call/trace.ts';
export { CatalogError } from './catalog/document.ts';
export { type CallerGateway, createGateway, type Gateway, type RequestHandler } from './gateway.ts';
export type { BuiltinPattern } from './guardrails/builtin/index.ts';
export { blockedBy, defineGuardrail, type Guardrail, type GuardrailPreview } from './guardrails/guardrail.ts';
export type { GuardrailAction, TextPattern } from './guardrails/text/pattern.ts';
export { type TextGuardrailOptions, textGuardrail } from './guardrails/text-guardrail.ts';
export type { HandleContext } from './http/context.ts';
export type { FindHostCaller, HostCaller } from './http/host-caller.ts';
export type { SocketPeer, SocketSession } from './http/socket/session.ts';
export type { SocketUpgrade } from './http/socket/sockets.ts';
export { defineOperation, type FormFields, type Operation, type OperationInput } from './operations/operation.ts';
export { type ApiKeyOptions, type GatewayOptions, OptionsError } from './options.ts';
export { type ContextCompressionOptions, contextCompression } from './plugins/context-compression/index.ts';
export { type FileParserOptions, fileParser } from './plugins/file-parser/index.ts';
export { type MistralOcrOptions, mistralOcr, type OcrEngine } from './plugins/file-parser/ocr.ts';
export { fusion } from './plugins/fusion/index.ts';
export type { FusionModels, FusionOptions, FusionPreset, FusionTool } from './plugins/fusion/settings.ts';
export {
  type ModerationOptions,
  moderation,
  type OpenAiModeratorOptions,
  openaiModerator,
} from './plugins/moderation/index.ts';
export { localModerator } from './plugins/moderation/local.ts';
export type { Moderator, Verdict } from './plugins/moderation/moderator.ts';
export { type ActsOnContext, definePlugin, type Plugin } from './plugins/plugin.ts';
export { type ResponseHealingOptions, responseHealing } from './plugins/response-healing/index.ts';
export { type WebOptions, web } from './plugins/web.ts';
export { type WebFetchOptions, webFetch } from './plugins/web-fetch.ts';
export { type AiSdkModel, type AiSdkModels, type AiSdkProviderOptions, fromAiSdk } from './providers/ai-sdk/index.ts';
export { type BuiltInSlug, builtInProviders, type ProviderSlug } from './providers/index.ts';
export type { ApiKeyRequest, ApiKeySource } from './providers/keys/api-key.ts';
export { type ClientCredentialsOptions, clientCredentials } from './providers/keys/client-credentials.ts';
export type { GivenKey, KeyStrategy } from './providers/keys/options.ts';
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
export type { ChatRequest, ChatResult, Usage } from './schema/chat/chat.ts';
export type { ChatChunk } from './schema/chat/chunk.ts';
export type { ErrorBody, ServiceMetadata } from './schema/chat/envelope.ts';
export type { Explanation } from './schema/chat/explanation.ts';
export type { TextCompletionRequest } from './schema/completions/request.ts';
export type { TextCompletionChunk, TextCompletionResult } from './schema/completions/result.ts';
export type { AuditEntry, AuditedType } from './schema/records/audit.ts';
export type { ResponsesEvent } from './schema/responses/events.ts';
export type { ResponsesRequest } from './schema/responses/responses.ts';
export type { ResponsesResult } from './schema/responses/result.ts';
export type { BudgetEvent } from './schema/settings/budget-events.ts';
export type { HealthCheckOptions } from './schema/settings/health-check.ts';
export type { NewApiKey, StoredApiKey } from './schema/tenants/api-key.ts';
export { defineServerTool, type ServerTool, type ServerToolContext } from './server-tools/server-tool.ts';
export type {
  Audio,
  CreateTranscription,
  CreateTranslation,
  TranscriptionBody,
  TranslationBody,
} from './setup/asking/audio.ts';
export type { ClientOptions } from './setup/asking/client-options.ts';
export type { CompletionOptions, Completions, CreateCompletion } from './setup/asking/completions.ts';
export type { FileSource } from './setup/asking/files.ts';
export type { ImageEdit, Images } from './setup/asking/images.ts';
export type { GatewayLanguageModel, LanguageModelSettings } from './setup/asking/language-model.ts';
export type { CompletionStream } from './setup/asking/stream.ts';
export type { Explain, ExplainFor } from './setup/explainer.ts';
export type { HostApiKeys } from './setup/host-api-keys.ts';
export type { InProcessApi } from './setup/in-process.ts';
export type { ProviderOptions, Providers } from './setup/options/provider.ts';
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
} from './setup/options/types.ts';
export type { Readiness } from './setup/readiness.ts';
export type { GatewayState } from './setup/state.ts';
export type { ApiKeys } from './stores/api-keys/host-api-keys.ts';
export type {
  BeginFollowing,
  BegunAttempt,
  BegunCall,
  CallContent,
  CallFollower,
  FollowedAttempt,
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
