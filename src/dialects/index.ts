import type { Schema } from '../schema/schema.ts';
import { aiSdk } from './ai-sdk/index.ts';
import { anthropicMessages } from './anthropic-messages/index.ts';
import { bedrockConverse } from './bedrock-converse/index.ts';
import { cohereChat } from './cohere-chat/index.ts';
import type { Dialect } from './dialect.ts';
import { googleGenerateContent } from './google-generate-content/index.ts';
import { openaiChat } from './openai-chat/index.ts';
import { openaiResponses } from './openai-responses/index.ts';

/** Every dialect an option may name. */
export const dialects = {
  'openai-chat': openaiChat,
  'anthropic-messages': anthropicMessages,
  'google-generate-content': googleGenerateContent,
  'bedrock-converse': bedrockConverse,
  'openai-responses': openaiResponses,
  'cohere-chat': cohereChat,
  'ai-sdk': aiSdk,
} as const satisfies Record<string, Dialect>;

export type DialectName = keyof typeof dialects;

/** The quirks of one of them. */
export type QuirksOf<Name extends DialectName> =
  ReturnType<(typeof dialects)[Name]['quirks']> extends Schema<infer Quirks> ? Quirks : never;
