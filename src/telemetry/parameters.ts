import type { ChatRequest } from '../schema/chat/chat.ts';
import { telemetryNames } from '../schema/chat/fields.ts';

/** The parameters of a request to a provider, without the client's text. A field that is absent was not sent. */
export interface AttemptParameters {
  /** The largest output, in tokens. */
  maxTokens?: number;
  /** Randomness of the choice of tokens. */
  temperature?: number;
  /** The share of probability from which tokens are chosen. */
  topP?: number;
  /** The number of tokens from which one is chosen. */
  topK?: number;
  /** The penalty that grows with the number of times that a token has come. */
  frequencyPenalty?: number;
  /** The penalty for every token that has come. */
  presencePenalty?: number;
  /** The seed of the randomness. */
  seed?: number;
  /** The number of responses for one request. */
  choices?: number;
  /** The form of the output, if the request sets one. */
  output?: 'text' | 'json' | 'image' | 'speech';
  /** The effort of thinking, such as `high`. */
  reasoningEffort?: string;
  /** Service tier, such as `flex`. */
  serviceTier?: string;
  /** The length of vectors that is asked for. */
  dimensions?: number;
  /** The forms of vectors that are asked for, such as `float`. */
  encodingFormats?: readonly string[];
}

const effortFields = ['reasoning', 'reasoning.effort', 'reasoning_effort'];

/** @param dropped  request fields that the provider does not get */
export function parametersOf(request: ChatRequest, dropped: readonly string[]): AttemptParameters {
  const found: AttemptParameters = {};
  for (const [field, name] of telemetryNames) {
    const value = request[field];
    if (typeof value === 'number' && !dropped.includes(field)) found[name] = value;
  }
  const output = outputOf(request, dropped);
  if (output !== null) found.output = output;
  const effort = request.reasoning?.effort ?? request.reasoning_effort;
  if (effort && !effortFields.some((field) => dropped.includes(field))) found.reasoningEffort = effort;
  if (request.service_tier && !dropped.includes('service_tier')) found.serviceTier = request.service_tier;
  return found;
}

function outputOf(request: ChatRequest, dropped: readonly string[]): NonNullable<AttemptParameters['output']> | null {
  if (!dropped.includes('modalities')) {
    if (request.modalities?.includes('image')) return 'image';
    if (request.modalities?.includes('audio')) return 'speech';
  }
  const type = dropped.includes('response_format') ? undefined : request.response_format?.type;
  if (type === 'text') return 'text';
  return type === 'json_object' || type === 'json_schema' ? 'json' : null;
}
