import { loadedOnce } from '../base/async/loaded-once.ts';
import { type AiSdkQuirks, aiSdkQuirks } from './ai-sdk/quirks.ts';
import { type MessagesQuirks, messagesQuirks } from './anthropic-messages/quirks.ts';
import { type ConverseQuirks, converseQuirks } from './bedrock-converse/quirks.ts';
import { type CohereQuirks, cohereQuirks } from './cohere-chat/quirks.ts';
import { type Dialect, defineDialect } from './dialect.ts';
import { type GoogleQuirks, googleQuirks } from './google-generate-content/quirks.ts';
import { openaiChat } from './openai-chat/index.ts';
import { type ResponsesQuirks, responsesQuirks } from './openai-responses/quirks.ts';

/** The parts of a dialect that a gateway needs as it is made. */
type DialectFacts<Quirks extends object> = Pick<Dialect<Quirks>, 'name' | 'quirks' | 'format' | 'mapsWebSearch'>;

/**
 * A dialect without its code, as long as that is not loaded. `load` makes the object whole, so after it nothing tells it
 * from a dialect that was there from the beginning. Before, its functions throw, and begin to load it.
 */
export function lateDialect<Quirks extends object>(
  facts: DialectFacts<Quirks>,
  whole: () => Promise<Dialect<Quirks>>,
): Dialect<Quirks> {
  const loaded = loadedOnce(async () => Object.assign(late, await whole(), { load: undefined }));
  const missing = (): never => {
    load().catch(() => undefined);
    throw new Error(`The dialect ${facts.name} is not loaded yet: call its function load before`);
  };
  const load = async () => void (await loaded());
  const late: Dialect<Quirks> = {
    ...defineDialect<Quirks>({
      encodeRequest: missing,
      decodeResult: missing,
      streamDecoder: missing,
      decodeError: missing,
      ...facts,
    }),
    minMaxTokens: missing,
    unsupportedParameters: missing,
    load,
  };
  return late;
}

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
export const lateDialects = {
  'openai-chat': openaiChat,
  'anthropic-messages': anthropicMessages,
  'google-generate-content': googleGenerateContent,
  'bedrock-converse': bedrockConverse,
  'openai-responses': openaiResponses,
  'cohere-chat': cohereChat,
  'ai-sdk': aiSdk,
} as const satisfies Record<string, Dialect>;

/** Loads them all now. Rejects where the package is not whole. */
export async function loadDialects(): Promise<void> {
  await Promise.all(Object.values(lateDialects).map((dialect: Dialect) => dialect.load?.()));
}
