import type { Dialect } from '../../../src/dialects/dialect.ts';
import { dialects } from '../dialects.ts';
import * as chat from './chat.ts';
import * as others from './others.ts';
import type { Validator } from './seen.ts';

/** A provider: how it is spoken to, and what it accepts. */
export interface Case {
  dialect: Dialect;
  model: string;
  quirks: object;
  validate: Validator;
}
const of = (name: keyof typeof dialects, validate: Validator, model = 'm', quirks: object = {}): Case => ({
  dialect: dialects[name] as Dialect,
  model,
  quirks,
  validate,
});

/** Each profile, with the rules of who it is for. */
export const cases: Record<string, Case> = {
  'any OpenAI-like server': of('openai-chat', chat.anyServer),
  'any OpenAI-like server, by the looser rules': of('openai-chat', chat.openai),
  OpenAI: of('openai-chat', chat.openai, 'gpt-5', { messageOrder: 'any' }),
  Mistral: of('openai-chat', chat.mistral, 'm', { messageOrder: 'bridged_turns', callIds: 'nine' }),
  'a model of Mistral elsewhere': of('openai-chat', chat.mistral, 'mistralai/Devstral-Small'),
  'OpenAI, Responses': of('openai-responses', others.responses, 'gpt-5'),
  Anthropic: of('anthropic-messages', others.anthropic, 'claude-sonnet-4-5'),
  'the newest Claude': of('anthropic-messages', others.anthropic, 'claude-sonnet-4-6'),
  Bedrock: of('bedrock-converse', others.bedrock, 'anthropic.claude-sonnet-4-5-20250929-v1:0'),
  'a model of Mistral at Bedrock': of('bedrock-converse', others.bedrockOfOthers, 'mistral.mistral-large-2407-v1:0'),
  Gemini: of('google-generate-content', others.google, 'gemini-2.5-flash'),
  'Gemini 3': of('google-generate-content', others.google, 'gemini-3-pro'),
  Cohere: of('cohere-chat', others.cohere, 'command-a'),
  'a model of the AI SDK': of('ai-sdk', others.aiSdk),
};
