/**
 * Transcripts and speech as providers write them, made after public descriptions: `Transcription`,
 * `TranscriptionVerbose`, `TranscriptionDiarized` and `TranscriptionStreamEvent` of openai 7.57, `TranscriptionResponse`
 * and `TranscriptionStreamEvents` of @mistralai/mistralai 2.7, `AudioTranscription…Response` of together-ai 0.52, and
 * `Transcription` of groq-sdk.
 */

export const said = 'Hello there, my number is 555-0100.';

export const ofOpenAi = {
  text: said,
  usage: {
    type: 'tokens',
    input_tokens: 30,
    input_token_details: { audio_tokens: 25, text_tokens: 5 },
    output_tokens: 9,
    total_tokens: 39,
  },
};

export const ofWhisper = { text: said, usage: { type: 'duration', seconds: 3 } };

export const segments = [
  { id: 0, seek: 0, start: 0, end: 1.5, text: ' Hello there,', tokens: [1], temperature: 0, avg_logprob: -0.2 },
  { id: 1, seek: 0, start: 1.5, end: 3.25, text: ' my number is 555-0100.', tokens: [2], temperature: 0 },
];

export const verbose = {
  task: 'transcribe',
  language: 'english',
  duration: 3.25,
  text: said,
  segments,
  words: [{ word: 'Hello', start: 0, end: 0.5 }],
};

export const ofGroq = { text: said, x_groq: { id: 'req_1' } };

export const ofMistral = {
  model: 'voxtral-mini-2602',
  text: said,
  language: 'en',
  segments: [
    { type: 'transcription_segment', text: 'Hello there,', start: 0, end: 1.5, speaker_id: 'speaker_1' },
    { type: 'transcription_segment', text: ' my number is 555-0100.', start: 1.5, end: 3.25, speaker_id: 'speaker_2' },
  ],
  usage: { prompt_audio_seconds: 4, prompt_tokens: 5, completion_tokens: 9, total_tokens: 60 },
};

export const eventOf = (event: object) => `data: ${JSON.stringify(event)}\n\n`;

export const streamed = ['Hello there,', ' my number is', ' 555-', '0100.'];

export const openaiStream = (deltas: readonly string[] = streamed, usage: object = ofOpenAi.usage) => [
  ...deltas.map((delta) => eventOf({ type: 'transcript.text.delta', delta })),
  eventOf({ type: 'transcript.text.done', text: deltas.join(''), usage }),
];

export const mistralStream = [
  `event: transcription.language\n${eventOf({ type: 'transcription.language', audio_language: 'en' })}`,
  ...streamed.map((text) => `event: transcription.text.delta\n${eventOf({ type: 'transcription.text.delta', text })}`),
  `event: transcription.done\n${eventOf({ type: 'transcription.done', model: 'voxtral-mini-2602', text: said, language: 'en', usage: ofMistral.usage })}`,
];

/** The events of a response of the gateway. */
export function eventsIn(text: string): Record<string, unknown>[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => JSON.parse(frame.slice(6)));
}
