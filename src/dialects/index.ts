import type { Schema } from '../schema/schema.ts';
import { aiSdk } from './ai-sdk.ts';
import { cohereChat } from './cohere-chat.ts';
import type { Dialect } from './dialect.ts';
import { openaiChat } from './openai-chat.ts';

/** Every dialect an option may name. */
export const dialects = {
  'openai-chat': openaiChat,
  'cohere-chat': cohereChat,
  'ai-sdk': aiSdk,
} as const satisfies Record<string, Dialect>;

export type DialectName = keyof typeof dialects;

/** The quirks of one of them. */
export type QuirksOf<Name extends DialectName> =
  ReturnType<(typeof dialects)[Name]['quirks']> extends Schema<infer Quirks> ? Quirks : never;
