import type { Loose } from '../../base/values.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import { type RefusedField, refusedFields } from '../shared/sampling/rules.ts';
import type { ModelTraits } from './model.ts';
import type { ReasoningPlan } from './reasoning.ts';

/** Parameters that all models take, and those that are the model's own. */
export interface Sampling {
  inferenceConfig: Loose;
  /** The fields for `additionalModelRequestFields`. */
  fields: Loose;
}

/** The highest temperature here; ours goes up to 2. */
const highestTemperature = 1;

/**
 * Encodes the largest output and the sampling of the response.
 * @param dropped  gets the fields that the model does not take
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InferenceConfiguration.html
 */
export function encodeSampling(
  request: ChatRequest,
  traits: ModelTraits,
  maxTokens: number | null,
  { thinks, isUnbounded }: ReasoningPlan,
  dropped: Set<string>,
): Sampling {
  const isFixed = thinks || isUnbounded;
  const { temperature, top_p: topP, top_k: topK } = request;
  const heat = isNumber(temperature) ? Math.min(temperature, highestTemperature) : null;
  const asked = { temperature: heat, top_p: topP, top_k: topK, stop: request.stop } as Partial<ChatRequest>;
  const refused = refusedFields(asked, traits.sampling, isFixed);
  const takes = (name: RefusedField) => !refused.includes(name);
  const config: Loose = {};
  if (maxTokens !== null) config.maxTokens = maxTokens;
  if (isNumber(temperature)) {
    if (takes('temperature')) config.temperature = heat;
    if (config.temperature !== temperature) dropped.add('temperature');
  }
  if (isNumber(topP)) {
    if (takes('top_p')) config.topP = topP;
    else dropped.add('top_p');
  }
  const stop = typeof request.stop === 'string' ? [request.stop] : (request.stop ?? []);
  if (stop.length > 0) {
    if (takes('stop')) config.stopSequences = stop;
    else dropped.add('stop');
  }
  if (!isNumber(topK)) return { inferenceConfig: config, fields: {} };
  if (traits.topK === null || !takes('top_k')) dropped.add('top_k');
  else return { inferenceConfig: config, fields: topKFields(topK, traits.topK) };
  return { inferenceConfig: config, fields: {} };
}

function topKFields(topK: number, place: NonNullable<ModelTraits['topK']>): Loose {
  return place === 'top_k' ? { top_k: topK } : { inferenceConfig: { topK } };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}
