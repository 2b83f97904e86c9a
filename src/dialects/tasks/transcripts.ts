import * as z from 'zod';
import { serverSentEvents } from '../../base/framing/sse.ts';
import type { FormPart } from '../../base/http/form-parts.ts';
import { lazily } from '../../base/lazily.ts';
import { isIndex, isObject, type Loose } from '../../base/values.ts';
import { badResponse, ours } from '../shared/values.ts';
import {
  formTask,
  type Lack,
  type TaskDecoder,
  type TaskPart,
  type TaskUsage,
  type TranscriptBatch,
  type TranscriptCodec,
  type TranscriptForm,
  type TranscriptPiece,
  type TranscriptWishes,
  transcriptForms,
} from './contract.ts';
import { eventIn } from './events.ts';
import { type OpenAiTaskQuirks, pathOf } from './openai.ts';

/** The differences of a server that writes down what is said. */
export const transcriptQuirks = lazily(() =>
  z.strictObject({
    /**
     * The fewest seconds that a request is charged for.
     * @default 0
     */
    leastSeconds: z.int().min(0).optional(),
    /**
     * The forms of a response that it has: `json`, the text alone; `verbose_json`, with times; `diarized_json`, with
     * speakers.
     * @default by the name of the model: `json`, with `whisper` in it also `verbose_json`, with `diarize` `diarized_json`
     */
    forms: z.array(z.enum(transcriptForms)).min(1).optional(),
    /**
     * false: it sends no streams. The client's stream is then made at the end.
     * @default true
     */
    streams: z.boolean().optional(),
    /**
     * The optional fields that it takes; others are dropped.
     * @default all
     */
    fields: z.array(z.string()).optional(),
    /**
     * The field by which it is asked for speakers: `response_format`, or `diarize`. With `diarize` it has no field for
     * forms, and every response has the segments that `timestamp_granularities` asks for.
     * @default `response_format`
     */
    formBy: z.enum(['response_format', 'diarize']).optional(),
  }),
);

interface Quirks extends OpenAiTaskQuirks {
  transcriptions?: z.infer<ReturnType<typeof transcriptQuirks>> | undefined;
}

type Batch = TranscriptBatch<Quirks>;

/** Fields that are lists in a form. */
const lists: readonly (keyof TranscriptWishes)[] = [
  'languages',
  'keywords',
  'timestamp_granularities',
  'include',
  'known_speaker_names',
  'known_speaker_references',
];

/**
 * Transcripts as OpenAI defined them, and as Mistral has them.
 * @see https://platform.openai.com/docs/api-reference/audio/createTranscription
 * @see https://console.groq.com/docs/speech-to-text
 * @see https://docs.together.ai/reference/audio-transcriptions
 * @see https://docs.mistral.ai/api/endpoint/audio/transcriptions
 */
export const openaiTranscripts: TranscriptCodec<Quirks> = {
  leastSeconds: ({ transcriptions }) => transcriptions?.leastSeconds ?? 0,
  lacks({ task, form, upstreamModel, quirks }): Lack | null {
    if (task === 'translations' && !/whisper/i.test(upstreamModel))
      return { path: 'model', expected: 'a model of Whisper: others do not translate' };
    // A distilled model knows the words of their own language alone.
    if (task === 'translations' && /turbo|distil/i.test(upstreamModel))
      return { path: 'model', expected: 'a model that translates' };
    const forms = formsOf(upstreamModel, quirks);
    if (forms.includes(form)) return null;
    return { path: 'response_format', expected: `${wordsFor(forms)} of this model` };
  },
  encode(batch) {
    const { task, file, form, isStream, wishes, upstreamModel, quirks } = batch;
    const { fields, streams = true, formBy = 'response_format' } = quirks.transcriptions ?? {};
    const dropped: string[] = [];
    const payload: Loose = { model: upstreamModel };
    for (const [name, value] of Object.entries(wishesOf(batch, wishes))) {
      if (value === undefined) continue;
      if (fields === undefined || fields.includes(name)) payload[name] = value;
      else dropped.push(name);
    }
    if (formBy === 'response_format') payload.response_format = form;
    else if (form === 'diarized_json') payload.diarize = true;
    if (isStream && streams && task === 'transcriptions') payload.stream = true;
    const parts: FormPart[] = [
      ['file', file],
      ...Object.entries(payload).flatMap(([name, value]) => partsOf(name, value)),
    ];
    return formTask(pathOf(upstreamModel, quirks, `audio/${task}`), parts, payload, dropped);
  },
  decode(body, batch) {
    if (!isObject(body) || typeof body.text !== 'string')
      throw badResponse('The provider responded with something that is no transcript.');
    const { usage: _, ...transcript } = body;
    for (const name of ours) delete transcript[name];
    return { transcript: inForm(transcript as Loose & { text: string }, batch), usage: usageIn(body, leastOf(batch)) };
  },
  decoder: (batch) => new TranscriptDecoder(leastOf(batch)),
};

function formsOf(model: string, { transcriptions }: Quirks): readonly TranscriptForm[] {
  if (transcriptions?.forms !== undefined) return transcriptions.forms;
  if (/diarize/i.test(model)) return ['json', 'diarized_json'];
  return /whisper/i.test(model) ? ['json', 'verbose_json'] : ['json'];
}

