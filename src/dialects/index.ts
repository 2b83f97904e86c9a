import type { Dialect } from './dialect.ts';
import { openaiChat } from './openai-chat.ts';

/** Every dialect an option may name. */
export const dialects = { 'openai-chat': openaiChat } as const satisfies Record<string, Dialect>;

export type DialectName = keyof typeof dialects;
