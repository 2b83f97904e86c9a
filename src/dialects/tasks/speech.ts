import * as z from 'zod';
import { fromBase64 } from '../../base/base64.ts';
import { serverSentEvents } from '../../base/framing/sse.ts';
import { lazily } from '../../base/lazily.ts';
import { isIndex, isObject, type Loose } from '../../base/values.ts';
import { badResponse } from '../shared/values.ts';
import {
  jsonTask,
  type Lack,
  type SoundForm,
  type SpeechBatch,
  type SpeechCodec,
  soundForms,
  type TaskDecoder,
  type TaskPart,
  type TaskUsage,
} from './contract.ts';
import { eventIn } from './events.ts';
import { type OpenAiTaskQuirks, pathOf } from './openai.ts';

/** The differences of a server that speaks. */
export const speechQuirks = lazily(() =>
  z.strictObject({
    /**
     * true: it sends events where the client wants them; false: bytes, of which the gateway makes events.
     * @default true, but for models whose name begins with `tts-`
     */
    events: z.boolean().optional(),
    /**
     * The forms of sound that it makes.
     * @default all
     */
    forms: z.array(z.enum(soundForms)).min(1).optional(),
    /** Its words for forms, such as `raw` for `pcm`. */
    formNames: z.partialRecord(z.enum(soundForms), z.string()).optional(),
    /**
     * The optional fields that it takes of `instructions` and `speed`; others are dropped.
     * @default both
     */
    fields: z.array(z.enum(['instructions', 'speed'])).optional(),
    /**
     * Its field for the voice.
     * @default `voice`
     */
    voiceField: z.string().min(1).optional(),
    /**
     * true: it responds with JSON, whose `audio_data` or `audio` is the sound in base64.
     * @default false
     */
    isJson: z.boolean().optional(),
    /** Further fields of each request. */
    extra: z.record(z.string(), z.unknown()).optional(),
  }),
);

interface Quirks extends OpenAiTaskQuirks {
  speech?: z.infer<ReturnType<typeof speechQuirks>> | undefined;
}

/**
 * Speech as OpenAI defined it.
 * @see https://platform.openai.com/docs/api-reference/audio/createSpeech
 * @see https://console.groq.com/docs/text-to-speech
 * @see https://docs.together.ai/reference/audio-speech
 * @see https://docs.mistral.ai/studio/audio/text-to-speech/generate-speech
 */
export const openaiSpeech: SpeechCodec<Quirks> = {
  lacks({ form, quirks }): Lack | null {
    const forms: readonly SoundForm[] = quirks.speech?.forms ?? soundForms;
    return forms.includes(form) ? null : { path: 'response_format', expected: `one of ${forms.join(', ')}` };
  },
  encode(batch) {
    const { input, voice, instructions, form, speed, upstreamModel, quirks } = batch;
    const { fields = ['instructions', 'speed'], formNames, extra, voiceField = 'voice' } = quirks.speech ?? {};
    const dropped: string[] = [];
    const payload: Loose = { model: upstreamModel, input, response_format: formNames?.[form] ?? form, ...extra };
    // A voice of one's own is an object with its id at OpenAI.
    if (voice !== undefined) payload[voiceField] = voiceField !== 'voice' && isObject(voice) ? voice.id : voice;
    for (const [name, value] of [
      ['instructions', instructions],
      ['speed', speed],
    ] as const) {
      if (value === undefined) continue;
      if (fields.includes(name)) payload[name] = value;
      else dropped.push(name);
    }
    if (asksForEvents(batch)) payload.stream_format = 'sse';
    const encoded = jsonTask(pathOf(upstreamModel, quirks, 'audio/speech'), payload, dropped);
    return { ...encoded, headers: { ...encoded.headers, accept: '*/*' } };
  },
  // A body of JSON is taken where events are expected.
  decoder: (batch, headers) =>
    asksForEvents(batch) || batch.quirks.speech?.isJson === true
      ? new EventDecoder()
      : new SoundDecoder(batch.form, headers),
  decode(body) {
    const data = isObject(body) ? (body.audio_data ?? body.audio) : null;
    const sound = typeof data === 'string' ? fromBase64(data) : null;
    if (sound === null || sound.length === 0) throw badResponse('The provider responded without sound.');
    return { sound, usage: usageIn((body as Loose).usage) };
  },
};

function asksForEvents({ wantsEvents, upstreamModel, quirks }: SpeechBatch<Quirks>): boolean {
  return wantsEvents && (quirks.speech?.events ?? !upstreamModel.startsWith('tts-'));
}

function usageIn(usage: unknown): TaskUsage | null {
  if (!isObject(usage)) return null;
  const { input_tokens: input, prompt_tokens: prompt = input, output_tokens: output } = usage;
  const { completion_tokens: completion = output } = usage;
  return {
    promptTokens: isIndex(prompt) ? prompt : null,
    ...(isIndex(completion) ? { completionTokens: completion } : {}),
  };
}

/** Events of sound in base64. */
class EventDecoder implements TaskDecoder {
  readonly framing = serverSentEvents;

  decode(data: string, name: string): readonly TaskPart[] {
    if (data === '[DONE]') return [{ kind: 'done' }];
    const { event, error } = eventIn(data);
    if (error !== null) return [{ kind: 'error', error }];
    const type = typeof event.type === 'string' ? event.type : name;
    if (type === 'speech.audio.delta') {
      const audio = event.audio ?? event.audio_data;
      const piece = typeof audio === 'string' ? fromBase64(audio) : null;
      if (piece === null) throw badResponse('The provider sent sound that is no base64.');
      return piece.length === 0 ? [] : [{ kind: 'piece', piece }];
    }
    if (type !== 'speech.audio.done') return [];
    const usage = usageIn(event.usage);
    return [...(usage === null ? [] : [{ kind: 'usage', usage } as const]), { kind: 'done' }];
  }

  end(): readonly TaskPart[] {
    return [];
  }
}

/** Sound as it is. It ends where the connection says that it ends. */
class SoundDecoder implements TaskDecoder {
  readonly framing = null;

  constructor(form: SoundForm, headers: Readonly<Record<string, string>>) {
    const type = headers['content-type'] ?? '';
    if (/^(?:application\/(?:[\w.]+\+)?json|text\/)/i.test(type))
      throw badResponse(`The provider responded with a text in place of sound in the form ${form}.`);
  }

  decode(): readonly TaskPart[] {
    return [];
  }

  end(): readonly TaskPart[] {
    return [{ kind: 'done' }];
  }
}
