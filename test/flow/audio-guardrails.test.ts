import { describe, expect, it } from 'vitest';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { wav } from '../support/audio.ts';
import { testGateway, testKey, upstreamKeys } from '../support/gateway.ts';
import { eventOf, eventsIn, ofWhisper, openaiStream, said, streamed, verbose } from '../support/transcripts.ts';

const asCaller = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
const secret = '555-0100';

function gateway(action: 'redact' | 'block', literal = secret) {
  return testGateway({
    providers: { openai: { apiKey: upstreamKeys.up } },
    models: [
      {
        slug: 'a/whisper',
        endpoints: [{ provider: 'openai', model: 'whisper-1', pricing: { prompt: '0', second: '0.0001' } }],
        outputModalities: ['transcription'],
      },
      {
        slug: 'a/gpt',
        endpoints: [{ provider: 'openai', model: 'gpt-4o-transcribe', pricing: { prompt: '0', second: '0.0001' } }],
        outputModalities: ['transcription'],
      },
      {
        slug: 'a/diarize',
        endpoints: [
          { provider: 'openai', model: 'gpt-4o-transcribe-diarize', pricing: { prompt: '0', second: '0.0001' } },
        ],
        outputModalities: ['transcription'],
      },
      {
        slug: 'a/tts',
        endpoints: [{ provider: 'openai', model: 'tts-1', pricing: { prompt: '0', character: '0.00001' } }],
        outputModalities: ['speech'],
      },
    ],
    guardrails: [textGuardrail({ id: 'numbers', patterns: [{ literal, name: 'number', action }] })],
    retry: { attemptsPerEndpoint: 1 },
  } as unknown as Partial<GatewayOptions>);
}
type Test = ReturnType<typeof gateway>;

async function ask(t: Test, path: string, body: object) {
  const request = new Request(`http://gateway.test/v1${path}`, {
    method: 'POST',
    headers: asCaller,
    body: JSON.stringify(body),
  });
  const response = await t.run(t.gateway.fetch(request));
  return { status: response.status, text: await t.run(response.text()) };
}
const audio = { input_audio: { data: wav(3).toString('base64'), format: 'wav' } };
const transcribe = (t: Test, fields: object) =>
  ask(t, '/audio/transcriptions', { model: 'a/whisper', ...audio, ...fields });

