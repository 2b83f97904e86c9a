import { toBase64 } from '../../../base/base64.ts';
import type { ByteSource } from '../../../base/bytes.ts';
import { uploadedFile } from '../../../base/http/uploaded-file.ts';
import { isObject, type Loose } from '../../../base/values.ts';
import { wavOf } from '../../../dialects/tasks/wav.ts';
import { mostSeconds } from '../../../pricing/audio/length.ts';
import type { TransportResponse } from '../../../transport/transport.ts';

/** Samples of a second. */
const rate = 24_000;
/** Characters that are spoken in a second. */
const charactersPerSecond = 14;
/** The bytes that come at once. */
const bytesAtOnce = 8 * 1024;

/** The answers for sound. The same request always has the same one. */
export const audioAnswers = {
  /** Speaks: a tone for as long as the text would take. */
  speech({ input, response_format: form, stream_format: stream }: Loose, signal: AbortSignal): TransportResponse {
    const text = String(input);
    const seconds = Math.max(text.length / charactersPerSecond, 0.1);
    const sound = form === 'mp3' ? mp3Of(seconds) : form === 'wav' ? wavOf(pcmOf(seconds), rate) : pcmOf(seconds);
    if (stream !== 'sse') {
      const type = form === 'mp3' ? 'audio/mpeg' : `audio/${form === 'wav' ? 'wav' : 'pcm'}`;
      return { status: 200, headers: { 'content-type': type }, body: bytesBody(sound, signal) };
    }
    const input_tokens = Math.ceil(text.length / 4);
    const output_tokens = Math.ceil(seconds * 20);
    const events: object[] = [];
    for (let at = 0; at < sound.length; at += bytesAtOnce)
      events.push({ type: 'speech.audio.delta', audio: toBase64(sound.slice(at, at + bytesAtOnce)) });
    const usage = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
    return eventsOf([...events, { type: 'speech.audio.done', usage }], signal);
  },
  /** Writes down: the sandbox hears nothing, and tells the length of the sound. */
  async transcript(form: FormData, task: string, signal: AbortSignal): Promise<TransportResponse> {
    const file = form.get('file') as Blob;
    const bytes = new Uint8Array(await file.arrayBuffer());
    const seconds = mostSeconds(uploadedFile(null, null, [bytes]));
    const words = ['The sandbox has heard', `${Math.round(seconds)} seconds of sound,`, 'and understood nothing.'];
    const text = words.join(' ');
    const usage = { type: 'duration', seconds: Math.ceil(seconds) };
    if (form.get('stream') === 'true') {
      const deltas = words.map((one, at) => ({ type: 'transcript.text.delta', delta: at === 0 ? one : ` ${one}` }));
      return eventsOf([...deltas, { type: 'transcript.text.done', text, usage }], signal);
    }
    const asked = form.get('response_format');
    if (asked === 'json' || asked === null) return jsonOf({ text, usage }, signal);
    const part = seconds / words.length;
    const segments = words.map((one, id) => ({
      id,
      start: id * part,
      end: (id + 1) * part,
      text: id === 0 ? one : ` ${one}`,
      ...(asked === 'diarized_json' ? { speaker: 'A' } : {}),
    }));
    const head = { task: task === 'translations' ? 'translate' : 'transcribe', language: 'english', duration: seconds };
    return jsonOf({ ...head, text, segments, usage }, signal);
  },
};

/** Reads the body of a request for speech. @returns null: it is no object */
export function speechBody(text: string): Loose | null {
  const body: unknown = JSON.parse(text);
  return isObject(body) ? body : null;
}

function jsonOf(body: object, signal: AbortSignal): TransportResponse {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  return { status: 200, headers: { 'content-type': 'application/json' }, body: bytesBody(bytes, signal) };
}

function eventsOf(events: readonly object[], signal: AbortSignal): TransportResponse {
  const bytes = new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: bytesBody(bytes, signal) };
}

function bytesBody(bytes: Uint8Array, signal: AbortSignal): ByteSource {
  let at = 0;
  return {
    async read() {
      signal.throwIfAborted();
      if (at >= bytes.length) return null;
      const next = bytes.slice(at, at + bytesAtOnce);
      at += next.length;
      return next;
    },
    cancel() {
      at = bytes.length;
    },
  };
}

/** A tone of 440 Hz: 16 bit, mono. */
function pcmOf(seconds: number): Uint8Array {
  const samples = Math.round(seconds * rate);
  const view = new DataView(new ArrayBuffer(samples * 2));
  for (let at = 0; at < samples; at++)
    view.setInt16(at * 2, Math.round(8_000 * Math.sin((2 * Math.PI * 440 * at) / rate)), true);
  return new Uint8Array(view.buffer);
}

/** Frames of silence at 32 kbit/s and 24 kHz, 24 ms each. */
function mp3Of(seconds: number): Uint8Array {
  const size = 96;
  const frames = Math.ceil(seconds / 0.024);
  const bytes = new Uint8Array(frames * size);
  for (let at = 0; at < frames; at++) bytes.set([0xff, 0xf3, 0x44, 0xc4], at * size);
  return bytes;
}
