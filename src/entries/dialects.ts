export { aiSdk } from '../dialects/ai-sdk/index.ts';
export type { AiSdkQuirks } from '../dialects/ai-sdk/quirks.ts';
export { anthropicMessages } from '../dialects/anthropic-messages/index.ts';
export type { MessagesQuirks } from '../dialects/anthropic-messages/quirks.ts';
export { bedrockConverse } from '../dialects/bedrock-converse/index.ts';
export type { ConverseQuirks } from '../dialects/bedrock-converse/quirks.ts';
export { cohereChat } from '../dialects/cohere-chat/index.ts';
export type { CohereQuirks } from '../dialects/cohere-chat/quirks.ts';
export {
  type DecodedResult,
  type Dialect,
  type DialectRequest,
  defineDialect,
  type EncodedRequest,
  type StreamDecoder,
  type StreamPart,
} from '../dialects/dialect.ts';
export { type Profile, profiles, type TextRule } from '../dialects/fit/index.ts';
export { googleGenerateContent } from '../dialects/google-generate-content/index.ts';
export type { GoogleQuirks } from '../dialects/google-generate-content/quirks.ts';
export { openaiChat } from '../dialects/openai-chat/index.ts';
export type { ChatQuirks } from '../dialects/openai-chat/quirks.ts';
export { openaiResponses } from '../dialects/openai-responses/index.ts';
export type { ResponsesQuirks } from '../dialects/openai-responses/quirks.ts';