describe('guardrails and sound', () => {
  it('read the prompt of a transcript, its keywords and the names of its speakers', async () => {
    const t = gateway('redact');
    t.upstream.always({ body: said });
    const wishes = {
      model: 'a/diarize',
      response_format: 'diarized_json',
      prompt: `About ${secret}`,
      keywords: ['gateway', `call ${secret}`],
      known_speaker_names: [`Bob ${secret}`],
      known_speaker_references: ['data:audio/wav;base64,AAAA'],
    };
    await transcribe(t, wishes);
    const [sent] = t.upstream.sent;
    expect(sent?.text).toContain('gateway');
    expect(sent?.text).toContain('Bob ');
    expect(sent?.text).not.toContain(secret);
    const blocking = gateway('block');
    expect((await transcribe(blocking, { keywords: [secret] })).status).toBe(403);
    expect(blocking.upstream.sent).toEqual([]);
  });

  it('read a text before it is spoken, and the way in which', async () => {
    const t = gateway('redact');
    t.upstream.always({ headers: { 'content-type': 'audio/mpeg' }, body: ['x'] });
    await ask(t, '/audio/speech', { model: 'a/tts', input: `Call ${secret}.`, instructions: `As ${secret} would` });
    expect(t.upstream.sent[0]?.text).not.toContain(secret);
    expect(t.upstream.sent[0]?.body.input).toMatch(/^Call .*\.$/);
    const blocked = gateway('block');
    expect((await ask(blocked, '/audio/speech', { model: 'a/tts', input: secret })).status).toBe(403);
    expect(blocked.upstream.sent).toEqual([]);
  });

  it('read the prompt of a transcript before it leaves', async () => {
    const t = gateway('redact', 'Ada');
    t.upstream.always({ body: ofWhisper });
    await transcribe(t, { prompt: 'Names: Ada' });
    expect(t.upstream.sent[0]?.body.prompt).not.toContain('Ada');
    expect((await transcribe(gateway('block', 'Ada'), { prompt: 'Names: Ada' })).status).toBe(403);
  });

  it.each(['json', 'text', 'srt', 'vtt', 'verbose_json'])(
    'take what they find out of a transcript: %s',
    async (form) => {
      const t = gateway('redact');
      t.upstream.answer({
        body:
          form === 'json' || form === 'text' ? ofWhisper : { ...verbose, words: [{ word: secret, start: 0, end: 1 }] },
      });
      const { status, text } = await transcribe(t, { response_format: form });
      expect([status, text.includes(secret), text.includes('Hello there,')]).toEqual([200, false, true]);
      expect(t.records[0]?.costNanoUsd).toBeGreaterThan(0);
    },
  );

  it('leave a transcript without findings as it is, times and words included', async () => {
    const t = gateway('redact', 'nothing of it');
    t.upstream.answer({ body: verbose });
    const { text } = await transcribe(t, { response_format: 'verbose_json' });
    expect(JSON.parse(text)).toMatchObject({ segments: verbose.segments, words: verbose.words });
  });

  it('find what goes on from one segment to the next', async () => {
    const t = gateway('redact');
    const parts = [' my number is 555', '-0100.'].map((text, id) => ({ id, start: id, end: id + 1, text }));
    t.upstream.answer({ body: { text: said, duration: 3, segments: parts } });
    const { text } = await transcribe(t, { response_format: 'srt' });
    expect(text).not.toMatch(/555|0100/);
  });

  it('refuse a transcript, which costs what it cost', async () => {
    const t = gateway('block');
    t.upstream.always({ body: ofWhisper });
    const { status, text } = await transcribe(t, {});
    expect([status, text.includes(secret)]).toEqual([403, false]);
    expect(t.records[0]).toMatchObject({ costNanoUsd: 300_000, status: 403 });
  });

  it('act in streams, whatever is cut where', async () => {
    for (let cut = 1; cut < said.length; cut++) {
      const t = gateway('redact');
      t.upstream.answer({ body: openaiStream([said.slice(0, cut), said.slice(cut)]) });
      const events = eventsIn((await transcribe(t, { model: 'a/gpt', stream: true })).text);
      const deltas = events
        .slice(0, -1)
        .map(({ delta }) => delta)
        .join('');
      expect(deltas).not.toContain(secret);
      expect(deltas).toContain('Hello there, my number is ');
      expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: deltas });
    }
  });

  it('read a stream that the provider did not stream', async () => {
    const t = gateway('redact');
    t.upstream.answer({ body: ofWhisper });
    const { text } = await transcribe(t, { stream: true });
    expect(text).not.toContain(secret);
    expect(eventsIn(text).at(-1)).toMatchObject({ type: 'transcript.text.done' });
  });

  it('read segments of a stream, and their end alone', async () => {
    const t = gateway('redact');
    const segment = (text: string, speaker: string) =>
      eventOf({ type: 'transcript.text.segment', id: speaker, start: 0, end: 1, text, speaker });
    const [delta, ...rest] = openaiStream([said]);
    t.upstream.answer(
      { body: [delta as string, segment(' it is 555', 'A'), segment('-0100.', 'B'), ...rest] },
      { body: rest },
    );
    const { text } = await transcribe(t, { model: 'a/diarize', stream: true, response_format: 'diarized_json' });
    expect(text).not.toMatch(/555|0100/);
    expect(
      eventsIn(text)
        .filter(({ type }) => type === 'transcript.text.segment')
        .map(({ speaker }) => speaker),
    ).toEqual(['A', 'B']);
    expect((await transcribe(t, { model: 'a/gpt', stream: true })).text).not.toContain(secret);
  });

  it('break a stream off with an error, and never with its end', async () => {
    const t = gateway('block');
    t.upstream.answer({ body: openaiStream(streamed) });
    const { text } = await transcribe(t, { model: 'a/gpt', stream: true });
    expect(text).not.toContain(secret);
    const types = eventsIn(text).map(({ type }) => type);
    expect(types.at(-1)).toBe('error');
    expect(types).not.toContain('transcript.text.done');
    expect(t.records[0]?.costNanoUsd).toBeGreaterThan(0);
  });
});
