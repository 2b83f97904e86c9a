import { estimateTokenCount } from 'tokenx';
import { toBase64 } from '../../../base/base64.ts';
import { isObject, type Loose } from '../../../base/values.ts';
import type { Endpoint, Model, Pricing } from '../../../call/model.ts';
import { type OtherTask, taskNames } from '../../../schema/tasks.ts';
import type { TransportRequest } from '../../../transport/transport.ts';
import { failure } from '../failure.ts';
import { models, perform, type Turn } from '../models.ts';
import type { Outcome } from '../outcome.ts';
import { readRequest } from '../request.ts';
import { breakingModels, imagesAnswer } from './images.ts';

/** The models of the sandbox for tasks beside chat. docs/sandbox.md describes each in one row. */
const taskModels = [
  { id: 'embed', name: 'Embeddings', task: 'embeddings' },
  { id: 'rerank', name: 'Rerank', task: 'rerank' },
  { id: 'moderations', name: 'Moderations', task: 'moderations' },
  { id: 'decisions', name: 'Decisions', task: 'decisions' },
  { id: 'image', name: 'Image', task: 'images' },
] as const;

/** The models of the sandbox that speak and hear. */
const audioModels: readonly Model[] = [
  {
    slug: 'sandbox/speech',
    name: 'Sandbox: Speech',
    outputModalities: ['speech'],
    // USD 15 per million characters.
    endpoints: [endpointOf('speech', ['speech'], { ...unsold(), unitsPicoUsd: { character: 15_000_000 } })],
  },
  {
    slug: 'sandbox/whisper',
    name: 'Sandbox: Whisper',
    inputModalities: ['audio'],
    outputModalities: ['transcription'],
    // USD 0.36 an hour.
    endpoints: [
      endpointOf('whisper', ['transcriptions', 'translations'], { ...unsold(), unitsPicoUsd: { second: 100_000_000 } }),
    ],
  },
];

function unsold(): Pricing {
  return { promptPicoUsd: 0, completionPicoUsd: 0, isInputOnly: true };
}

function endpointOf(id: string, tasks: readonly OtherTask[], pricing: Pricing): Endpoint {
  return {
    modelSlug: `sandbox/${id}`,
    providerSlug: 'sandbox',
    tag: 'sandbox',
    upstreamModel: id,
    tasks,
    pricing,
    contextLength: 8_192,
    maxCompletionTokens: null,
    quantization: null,
    supportedParameters: [
      'language',
      'prompt',
      'temperature',
      'timestamp_granularities',
      'voice',
      'speed',
      'instructions',
    ],
    dataPolicy: { zeroRetention: true, trains: false },
  };
}

/** Models that fail before they say anything: they fail in the same way for every task. */
export const failingModels: readonly string[] = [
  'timeout',
  'unreachable',
  'error-in-200',
  'html',
  'empty',
  'flaky',
  'rate-limited',
  'overloaded',
];

/** The length of a vector where the request does not say. */
const usualDimensions = 64;
/** USD 0.02 per million tokens, in pico-USD per token. */
const promptPicoUsd = 20_000;
/** USD 0.40 per million tokens. */
const imagePicoUsd = 400_000;

/** The models, ready for a catalogue. */
export const sandboxTaskModels: readonly Model[] = [
  ...taskModels.map(
    ({ id, name, task }): Model => ({
      slug: `sandbox/${id}`,
      name: `Sandbox: ${name}`,
      ...(task === 'moderations' ? {} : { outputModalities: [task === 'images' ? 'image' : task] }),
      ...(task === 'images' ? { inputModalities: ['text', 'image'] } : {}),
      endpoints: [
        {
          modelSlug: `sandbox/${id}`,
          providerSlug: 'sandbox',
          tag: 'sandbox',
          upstreamModel: id,
          tasks: [task],
          pricing: {
            promptPicoUsd: task === 'moderations' ? 0 : promptPicoUsd,
            ...(task === 'images'
              ? { completionPicoUsd: imagePicoUsd, imageOutputPicoUsd: imagePicoUsd }
              : { completionPicoUsd: 0, isInputOnly: true }),
          },
          contextLength: 8_192,
          maxCompletionTokens: null,
          quantization: null,
          supportedParameters: task === 'embeddings' ? ['dimensions'] : [],
          dataPolicy: { zeroRetention: true, trains: false },
        },
      ],
    }),
  ),
  ...audioModels,
];

/** Returns the task of a path; null: it is another path. */
export function taskOfPath(path: string): OtherTask | null {
  if (/\/images\/(?:generations|edits)$/.test(path)) return 'images';
  return (taskNames.find((task) => task !== 'chat' && path.endsWith(`/${task}`)) as OtherTask | undefined) ?? null;
}

/** Fails like a model that fails before it says anything. @returns null: the model does not fail now */
export function failureOf(model: string, turn: Turn): Exclude<Outcome, { kind: 'response' }> | null {
  if (!failingModels.includes(model) || !models.some(({ id }) => id === model)) return null;
  const asked = readRequest(JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }] }));
  const outcome = perform(asked, turn);
  return outcome.kind === 'response' ? null : outcome;
}

/** Answers a request of a task. The same request always has the same answer. */
export async function performTask(
  task: TextTask,
  request: Pick<TransportRequest, 'headers' | 'body'>,
  turn: Turn,
): Promise<Exclude<Outcome, { kind: 'response' }>> {
  const { body, files } = await bodyOf(request);
  const model = String(body.model);
  const failed = failureOf(model, turn);
  if (failed !== null) return failed;
  if (!failingModels.includes(model) && !(task === 'images' && breakingModels.includes(model)) && !isFor(model, task))
    return failure(404, `The sandbox has no model "${model.slice(0, 100)}" for ${task}.`, { param: 'model' });
  if (task === 'images') return imagesAnswer(body, files);
  return {
    kind: 'document',
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(answers[task](body)),
  };
}