/** Returns the client's words for forms. */
function wordsFor(forms: readonly TranscriptForm[]): string {
  const words = ['json', 'text'];
  if (forms.includes('verbose_json')) words.push('verbose_json', 'srt', 'vtt');
  if (forms.includes('diarized_json')) words.push('diarized_json');
  return `one of ${words.join(', ')}, which are the forms`;
}

/** Returns the wishes, with those that the form of the response needs. */
function wishesOf({ form, quirks }: Batch, wishes: TranscriptWishes): TranscriptWishes {
  if (quirks.transcriptions?.formBy === 'diarize' && form !== 'json')
    return { ...wishes, timestamp_granularities: wishes.timestamp_granularities ?? ['segment'] };
  // Sound of more than 30 seconds is not told apart without it.
  if (form === 'diarized_json') return { chunking_strategy: 'auto', ...wishes };
  return wishes;
}

function partsOf(name: string, value: unknown): FormPart[] {
  if (lists.includes(name as keyof TranscriptWishes) && Array.isArray(value))
    return value.map((one): FormPart => [`${name}[]`, String(one)]);
  if (isObject(value)) return Object.entries(value).map(([key, one]): FormPart => [`${name}[${key}]`, String(one)]);
  return [[name, String(value)]];
}

/** Gives a transcript the form that OpenAI has for it. */
function inForm(transcript: Loose & { text: string }, { task, form, quirks }: Batch): Loose & { text: string } {
  if (quirks.transcriptions?.formBy !== 'diarize') return transcript;
  const { text, language, segments } = transcript;
  if (form === 'json' || !Array.isArray(segments)) return { text };
  const listed = segments.filter(isObject).map(({ speaker_id: speaker, type: _, ...segment }, id) => ({
    id,
    ...segment,
    ...(speaker === undefined || speaker === null ? {} : { speaker }),
  }));
  const last = listed.at(-1) as Loose | undefined;
  return {
    task: task === 'translations' ? 'translate' : 'transcribe',
    ...(typeof language === 'string' ? { language } : {}),
    ...(typeof last?.end === 'number' ? { duration: last.end } : {}),
    text,
    segments: listed,
  };
}

function leastOf({ quirks }: Batch): number {
  return openaiTranscripts.leastSeconds(quirks);
}

/**
 * Reads what a provider reports: a union of tokens and seconds, or the length of the sound. Fewer seconds than it charges
 * for are no fewer on its bill.
 */
function usageIn({ usage, duration }: Loose, least: number): TaskUsage | null {
  if (!isObject(usage)) {
    const seconds = secondsIn(duration, least);
    return seconds === null ? null : { promptTokens: null, units: { second: seconds } };
  }
  const { input_tokens: input, prompt_tokens: prompt = input, output_tokens: output } = usage;
  const { completion_tokens: completion = output, input_token_details: details } = usage;
  const seconds = secondsIn(usage.seconds ?? usage.prompt_audio_seconds ?? duration, least);
  const audio = isObject(details) ? details.audio_tokens : undefined;
  return {
    promptTokens: isIndex(prompt) ? prompt : null,
    ...(isIndex(completion) ? { completionTokens: completion } : {}),
    ...(isIndex(audio) ? { audioTokens: audio } : {}),
    ...(seconds === null ? {} : { units: { second: seconds } }),
  };
}

/** Whole seconds, rounded up. */
function secondsIn(value: unknown, least: number): number | null {
  const seconds = typeof value === 'string' ? Number(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0
    ? Math.max(Math.ceil(seconds), least)
    : null;
}

const events = {
  delta: ['transcript.text.delta', 'transcription.text.delta'],
  segment: ['transcript.text.segment', 'transcription.segment'],
  done: ['transcript.text.done', 'transcription.done'],
} as const;

class TranscriptDecoder implements TaskDecoder {
  readonly framing = serverSentEvents;
  /** The words of a long file come when all of it was heard. */
  readonly isSlow = true;
  readonly #leastSeconds: number;

  constructor(leastSeconds: number) {
    this.#leastSeconds = leastSeconds;
  }

  decode(data: string, name: string): readonly TaskPart[] {
    if (data === '[DONE]') return [];
    const { event, error } = eventIn(data);
    if (error !== null) return [{ kind: 'error', error }];
    const type = typeof event.type === 'string' ? event.type : name;
    if (is('delta', type)) {
      const { type: _, delta, text = delta, ...fields } = event;
      return typeof text === 'string' ? [piece({ kind: 'delta', text, fields })] : [];
    }
    if (is('segment', type)) {
      const { speaker_id: speaker, ...segment } = event;
      if (typeof segment.text !== 'string') return [];
      const told = { ...segment, type: events.segment[0], ...(typeof speaker === 'string' ? { speaker } : {}) };
      return [piece({ kind: 'segment', segment: told as unknown as Loose & { text: string } })];
    }
    if (!is('done', type)) return [];
    const { type: _, text, usage: __, ...fields } = event;
    if (typeof text !== 'string') throw badResponse('The provider ended its transcript without a text.');
    const usage = usageIn(event, this.#leastSeconds);
    return [
      piece({ kind: 'end', text, fields }),
      ...(usage === null ? [] : [{ kind: 'usage', usage } as const]),
      { kind: 'done' },
    ];
  }

  end(): readonly TaskPart[] {
    return [];
  }
}

function is(kind: keyof typeof events, type: string): boolean {
  return (events[kind] as readonly string[]).includes(type);
}

function piece(one: TranscriptPiece): TaskPart {
  return { kind: 'piece', piece: one };
}
