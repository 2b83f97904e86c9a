import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { speechEventSchema } from '../../src/schema/audio/speech-request.ts';
import { mp3 } from '../support/audio.ts';
import { testGateway, testKey, upstreamKeys } from '../support/gateway.ts';
import { eventOf, eventsIn } from '../support/transcripts.ts';

/**
 * Speech as providers send it, made after public descriptions: `SpeechCreateParams` and the events of openai 7.57 and
 * `AudioSpeechStreamChunk` of together-ai 0.52.
 */
const sound = mp3(100, { index: 9 });
const asBytes = (type = 'audio/mpeg') => ({
  headers: { 'content-type': type },
  body: [sound.subarray(0, 1000), sound.subarray(1000, 5000), sound.subarray(5000)],
});
const sse = [
  eventOf({ type: 'speech.audio.delta', audio: Buffer.from('abc').toString('base64') }),
  eventOf({ type: 'speech.audio.delta', audio: Buffer.from('def').toString('base64') }),
  eventOf({ type: 'speech.audio.done', usage: { input_tokens: 4, output_tokens: 40, total_tokens: 44 } }),
];

function gateway(options: Partial<GatewayOptions> = {}) {
  const one = (slug: string, provider: string, model: string, pricing: object) => ({
    slug,
    outputModalities: ['speech'],
    endpoints: [{ provider, model, pricing }],
  });
  return testGateway({
    providers: {
      openai: { apiKey: upstreamKeys.up },
      groq: { apiKey: upstreamKeys.up },
      together: { apiKey: upstreamKeys.up },
      mistral: { apiKey: upstreamKeys.up },
      'google-ai-studio': { apiKey: upstreamKeys.up },
    },
    models: [
      one('openai/tts-1', 'openai', 'tts-1', { prompt: '0', character: '0.000015' }),
      one('openai/gpt-4o-mini-tts', 'openai', 'gpt-4o-mini-tts', { prompt: '0.0000006', completion: '0.000012' }),
      one('groq/orpheus', 'groq', 'orpheus', { prompt: '0', character: '0.00005' }),
      one('google/tts', 'google-ai-studio', 'gemini-2.5-flash-preview-tts', {
        prompt: '0.0000005',
        completion: '0.00001',
      }),
      one('mistral/voxtral-tts', 'mistral', 'voxtral-mini-tts-2603', { prompt: '0', character: '0.000016' }),
      one('together/sonic', 'together', 'cartesia/sonic', { prompt: '0', character: '0.00005' }),
    ],
    retry: { attemptsPerEndpoint: 1 },
    ...options,
  } as Partial<GatewayOptions>);
}
type Test = ReturnType<typeof gateway>;

async function speak(t: Test, fields: object) {
  const body = JSON.stringify({ model: 'openai/tts-1', input: 'Hello, world.', voice: 'alloy', ...fields });
  const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
  const request = new Request('http://gateway.test/v1/audio/speech', { method: 'POST', headers, body });
  const response = await t.run(t.gateway.fetch(request));
  return { status: response.status, headers: response.headers, response };
}
const bytesOf = async (t: Test, response: Response) => Buffer.from(await t.run(response.arrayBuffer()));

