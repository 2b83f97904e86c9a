/** The stage between a request and the dialect that writes it for a provider. */

import {
  aiSdk,
  anthropic,
  bedrock,
  bridgedChat,
  claude,
  cohere,
  everyChatServer,
  freeChat,
  google,
  longIds,
  responses,
  shortIds,
} from './profile.ts';

export { resultWithOwnNames, withOwnNames } from './back.ts';
export { encodeFitted } from './encode.ts';
export { type Fitted, fitRequest } from './fit.ts';
export type { Profile, TextRule } from './profile.ts';

/** The profiles of the built-in dialects, and parts of them, to begin a profile of one's own with. */
export const profiles = {
  /** Accepted by every server of chat completions that is known. */
  everyChatServer,
  /** A server of chat completions that takes messages in any order, such as OpenAI. */
  freeChat,
  /** A server of chat completions that wants an assistant between results and the next user, such as Mistral. */
  bridgedChat,
  /** Ids of tool calls of up to 512 characters. */
  longIds,
  /** Ids of tool calls of nine letters and digits. */
  shortIds,
  /** Any Claude, whoever serves it. */
  claude,
  /** OpenAI Responses. */
  responses,
  /** Anthropic Messages. */
  anthropic,
  /** Bedrock Converse. */
  bedrock,
  /** Google generateContent. */
  google,
  /** Cohere chat. */
  cohere,
  /** Models of the AI SDK. */
  aiSdk,
} as const;
