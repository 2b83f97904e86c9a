import type { Schema } from '../schema/schema.ts';
import { type AiSdkQuirks, aiSdkQuirks } from './ai-sdk/quirks.ts';
import { type MessagesQuirks, messagesQuirks } from './anthropic-messages/quirks.ts';
import { type ConverseQuirks, converseQuirks } from './bedrock-converse/quirks.ts';
import { type CohereQuirks, cohereQuirks } from './cohere-chat/quirks.ts';
import type { Dialect } from './dialect.ts';
import { type GoogleQuirks, googleQuirks } from './google-generate-content/quirks.ts';
import { lateDialect } from './late.ts';
import { openaiChat } from './openai-chat/index.ts';
import { type ResponsesQuirks, responsesQuirks } from './openai-responses/quirks.ts';

export const anthropicMessages = lateDialect<MessagesQuirks>(
  { name: 'anthropic-messages', quirks: messagesQuirks, format: 'messages', mapsWebSearch: true },
  async () => (await import('./anthropic-messages/index.ts')).anthropicMessages,
);

export const googleGenerateContent = lateDialect<GoogleQuirks>(
  { name: 'google-generate-content', quirks: googleQuirks, format: 'gemini', mapsWebSearch: true },
  async () => (await import('./google-generate-content/index.ts')).googleGenerateContent,
);

export const bedrockConverse = lateDialect<ConverseQuirks>(
  { name: 'bedrock-converse', quirks: converseQuirks },
  async () => (await import('./bedrock-converse/index.ts')).bedrockConverse,
);

export const openaiResponses = lateDialect<ResponsesQuirks>(
  { name: 'openai-responses', quirks: responsesQuirks, format: 'responses', mapsWebSearch: true },
  async () => (await import('./openai-responses/index.ts')).openaiResponses,
);

export const cohereChat = lateDialect<CohereQuirks>(
  { name: 'cohere-chat', quirks: cohereQuirks },
  async () => (await import('./cohere-chat/index.ts')).cohereChat,
);

export const aiSdk = lateDialect<AiSdkQuirks>(
  { name: 'ai-sdk', quirks: aiSdkQuirks },
  async () => (await import('./ai-sdk/index.ts')).aiSdk,
);

/** Every dialect an option may name. All but that of chat completions are loaded at their first use. */
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

/** Loads them all now. Rejects where the package is not whole. */
export async function loadDialects(): Promise<void> {
  await Promise.all(Object.values(dialects).map((dialect: Dialect) => dialect.load?.()));
}