describe('POST /audio/speech', () => {
  it('passes the bytes on as they come, with their type and an id, by the character', async () => {
    const t = gateway();
    t.upstream.answer(asBytes('audio/mpeg; rate=44100'));
    const { status, headers, response } = await speak(t, { speed: 1.5 });
    expect([status, headers.get('content-type')]).toEqual([200, 'audio/mpeg; rate=44100']);
    expect(headers.get('x-generation-id')).toMatch(/^gen-/);
    expect(headers.get('cache-control')).toContain('no-transform');
    expect(await bytesOf(t, response)).toEqual(sound);
    expect(t.upstream.sent[0]).toMatchObject({
      url: 'https://api.openai.com/v1/audio/speech',
      body: { model: 'tts-1', input: 'Hello, world.', voice: 'alloy', response_format: 'mp3', speed: 1.5 },
    });
    expect(t.records[0]).toMatchObject({ operation: 'createSpeech', outcome: 'ok', costNanoUsd: 13 * 15_000 });
  });

  it.each([
    [undefined, 'mp3'],
    ['openrouter', 'pcm'],
  ])('has the usual form of the interface: with compat %s, %s', async (compat, form) => {
    const t = gateway({ compat } as Partial<GatewayOptions>);
    t.upstream.answer(asBytes('application/octet-stream'));
    const { headers, response } = await speak(t, {});
    await bytesOf(t, response);
    expect(t.upstream.sent[0]?.body.response_format).toBe(form);
    expect(headers.get('content-type')).toBe(form === 'mp3' ? 'audio/mpeg' : 'audio/pcm');
  });

  it('counts the tokens of what has arrived, where tokens are sold and bytes report none', async () => {
    const t = gateway();
    t.upstream.answer(asBytes());
    await bytesOf(t, (await speak(t, { model: 'openai/gpt-4o-mini-tts' })).response);
    // 100 frames of 26 ms, 21 tokens a second.
    const seconds = (100 * 1152) / 44_100;
    const usage = t.records[0]?.usage;
    expect(usage?.completion_tokens).toBeCloseTo(seconds * 21, -1);
    expect(t.records[0]?.isEstimated ?? usage?.estimated).toBe(true);
  });

  describe('at Gemini, whose response is that of generateContent, as @google/genai 3.3 has it', () => {
    const pcm = Buffer.from(Array.from({ length: 480 }, (_, at) => at % 256));
    const spoken = (mimeType = 'audio/L16;codec=pcm;rate=16000') => ({
      candidates: [
        {
          content: { role: 'model', parts: [{ inlineData: { mimeType, data: pcm.toString('base64') } }] },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 30, totalTokenCount: 35 },
    });

    it.each([
      ['pcm', 'audio/pcm', pcm],
      ['wav', 'audio/wav', null],
    ])('speaks as %s, by the token', async (form, type, expected) => {
      const t = gateway();
      t.upstream.answer({ body: spoken() });
      const asked = { model: 'google/tts', response_format: form, voice: 'Puck', instructions: 'Slowly', speed: 2 };
      const { status, headers, response } = await speak(t, asked);
      expect([status, headers.get('content-type')]).toEqual([200, type]);
      const bytes = await bytesOf(t, response);
      if (expected !== null) expect(bytes).toEqual(expected);
      else {
        expect([bytes.subarray(0, 4).toString(), bytes.readUInt32LE(24)]).toEqual(['RIFF', 16_000]);
        expect([bytes.readUInt32LE(40), bytes.subarray(44)]).toEqual([pcm.length, pcm]);
      }
      expect(t.upstream.sent[0]?.url).toContain('/models/gemini-2.5-flash-preview-tts:generateContent');
      expect(t.upstream.sent[0]?.body).toEqual({
        contents: [{ role: 'user', parts: [{ text: 'Slowly\n\nHello, world.' }] }],
        generationConfig: {
          responseModalities: ['AUDIO'],
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Puck' } } },
        },
      });
      expect(t.records[0]?.attempts[0]?.dropped).toEqual(['speed']);
      expect(t.records[0]).toMatchObject({ costNanoUsd: 5 * 500 + 30 * 10_000 });
    });

    it.each([
      ['mp3, which it does not make', { response_format: 'mp3' }, 'response_format: expected pcm or wav'],
      ['a voice of an id', { response_format: 'pcm', voice: { id: 'v' } }, 'voice: expected the name of a voice'],
    ])('refuses %s', async (_, fields, message) => {
      const t = gateway();
      const { status, response } = await speak(t, { model: 'google/tts', ...fields });
      expect([status, JSON.parse(await response.text()).error.message, t.upstream.sent]).toEqual([400, message, []]);
    });

    it.each([
      ['refuses the text', { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }, 400],
      ['says nothing', { candidates: [{ finishReason: 'OTHER' }] }, 502],
    ])('tells when the model %s', async (_, body, expected) => {
      const t = gateway();
      t.upstream.always({ body });
      const { status, response } = await speak(t, { model: 'google/tts', response_format: 'pcm' });
      await response.text();
      expect(status).toBe(expected);
    });
  });

  it('streams events, with the cost at the end', async () => {
    const t = gateway();
    t.upstream.answer({ body: sse });
    const { headers, response } = await speak(t, { model: 'openai/gpt-4o-mini-tts', stream_format: 'sse' });
    expect(headers.get('content-type')).toBe('text/event-stream');
    const events = eventsIn(await t.run(response.text()));
    for (const event of events) speechEventSchema().parse(event);
    expect(events.map(({ type }) => type)).toEqual(['speech.audio.delta', 'speech.audio.delta', 'speech.audio.done']);
    expect(events[2]).toMatchObject({ usage: { input_tokens: 4, output_tokens: 40, cost: 0.0004824 } });
    expect(t.upstream.sent[0]?.body.stream_format).toBe('sse');
  });

  it('makes events of bytes, where the provider has none', async () => {
    const t = gateway();
    t.upstream.answer(asBytes());
    const { response } = await speak(t, { model: 'groq/orpheus', stream_format: 'sse', instructions: 'Slowly.' });
    const events = eventsIn(await t.run(response.text()));
    const parts = events.slice(0, -1).map(({ audio }) => Buffer.from(String(audio), 'base64'));
    expect(Buffer.concat(parts)).toEqual(sound);
    expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { characters: 13, cost: 0.00065 } });
    expect(t.upstream.sent[0]?.body).not.toHaveProperty('stream_format');
    expect(t.records[0]?.attempts[0]?.dropped).toEqual(['instructions']);
  });

  it('names forms as the provider does, and refuses those that it has not', async () => {
    const t = gateway();
    t.upstream.answer(asBytes('audio/pcm'));
    await bytesOf(t, (await speak(t, { model: 'together/sonic', response_format: 'pcm' })).response);
    expect(t.upstream.sent[0]?.body.response_format).toBe('raw');
    const { status, response } = await speak(t, { model: 'together/sonic', response_format: 'opus' });
    expect([status, JSON.stringify(await response.json())]).toEqual([
      400,
      expect.stringContaining('one of mp3, wav, pcm'),
    ]);
  });

  it.each([
    ['JSON in place of sound', { body: { error: { message: 'no voice' } } }],
    ['a page', { headers: { 'content-type': 'text/html' }, body: '<html>' }],
    ['nothing', { headers: { 'content-type': 'audio/mpeg' }, body: '' }],
    ['an error', { status: 500, body: { error: { message: 'no' } } }],
  ])('is an error in JSON before the first byte: %s', async (_, answer) => {
    const t = gateway();
    t.upstream.answer(answer);
    const { status, headers } = await speak(t, {});
    expect([status, headers.get('content-type')]).toEqual([502, 'application/json']);
  });

  it('cuts the connection where the sound breaks off, and books what is held', async () => {
    const t = gateway();
    t.upstream.answer({ headers: { 'content-type': 'audio/mpeg' }, body: [sound.subarray(0, 1000), { breaks: true }] });
    const { status, response } = await speak(t, {});
    expect(status).toBe(200);
    await expect(bytesOf(t, response)).rejects.toThrow();
    expect(t.records[0]).toMatchObject({ outcome: 'cut', costNanoUsd: 13 * 15_000 });
  });

  it('never ends events with their end where they were cut', async () => {
    const t = gateway();
    t.upstream.answer({ body: sse.slice(0, 1) });
    const { response } = await speak(t, { model: 'openai/gpt-4o-mini-tts', stream_format: 'sse' });
    expect(eventsIn(await t.run(response.text())).map(({ type }) => type)).toEqual(['speech.audio.delta', 'error']);
  });

  it('stops at the provider when the client leaves', async () => {
    const t = gateway();
    t.upstream.answer({ headers: { 'content-type': 'audio/mpeg' }, body: [sound.subarray(0, 1000), { hangs: true }] });
    const { response } = await speak(t, {});
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await t.run(reader.read());
    await t.run(reader.cancel());
    expect(t.upstream.sent[0]?.closedAtMs).not.toBeNull();
    expect(t.records[0]).toMatchObject({ outcome: 'cancelled', costNanoUsd: 13 * 15_000 });
  });

  it('holds its characters before they leave', async () => {
    const t = gateway();
    await t.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.000_2 });
    const { status } = await speak(t, { input: 'Fourteen chars' });
    expect([status, t.upstream.sent.length]).toEqual([402, 0]);
    t.upstream.answer(asBytes());
    expect((await speak(t, { input: 'Thirteen chrs' })).status).toBe(200);
  });

  it('asks Mistral by its own field for the voice, and makes bytes and events of its JSON', async () => {
    const t = gateway();
    t.upstream.always({ body: { audio_data: sound.toString('base64') } });
    const asked = { model: 'mistral/voxtral-tts', voice: { id: 'gb_jane_neutral' }, speed: 2 };
    const { status, headers, response } = await speak(t, asked);
    expect([status, headers.get('content-type'), headers.get('x-service-dropped')]).toEqual([
      200,
      'audio/mpeg',
      'speed',
    ]);
    expect(await bytesOf(t, response)).toEqual(sound);
    expect(t.upstream.sent[0]).toMatchObject({
      url: 'https://api.mistral.ai/v1/audio/speech',
      body: {
        model: 'voxtral-mini-tts-2603',
        input: 'Hello, world.',
        voice_id: 'gb_jane_neutral',
        response_format: 'mp3',
      },
    });
    expect(t.records[0]).toMatchObject({ outcome: 'ok', costNanoUsd: 13 * 16_000 });
    const events = await speak(t, { ...asked, stream_format: 'sse' });
    const text = (await bytesOf(t, events.response)).toString();
    expect(text).toContain(sound.toString('base64'));
    expect(text).toContain('speech.audio.done');
    // Nobody knows what its samples without a header are.
    expect((await speak(t, { ...asked, response_format: 'pcm' })).status).toBe(400);
    t.upstream.always({ body: {} });
    expect((await speak(t, asked)).status).toBe(502);
  });

  it('is explained without a call', async () => {
    const t = gateway();
    const body = { model: 'openai/tts-1', input: 'Hello, world.' };
    const { status, json } = await t.call('POST', '/audio/speech/explain', body);
    expect(status).toBe(200);
    expect(JSON.stringify(json)).toContain('0.000195');
  });

  it.each([{ input: '' }, { speed: 9 }, { response_format: 'midi' }, { stream_format: 'x' }, { unknown: 1 }])(
    'refuses %j',
    async (fields) => {
      expect((await speak(gateway(), fields)).status).toBe(400);
    },
  );
});

describe('the client library of OpenAI', () => {
  it('speaks', async () => {
    const t = gateway();
    t.upstream.answer(asBytes(), { body: sse });
    const { audio } = new OpenAI({
      apiKey: testKey,
      baseURL: 'http://gateway.test/v1',
      fetch: t.gateway.fetch as never,
      maxRetries: 0,
    });
    const made = await t.run(audio.speech.create({ model: 'openai/tts-1', input: 'Hi', voice: 'alloy' }));
    expect(Buffer.from(await t.run(made.arrayBuffer()))).toEqual(sound);
    const streamed = await t.run(
      audio.speech.create({ model: 'openai/gpt-4o-mini-tts', input: 'Hi', voice: 'alloy', stream_format: 'sse' }),
    );
    expect(await t.run(streamed.text())).toContain('speech.audio.done');
  });
});