function isFor(model: string, task: OtherTask): boolean {
  return taskModels.some((one) => one.id === model && one.task === task);
}

/** Reads a body of JSON, or a form. */
async function bodyOf({ headers, body }: Pick<TransportRequest, 'headers' | 'body'>) {
  const contentType = headers['content-type'] ?? '';
  if (!contentType.startsWith('multipart/form-data')) {
    const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
    const parsed: unknown = JSON.parse(text);
    const fields = isObject(parsed) ? parsed : {};
    return { body: fields, files: Array.isArray(fields.images) ? fields.images.length : 0 };
  }
  const form = await new Response(body as BodyInit, { headers: { 'content-type': contentType } }).formData();
  const fields: Loose = {};
  let files = 0;
  for (const [name, value] of form) {
    if (typeof value === 'string') fields[name] = value;
    else files++;
  }
  return { body: fields, files };
}

/** A task whose responses are JSON, or events of images. */
export type TextTask = Exclude<OtherTask, 'speech' | 'transcriptions' | 'translations'>;

const answers: Readonly<Record<Exclude<TextTask, 'images'>, (body: Loose) => object>> = {
  embeddings({ input, dimensions, encoding_format: format, model }) {
    const items = Array.isArray(input) ? input : [input];
    const length = typeof dimensions === 'number' ? dimensions : usualDimensions;
    const tokens = items.reduce<number>((sum, item) => sum + tokensOf(item), 0);
    return {
      object: 'list',
      model,
      data: items.map((item, index) => {
        const vector = vectorOf(typeof item === 'string' ? item : JSON.stringify(item), length);
        return { object: 'embedding', index, embedding: format === 'base64' ? base64Of(vector) : vector };
      }),
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    };
  },
  rerank({ query, documents, top_n: top }) {
    const wanted = wordsOf(String(query));
    const list = Array.isArray(documents) ? documents.map(String) : [];
    const results = list
      .map((text, index) => {
        const words = wordsOf(text);
        const shared = [...wanted].filter((word) => words.has(word)).length;
        return { index, relevance_score: wanted.size === 0 ? 0 : shared / wanted.size };
      })
      .sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index);
    const tokens = list.reduce((sum, text) => sum + tokensOf(query) + tokensOf(text), 0);
    return { results: typeof top === 'number' ? results.slice(0, top) : results, usage: { total_tokens: tokens } };
  },
  moderations({ input, model }) {
    const isTexts = Array.isArray(input) && typeof input[0] === 'string';
    const results = (isTexts ? (input as unknown[]) : [input]).map((one) => {
      const flagged = JSON.stringify(one).toLowerCase().includes('violence');
      return { flagged, categories: { violence: flagged }, category_scores: { violence: flagged ? 0.9 : 0.1 } };
    });
    return { id: 'modr-sandbox', model, results };
  },
  decisions({ input, questions, model }) {
    const words = wordsOf(JSON.stringify(input));
    const tokens = tokensOf(JSON.stringify([input, questions]));
    return {
      model,
      answers: (Array.isArray(questions) ? questions : []).map((one) => answerTo(isObject(one) ? one : {}, words)),
      usage: {
        input_tokens: tokens,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 0,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: tokens,
      },
    };
  },
};

/** Answers a question by the words that the input shares with it, with a choice, or with a level. */
function answerTo({ type, name = null, instructions, choices, levels }: Loose, words: ReadonlySet<string>): object {
  const sharedWith = (one: unknown) => {
    const wanted = [...wordsOf(JSON.stringify(one))];
    return wanted.length === 0 ? 0 : wanted.filter((word) => words.has(word)).length / wanted.length;
  };
  if (type === 'predicate') return { type, name, probability: sharedWith(instructions) };
  const options = (
    Array.isArray(type === 'choice' ? choices : levels) ? (type === 'choice' ? choices : levels) : []
  ) as Loose[];
  // One more for each, so that all have a part.
  const weights = options.map((one) => 1 + 9 * sharedWith(type === 'choice' ? one.value : one.label));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const shares = weights.map((weight) => weight / sum);
  const confidence = Math.max(...shares);
  if (type === 'choice') {
    const probabilities = options.map(({ value }, at) => ({ value, probability: shares[at] }));
    return { type, name, choice: probabilities[shares.indexOf(confidence)]?.value, confidence, probabilities };
  }
  const score = shares.reduce((total, share, at) => total + share * at, 0);
  const probabilities = options.map(({ label }, at) => ({ value: at, label, probability: shares[at] }));
  return { type, name, score, confidence, probabilities };
}

function tokensOf(item: unknown): number {
  return Array.isArray(item) ? item.length : Math.max(estimateTokenCount(String(item)), 1);
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}

/** Makes a vector of length 1 of a text: a sum of the directions of its words, so that like texts are near each other. */
function vectorOf(text: string, length: number): number[] {
  const vector: number[] = new Array(length).fill(0);
  for (const word of [text, ...wordsOf(text)]) {
    let state = 2_166_136_261;
    for (let at = 0; at < word.length; at++) state = Math.imul(state ^ word.charCodeAt(at), 16_777_619) >>> 0;
    for (let at = 0; at < length; at++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      vector[at] = (vector[at] as number) + state / 2 ** 31 - 1;
    }
  }
  const size = Math.hypot(...vector) || 1;
  return vector.map((number) => Math.fround(number / size));
}

function base64Of(vector: readonly number[]): string {
  const bytes = new Uint8Array(vector.length * 4);
  const view = new DataView(bytes.buffer);
  for (const [at, number] of vector.entries()) view.setFloat32(at * 4, number, true);
  return toBase64(bytes);
}
