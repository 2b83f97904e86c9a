import { aiSdk } from '../../src/dialects/ai-sdk/index.ts';
import { anthropicMessages } from '../../src/dialects/anthropic-messages/index.ts';
import { bedrockConverse } from '../../src/dialects/bedrock-converse/index.ts';
import { cohereChat } from '../../src/dialects/cohere-chat/index.ts';
import { googleGenerateContent } from '../../src/dialects/google-generate-content/index.ts';
import type { DialectName } from '../../src/dialects/index.ts';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import { openaiResponses } from '../../src/dialects/openai-responses/index.ts';

export type { DialectName } from '../../src/dialects/index.ts';

/** Every dialect that an option may name, with its code. */
export const dialects = {
  'openai-chat': openaiChat,
  'anthropic-messages': anthropicMessages,
  'google-generate-content': googleGenerateContent,
  'bedrock-converse': bedrockConverse,
  'openai-responses': openaiResponses,
  'cohere-chat': cohereChat,
  'ai-sdk': aiSdk,
} as const satisfies Record<DialectName, object>;
