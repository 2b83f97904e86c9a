import { isObject, type Loose } from '../../../base/values.ts';
import type { ChatRequest } from '../../../schema/chat/chat.ts';
import { unsupported } from '../../shared/unsupported.ts';
import type { ModelFamily } from '../model-family.ts';
import type { GoogleQuirks } from '../quirks.ts';
import { thinkingConfig } from './thinking.ts';

/** Receives the path of each field that is left out. */
export type Drop = (path: string) => void;

/** Lists the fields that nobody knows, which pass into the gateway. Google would refuse them. */
export function dropOthers(value: object, known: ReadonlySet<string>, path: string, drop: Drop): void {
  for (const field in value) if (!known.has(field) && (value as Loose)[field] !== null) drop(`${path}.${field}`);
}

/** The fields of a request, with Google's names for them. */
const sampling = [
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['presence_penalty', 'presencePenalty'],
  ['frequency_penalty', 'frequencyPenalty'],
] as const;
const penalties: readonly string[] = ['presence_penalty', 'frequency_penalty'];

/** The largest seed: seeds are integers of 32 bits. */
const largestSeed = 2 ** 31 - 1;

/**
 * Encodes everything that steers generation but the form of structured output.
 * @see https://ai.google.dev/api/generate-content "GenerationConfig"
 */
export function generationConfig(request: ChatRequest, family: ModelFamily, quirks: GoogleQuirks, drop: Drop): Loose {
  const config: Loose = {};
  const maxOutput = request.max_completion_tokens ?? request.max_tokens ?? null;
  if (maxOutput !== null) config.maxOutputTokens = maxOutput;
  for (const [name, native] of sampling) {
    const value = request[name] ?? null;
    if (value === null) continue;
    if (penalties.includes(name) && quirks.penaltiesIn25 === false && family.generation === 2.5) drop(name);
    else config[native] = value;
  }
  addWhole(config, request, drop);
  const stop = typeof request.stop === 'string' ? [request.stop] : request.stop;
  if (stop && stop.length > 0) config.stopSequences = stop;
  const choices = choicesOf(request);
  if (choices > 1) config.candidateCount = choices;
  addLogprobs(config, request, drop);
  addOutput(config, request, drop);
  const thinking = thinkingConfig(request, family, maxOutput, drop);
  if (thinking !== null) config.thinkingConfig = thinking;
  return config;
}

/** Returns the number of responses that are asked for. */
export function choicesOf(request: ChatRequest): number {
  const { n } = request as Loose;
  if (n === undefined || n === null) return 1;
  if (typeof n !== 'number' || !Number.isSafeInteger(n) || n < 1) throw unsupported('n', 'a positive integer');
  return n;
}

function addWhole(config: Loose, { top_k: topK, seed }: ChatRequest, drop: Drop): void {
  // The values 0 and -1 stand for no limit elsewhere. Google has no number for that.
  if (typeof topK === 'number') {
    if (topK >= 1) config.topK = topK;
    else drop('top_k');
  }
  if (typeof seed === 'number') {
    if (Math.abs(seed) <= largestSeed) config.seed = seed;
    else drop('seed');
  }
}

function addLogprobs(config: Loose, { logprobs, top_logprobs: top }: ChatRequest, drop: Drop): void {
  if (logprobs === true) {
    config.responseLogprobs = true;
    if (typeof top === 'number' && top > 0) config.logprobs = top;
  } else if (typeof top === 'number') drop('top_logprobs');
}

/** Encodes the kinds of output besides text. */
function addOutput(config: Loose, request: ChatRequest, drop: Drop): void {
  const { modalities, image_config: image, audio } = request as ChatRequest & { audio?: unknown };
  if (modalities && modalities.length > 0) config.responseModalities = modalities.map((one) => one.toUpperCase());
  const imageConfig: Loose = {};
  for (const [name, value] of Object.entries(image ?? {})) {
    if (name === 'aspect_ratio') imageConfig.aspectRatio = value;
    else if (name === 'image_size') imageConfig.imageSize = value;
    else drop(`image_config.${name}`);
  }
  if (Object.keys(imageConfig).length > 0) config.imageConfig = imageConfig;
  if (!isObject(audio)) {
    if (audio !== undefined && audio !== null) drop('audio');
    return;
  }
  for (const name of Object.keys(audio)) {
    if (name === 'voice' && typeof audio.voice === 'string')
      config.speechConfig = { voiceConfig: { prebuiltVoiceConfig: { voiceName: audio.voice } } };
    // Sound always comes as 16-bit samples.
    else if (name !== 'format' || audio.format !== 'pcm16') drop(`audio.${name}`);
  }
}
