import { isObject, type Loose } from '../../../base/values.ts';
import type { ChatRequest } from '../../../schema/chat/chat.ts';
import { gatewayFieldNames } from '../../../schema/gateway-shape.ts';
import { camelName, fieldOf, listOf, numberOf, objectOf, textOf } from '../../../schema/gemini/fields.ts';
import type { GeminiRequest } from '../../../schema/gemini/request.ts';
import { googleSettings } from '../../../schema/gemini/settings.ts';
import type { Leftover } from '../../leftover.ts';
import { jsonSchemaOf } from './json-schema.ts';

/** Fields whose whole content is in the chat request, or beside it in its messages and tools. */
const converted: ReadonlySet<string> = new Set([
  ...gatewayFieldNames,
  'contents',
  'systemInstruction',
  'tools',
  'model',
]);
/** Fields of which a chat request has what it knows. */
const partly: ReadonlySet<string> = new Set(['toolConfig', 'generationConfig', 'serviceTier', 'cachedContent']);
/** The most texts that end a response, on the chat wire. */
const mostStops = 4;

/** Makes the settings of a chat request, and lists the fields that an upstream of the same wire gets beside them. */
export function convertFields(request: GeminiRequest, leftover: Leftover): { chat: Loose; own: Loose } {
  const chat: Loose = {};
  const own: Loose = {};
  for (const name of gatewayFieldNames) if (request[name] != null) chat[name] = request[name];
  const tier = textOf(request, 'serviceTier')?.toLowerCase();
  if (tier === 'flex' || tier === 'priority') chat.service_tier = tier;
  else if (tier === 'standard') chat.service_tier = 'default';
  else if (tier) leftover.note('serviceTier');
  for (const name in request) {
    const field = camelName(name);
    if (converted.has(name) || converted.has(field) || request[name] == null) continue;
    own[name] = request[name];
    if (!partly.has(field)) leftover.note('', name);
  }
  const config = objectOf(request, 'generationConfig');
  if (config !== null) convertConfig(config, chat, leftover);
  return { chat, own };
}

function convertConfig(config: Loose, chat: Loose, leftover: Leftover): void {
  for (const name in config) {
    const field = camelName(name);
    const { chat: names, isNumber } = googleSettings.get(field) ?? { chat: [] };
    const [own] = names;
    if (own === undefined && config[name] != null) leftover.note('generationConfig.', name);
    if (own === undefined || isNumber !== true) continue;
    const value = numberOf(config, field);
    if (value !== undefined) chat[own] = value;
  }
  const most = numberOf(config, 'maxOutputTokens');
  if (most !== undefined && most > 0) chat.max_tokens = most;
  const stops = listOf(config, 'stopSequences').filter((stop) => typeof stop === 'string' && stop !== '');
  if (stops.length > 0) chat.stop = stops.slice(0, mostStops);
  if (stops.length > mostStops) leftover.note('generationConfig.stopSequences');
  if (fieldOf(config, 'responseLogprobs') === true) {
    chat.logprobs = true;
    const top = numberOf(config, 'logprobs');
    if (top !== undefined) chat.top_logprobs = top;
  }
  const modalities = listOf(config, 'responseModalities').map((one) => String(one).toLowerCase());
  if (modalities.some((one) => one !== 'text'))
    chat.modalities = modalities.filter((one) => /^(?:text|image|audio)$/.test(one));
  const image = imageOf(objectOf(config, 'imageConfig'), leftover);
  if (image !== null) chat.image_config = image;
  const format = formatOf(config);
  if (format !== undefined) chat.response_format = format;
  const reasoning = reasoningOf(objectOf(config, 'thinkingConfig'));
  if (reasoning !== null) chat.reasoning = reasoning;
}

/** Makes the settings of images, which are paid for by their size. */
function imageOf(config: Loose | null, leftover: Leftover): Loose | null {
  const image: Loose = {};
  for (const name in config) {
    const field = camelName(name);
    if (field === 'aspectRatio') image.aspect_ratio = config[name];
    else if (field === 'imageSize') image.image_size = config[name];
    else if (config[name] != null) leftover.note('generationConfig.imageConfig.', name);
  }
  return Object.keys(image).length === 0 ? null : image;
}

function formatOf(config: Loose): ChatRequest['response_format'] {
  const type = textOf(config, 'responseMimeType')?.toLowerCase();
  const schema = jsonSchemaOf(fieldOf(config, 'responseJsonSchema') ?? fieldOf(config, 'responseSchema'));
  if (isObject(schema) && type !== 'text/plain')
    return { type: 'json_schema', json_schema: { name: 'response', schema } };
  return type === 'application/json' ? { type: 'json_object' } : undefined;
}

const efforts = new Set(['minimal', 'low', 'medium', 'high']);

function reasoningOf(thinking: Loose | null): Loose | null {
  if (thinking === null) return null;
  const reasoning: Loose = {};
  const level = textOf(thinking, 'thinkingLevel')?.toLowerCase();
  const budget = numberOf(thinking, 'thinkingBudget');
  if (level !== undefined && efforts.has(level)) reasoning.effort = level;
  else if (budget === 0) reasoning.effort = 'none';
  else if (budget !== undefined && budget > 0) reasoning.max_tokens = budget;
  else if (budget !== undefined) reasoning.enabled = true;
  const shows = fieldOf(thinking, 'includeThoughts');
  if (shows === false) reasoning.exclude = true;
  else if (shows === true && Object.keys(reasoning).length === 0) reasoning.enabled = true;
  return Object.keys(reasoning).length === 0 ? null : reasoning;
}
