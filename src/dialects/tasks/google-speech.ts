import { fromBase64 } from '../../base/base64.ts';
import { joinBytes } from '../../base/bytes.ts';
import { isObject, type Loose } from '../../base/values.ts';
import { badResponse } from '../shared/values.ts';
import { jsonTask, type SpeechCodec } from './contract.ts';
import { modelPath } from './google.ts';
import { mediaIn, mediaUsage, withoutMedia } from './google-media.ts';
import { wavOf } from './wav.ts';

/** The voice where the request names none. */
const usualVoice = 'Kore';
/** Hertz where the response does not say. */
const usualRate = 24_000;

/**
 * Speech of Gemini, by `generateContent`: sound of 16 bits, in one response.
 * @see https://ai.google.dev/gemini-api/docs/speech-generation
 */
export const googleSpeech: SpeechCodec = {
  lacks({ form, voice }) {
    if (form !== 'pcm' && form !== 'wav') return { path: 'response_format', expected: 'pcm or wav' };
    return typeof voice === 'object' ? { path: 'voice', expected: 'the name of a voice' } : null;
  },
  encode({ input, voice = usualVoice, instructions, speed, upstreamModel }) {
    const payload = {
      // The model takes directions with the text.
      contents: [{ role: 'user', parts: [{ text: instructions ? `${instructions}\n\n${input}` : input }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } },
      },
    };
    return jsonTask(`${modelPath(upstreamModel)}:generateContent`, payload, speed === undefined ? [] : ['speed']);
  },
  decode(body, { form }) {
    const { usageMetadata, ...content } = isObject(body) ? body : ({} as Loose);
    const { files, reason } = mediaIn(content);
    let rate = usualRate;
    const pieces = files.map(({ base64, mimeType }) => {
      const piece = fromBase64(base64);
      if (piece === null) throw badResponse('The provider sent sound that is no base64.');
      const said = /rate=(\d{4,6})/.exec(String(mimeType))?.[1];
      if (said !== undefined) rate = Number(said);
      return piece;
    });
    const sound = joinBytes(pieces);
    if (sound.length === 0) throw withoutMedia('sound', reason);
    return { sound: form === 'wav' ? wavOf(sound, rate) : sound, usage: mediaUsage(usageMetadata) };
  },
};
