// Loaded beforehand: the gateway loads the list of prices when it is first needed, which takes time that a manual clock knows nothing of.
import '@pydantic/genai-prices';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { transcriptionEventSchema, transcriptionResultSchema } from '../../src/schema/audio/transcription-result.ts';
import { mp3, wav } from '../support/audio.ts';
import { testGateway, testKey, upstreamKeys } from '../support/gateway.ts';
import {
  eventOf,
  eventsIn,
  mistralStream,
  ofGroq,
  ofMistral,
  ofOpenAi,
  ofWhisper,
  openaiStream,
  said,
  segments,
  streamed,
  verbose,
} from '../support/transcripts.ts';

const perSecond = { prompt: '0', second: '0.0001' };
const perToken = { prompt: '0.0000025', completion: '0.00001', audio: '0.000006' };

function gateway(options: Partial<GatewayOptions> = {}) {
  const one = (slug: string, provider: string, model: string, pricing: object) => ({
    slug,
    outputModalities: ['transcription'],
    endpoints: [{ provider, model, pricing }],
  });
  return testGateway({
    providers: {
      openai: { apiKey: upstreamKeys.up },
      groq: { apiKey: upstreamKeys.up },
      mistral: { apiKey: upstreamKeys.up },
      together: { apiKey: upstreamKeys.up },
      azure: {
        apiKey: upstreamKeys.up,
        baseUrl: 'https://acme.openai.azure.com/openai',
        quirks: { modelInPath: true },
      },
    },
    models: [
      one('openai/whisper-1', 'openai', 'whisper-1', perSecond),
      one('openai/gpt-4o-transcribe', 'openai', 'gpt-4o-transcribe', perToken),
      one('openai/gpt-4o-transcribe-diarize', 'openai', 'gpt-4o-transcribe-diarize', perToken),
      one('groq/whisper', 'groq', 'whisper-large-v3', perSecond),
      one('groq/whisper-turbo', 'groq', 'whisper-large-v3-turbo', perSecond),
      one('mistral/voxtral', 'mistral', 'voxtral-mini-latest', perSecond),
      one('together/whisper', 'together', 'openai/whisper-large-v3', perSecond),
      one('azure/whisper', 'azure', 'whisper', perSecond),
    ],
    retry: { attemptsPerEndpoint: 1 },
    ...options,
  } as Partial<GatewayOptions>);
}

type Test = ReturnType<typeof gateway>;
const file = (name = 'speech.wav', bytes: Uint8Array = wav(3)) =>
  new File([bytes as BlobPart], name, { type: 'audio/wav' });

async function post(t: Test, path: string, fields: Record<string, string | Blob | string[]>) {
  const form = new FormData();
  // The model comes after the file.
  for (const [name, value] of Object.entries({ file: file(), ...fields }))
    for (const one of Array.isArray(value) ? value : [value]) form.append(name, one);
  const headers = { authorization: `Bearer ${testKey}` };
  const response = await t.run(
    t.gateway.fetch(`http://gateway.test/v1${path}`, { method: 'POST', headers, body: form }),
  );
  const text = await t.run(response.text());
  const isJson = response.headers.get('content-type') === 'application/json';
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : null };
}
const transcribe = (t: Test, fields: Record<string, string | Blob | string[]>) =>
  post(t, '/audio/transcriptions', fields);

describe('POST /audio/transcriptions', () => {
  it('sends the file on with its name and type, and bills seconds', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofWhisper });
    const { status, json, headers } = await transcribe(t, {
      model: 'openai/whisper-1',
      language: 'en',
      prompt: 'Names: Ada',
      temperature: '0.2',
    });
    expect(status).toBe(200);
    expect(transcriptionResultSchema().parse(json)).toMatchObject({
      text: said,
      usage: { type: 'duration', seconds: 3, cost: 0.0003, is_byok: false },
    });
    expect(json.usage.estimated).toBeUndefined();
    expect(headers.get('x-generation-id')).toMatch(/^gen-/);
    const [sent] = t.upstream.sent;
    expect(sent?.url).toBe('https://api.openai.com/v1/audio/transcriptions');
    expect(sent?.body).toEqual({
      file: { filename: 'speech.wav', type: 'audio/wav', size: wav(3).length },
      model: 'whisper-1',
      language: 'en',
      prompt: 'Names: Ada',
      temperature: '0.2',
      response_format: 'json',
    });
    expect(t.records[0]).toMatchObject({ operation: 'createTranscription', costNanoUsd: 300_000 });
  });

  it('takes the sound as JSON, as the public service does', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofWhisper });
    const body = { model: 'openai/whisper-1', input_audio: { data: wav(3).toString('base64'), format: 'wav' } };
    const { json } = await t.call('POST', '/audio/transcriptions', body, { authorization: `Bearer ${testKey}` });
    expect(json.text).toBe(said);
    expect(t.upstream.sent[0]?.body.file).toEqual({ filename: 'audio.wav', type: 'audio/wav', size: wav(3).length });
  });

  it('bills tokens where the model is sold by them', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofOpenAi });
    const { json } = await transcribe(t, { model: 'openai/gpt-4o-transcribe' });
    expect(json.usage).toMatchObject({
      ...ofOpenAi.usage,
      cost: (25 * 6 + 5 * 2.5 + 9 * 10) / 1e6,
    });
  });

  it.each([
    ['no usage', { text: said }],
    ['more seconds than the file has', { text: said, usage: { type: 'duration', seconds: 400 } }],
    ['seconds that are no number', { text: said, usage: { type: 'duration', seconds: 'many' } }],
  ])('bills the length of the file where the provider reports %s', async (_, body) => {
    const t = gateway();
    t.upstream.answer({ body });
    const { json } = await transcribe(t, { model: 'openai/whisper-1' });
    // One second more than the file has is held, and booked where nothing is known.
    expect(json.usage).toMatchObject({ seconds: 4, cost: 0.0004 });
  });

  it('bills at least ten seconds at Groq, and drops what it does not take', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofGroq });
    const { json, headers } = await transcribe(t, { model: 'groq/whisper', 'keywords[]': ['Ada'] });
    expect(json.usage).toMatchObject({ seconds: 10, cost: 0.001 });
    t.upstream.answer({ body: ofWhisper });
    expect((await transcribe(t, { model: 'groq/whisper' })).json.usage).toMatchObject({ seconds: 10, cost: 0.001 });
    expect(headers.get('x-service-dropped')).toContain('keywords');
    expect(t.upstream.sent[0]?.url).toBe('https://api.groq.com/openai/v1/audio/transcriptions');
  });

  it('finds the path of Azure', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofWhisper });
    await transcribe(t, { model: 'azure/whisper' });
    expect(t.upstream.sent[0]?.url).toContain('/deployments/whisper/audio/transcriptions');
  });

  it('makes text, SRT and VTT of what the provider has, with its usage', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofWhisper }, { body: verbose }, { body: verbose });
    const text = await transcribe(t, { model: 'openai/whisper-1', response_format: 'text' });
    expect([text.text, text.headers.get('content-type')]).toEqual([`${said}\n`, 'text/plain; charset=utf-8']);
    const srt = await transcribe(t, { model: 'openai/whisper-1', response_format: 'srt' });
    expect(srt.text).toBe(
      '1\n00:00:00,000 --> 00:00:01,500\nHello there,\n\n2\n00:00:01,500 --> 00:00:03,250\nmy number is 555-0100.\n\n',
    );
    const vtt = await transcribe(t, { model: 'openai/whisper-1', response_format: 'vtt' });
    expect(vtt.text).toMatch(/^WEBVTT\n\n00:00:00\.000 --> 00:00:01\.500\nHello there,\n\n/);
    expect(vtt.headers.get('content-type')).toBe('text/vtt; charset=utf-8');
    expect(t.upstream.sent.map(({ body }) => body.response_format)).toEqual(['json', 'verbose_json', 'verbose_json']);
    // The length that verbose_json tells.
    expect(t.records.map(({ costNanoUsd }) => costNanoUsd)).toEqual([300_000, 400_000, 400_000]);
  });

  it('passes times and speakers on where the provider has them', async () => {
    const t = gateway();
    t.upstream.answer({ body: verbose });
    const asked = {
      model: 'openai/whisper-1',
      response_format: 'verbose_json',
      'timestamp_granularities[]': ['word', 'segment'],
    };
    const { json } = await transcribe(t, asked);
    expect(json).toMatchObject({ language: 'english', duration: 3.25, segments, words: verbose.words });
    expect(t.upstream.sent[0]?.body['timestamp_granularities[]']).toEqual(['word', 'segment']);
    t.upstream.answer({
      body: { text: said, duration: 3, segments: [{ ...segments[0], speaker: 'A' }], task: 'transcribe' },
    });
    const diarized = await transcribe(t, {
      model: 'openai/gpt-4o-transcribe-diarize',
      response_format: 'diarized_json',
    });
    expect(diarized.json.segments[0].speaker).toBe('A');
    expect(t.upstream.sent[1]?.body).toMatchObject({ response_format: 'diarized_json', chunking_strategy: 'auto' });
  });

  it('gives Mistral its own words, and its answer the form of OpenAI', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofMistral });
    const { json } = await transcribe(t, { model: 'mistral/voxtral', response_format: 'diarized_json' });
    expect(json).toMatchObject({
      text: said,
      segments: [
        { id: 0, start: 0, end: 1.5, text: 'Hello there,', speaker: 'speaker_1' },
        { id: 1, speaker: 'speaker_2' },
      ],
      usage: { type: 'duration', seconds: 4, cost: 0.0004 },
    });
    expect(t.upstream.sent[0]?.body).toMatchObject({ diarize: 'true', 'timestamp_granularities[]': ['segment'] });
    expect(t.upstream.sent[0]?.body.response_format).toBeUndefined();
  });

  it.each([
    [
      'openai/gpt-4o-transcribe',
      'verbose_json',
      'response_format: expected one of json, text, which are the forms of this model',
    ],
    [
      'openai/gpt-4o-transcribe',
      'srt',
      'response_format: expected one of json, text, which are the forms of this model',
    ],
    [
      'groq/whisper',
      'diarized_json',
      'response_format: expected one of json, text, verbose_json, srt, vtt, which are the forms of this model',
    ],
  ])('refuses what the provider cannot: %s, %s', async (model, form, message) => {
    const t = gateway();
    const { status, json } = await transcribe(t, { model, response_format: form });
    expect([status, json.error.message]).toEqual([400, message]);
    expect(t.upstream.sent).toEqual([]);
  });

  it.each<[Record<string, string | string[]>, string]>([
    [{ stream: 'true', response_format: 'srt' }, 'stream: expected false'],
    [{ 'timestamp_granularities[]': ['word'] }, 'timestamp_granularities: expected none'],
    [{ response_format: 'xml' }, 'response_format'],
    [{ temperature: '7' }, 'temperature'],
    [{ 'known_speaker_names[]': ['Ada'] }, 'known_speaker_references'],
    [{ unknown: 'x' }, 'unknown'],
  ])('refuses %j', async (fields, message) => {
    const t = gateway();
    const { status, json } = await transcribe(t, { model: 'openai/whisper-1', ...fields });
    expect([status, json.error.message]).toEqual([400, expect.stringContaining(message)]);
  });

  it('wants a file, and no other kind of body for it', async () => {
    const t = gateway();
    const auth = { authorization: `Bearer ${testKey}` };
    const call = (body: object) =>
      t.call('POST', '/audio/transcriptions', { model: 'openai/whisper-1', ...body }, auth);
    expect((await call({})).json.error.message).toContain('file: expected a file in a form');
    expect((await call({ file: { chunks: [], size: 3 } })).status).toBe(400);
    expect(
      (await call({ input_audio: { data: 'data:audio/wav;base64,AA==', format: 'wav' } })).json.error.message,
    ).toContain('expected base64');
    expect((await transcribe(t, { model: 'openai/whisper-1', file: file('a.wav', new Uint8Array(0)) })).status).toBe(
      400,
    );
  });

  it('gives a file without a name one that tells its form', async () => {
    const t = gateway();
    t.upstream.always({ body: ofWhisper });
    await transcribe(t, { model: 'openai/whisper-1', file: new Blob([mp3(10, { index: 9 }) as BlobPart]) });
    expect(t.upstream.sent[0]?.body.file).toMatchObject({ filename: 'blob.mp3' });
  });

  it('asks the next endpoint where one fails, with all of the file', async () => {
    const t = gateway({
      models: [
        {
          slug: 'acme/whisper',
          outputModalities: ['transcription'],
          order: 'listed',
          endpoints: [
            { provider: 'groq', model: 'whisper-large-v3', pricing: perSecond },
            { provider: 'openai', model: 'whisper-1', pricing: perSecond },
          ],
        },
      ] as never,
    });
    t.upstream.answer({ status: 500, body: { error: { message: 'no' } } }, { body: ofWhisper });
    const { json } = await transcribe(t, { model: 'acme/whisper' });
    expect(json.text).toBe(said);
    expect(t.upstream.sent.map(({ body }) => (body.file as { size: number }).size)).toEqual([
      wav(3).length,
      wav(3).length,
    ]);
  });

  it.each([{ body: { texts: [] } }, { body: 'plain words' }, { body: { text: 1 } }])(
    'does not take %j for a transcript',
    async (answer) => {
      const t = gateway();
      t.upstream.answer(answer);
      expect((await transcribe(t, { model: 'openai/whisper-1' })).status).toBe(502);
    },
  );
});

describe('a streamed transcript', () => {
  it('comes as the provider sends it, with the cost at its end', async () => {
    const t = gateway();
    t.upstream.answer({ body: openaiStream() });
    const { status, headers, text } = await transcribe(t, { model: 'openai/gpt-4o-transcribe', stream: 'true' });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const events = eventsIn(text);
    for (const event of events) transcriptionEventSchema().parse(event);
    expect(events.slice(0, -1).map(({ delta }) => delta)).toEqual(streamed);
    expect(events.at(-1)).toMatchObject({
      type: 'transcript.text.done',
      text: said,
      usage: { cost: 0.0002525, output_tokens: 9 },
    });
    expect(t.upstream.sent[0]?.body.stream).toBe('true');
    expect(t.records[0]).toMatchObject({ outcome: 'ok', costNanoUsd: 252_500 });
  });

  it('has the form of OpenAI, whoever sends it', async () => {
    const t = gateway();
    t.upstream.answer({ body: mistralStream });
    const events = eventsIn((await transcribe(t, { model: 'mistral/voxtral', stream: 'true' })).text);
    expect(events.map(({ type }) => type)).toEqual([
      ...streamed.map(() => 'transcript.text.delta'),
      'transcript.text.done',
    ]);
    expect(events.at(-1)).toMatchObject({ text: said, usage: { seconds: 4 } });
  });

  it('is made at the end where the provider sends none', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofGroq }, { body: ofWhisper });
    for (const model of ['groq/whisper', 'openai/whisper-1']) {
      const events = eventsIn((await transcribe(t, { model, stream: 'true' })).text);
      expect(events).toMatchObject([
        { type: 'transcript.text.delta', delta: said },
        { type: 'transcript.text.done', text: said },
      ]);
    }
    expect(t.upstream.sent[0]?.body.stream).toBeUndefined();
  });

  it.each([
    ['breaks', [openaiStream()[0] as string, { breaks: true as const }]],
    ['ends without its end', [openaiStream()[0] as string]],
    ['reports an error', [openaiStream()[0] as string, eventOf({ error: { message: 'full', code: 503 } })]],
  ])('that %s never looks complete, and costs what was held', async (_, body) => {
    const t = gateway();
    t.upstream.answer({ body });
    const events = eventsIn((await transcribe(t, { model: 'openai/gpt-4o-transcribe', stream: 'true' })).text);
    expect(events.map(({ type }) => type)).toEqual(['transcript.text.delta', 'error']);
    expect(t.records[0]).toMatchObject({ outcome: 'cut' });
    expect(t.records[0]?.costNanoUsd).toBeGreaterThan(0);
  });

  it('stops at the provider when the client leaves', async () => {
    const t = gateway();
    t.upstream.answer({ body: [openaiStream()[0] as string, { hangs: true }] });
    const form = new FormData();
    for (const [name, value] of Object.entries({ file: file(), model: 'openai/gpt-4o-transcribe', stream: 'true' }))
      form.append(name, value);
    const headers = { authorization: `Bearer ${testKey}` };
    const response = await t.run(
      t.gateway.fetch('http://gateway.test/v1/audio/transcriptions', { method: 'POST', headers, body: form }),
    );
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await t.run(reader.read());
    await t.run(reader.cancel());
    expect(t.upstream.sent[0]?.closedAtMs).not.toBeNull();
    expect(t.records[0]).toMatchObject({ outcome: 'cancelled' });
  });
});

describe('POST /audio/translations', () => {
  it('translates with models that can', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofWhisper });
    const { json } = await post(t, '/audio/translations', { model: 'groq/whisper', prompt: 'x' });
    expect(json.text).toBe(said);
    expect(t.upstream.sent[0]?.url).toBe('https://api.groq.com/openai/v1/audio/translations');
    for (const model of ['groq/whisper-turbo', 'openai/gpt-4o-transcribe', 'mistral/voxtral']) {
      const refused = await post(t, '/audio/translations', { model });
      expect([refused.status, refused.json.error.message]).toEqual([400, expect.stringContaining('translate')]);
    }
  });
});

describe('budgets and transcripts', () => {
  it('hold the length of the file before it leaves', async () => {
    const t = gateway();
    await t.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.0005 });
    const long = await transcribe(t, { model: 'openai/whisper-1', file: file('a.wav', wav(60)) });
    expect([long.status, t.upstream.sent.length]).toEqual([402, 0]);
    t.upstream.answer({ body: ofWhisper });
    expect((await transcribe(t, { model: 'openai/whisper-1' })).status).toBe(200);
  });
});

describe('the client library of OpenAI', () => {
  const client = (t: Test) =>
    new OpenAI({ apiKey: testKey, baseURL: 'http://gateway.test/v1', fetch: t.gateway.fetch as never, maxRetries: 0 });
  it('transcribes and translates', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofOpenAi }, { body: openaiStream() }, { body: verbose }, { body: ofWhisper });
    const { audio } = client(t);
    const made = await t.run(audio.transcriptions.create({ file: file(), model: 'openai/gpt-4o-transcribe' }));
    expect([made.text, made.usage?.type]).toEqual([said, 'tokens']);
    const stream = await t.run(
      audio.transcriptions.create({ file: file(), model: 'openai/gpt-4o-transcribe', stream: true }),
    );
    const events: string[] = [];
    for await (const event of stream) events.push(event.type);
    expect(events.at(-1)).toBe('transcript.text.done');
    const srt = await t.run(
      audio.transcriptions.create({ file: file(), model: 'openai/whisper-1', response_format: 'srt' }),
    );
    expect(srt).toContain('00:00:01,500 --> 00:00:03,250');
    const translated = await t.run(audio.translations.create({ file: file(), model: 'openai/whisper-1' }));
    expect(translated.text).toBe(said);
  });
});

describe('models that hear and speak', () => {
  const asCaller = { authorization: `Bearer ${testKey}` };
  it('are listed by what they make, and are not for chat', async () => {
    const t = gateway();
    const listed = async (kind: string) => {
      const { json } = await t.call('GET', `/models?output_modalities=${kind}`, undefined, asCaller);
      return json.data.map(({ id }: { id: string }) => id);
    };
    expect(await listed('transcription')).toContain('openai/whisper-1');
    expect(await listed('speech')).toEqual([]);
    const chat = { model: 'openai/whisper-1', messages: [{ role: 'user', content: 'Hi' }] };
    const { status, json } = await t.call('POST', '/chat/completions', chat, asCaller);
    expect([status, JSON.stringify(json)]).toEqual([404, expect.stringContaining('"filter":"task"')]);
  });

  it('are found by their names where nothing else is known of them, and cost what the list says', async () => {
    const t = gateway({ models: [] });
    t.upstream.always({ body: ofWhisper });
    const { status, json, text } = await transcribe(t, { model: 'openai/whisper-1' });
    expect(status, text).toBe(200);
    expect([json.usage.cost, json.usage.seconds]).toEqual([0.0003, 3]);
    const unlisted = await transcribe(t, { model: 'openai/acme-transcribe' });
    expect(unlisted.status, unlisted.text).toBe(200);
    expect(unlisted.json.usage.cost).toBe(undefined);
    const refused = await t.call('POST', '/audio/speech', { model: 'openai/whisper-1', input: 'x' }, asCaller);
    expect(refused.status).toBe(404);
  });

  it.each(['AAAAA', 'AAA==', 'AAAA AAAA', 'AAAA\n', 'data:audio/wav;base64,AAAA', ''])(
    'are refused where the sound is no base64: %j',
    async (data) => {
      const t = gateway();
      const body = { model: 'openai/whisper-1', input_audio: { data, format: 'wav' } };
      const { status, json } = await t.call('POST', '/audio/transcriptions', body, asCaller);
      expect([status, json.error.message.startsWith('input_audio.data:')]).toEqual([400, true]);
      expect(t.upstream.sent).toEqual([]);
    },
  );

  it('are explained without a call: the length of the sound is what would be held', async () => {
    const t = gateway();
    for (const [path, fields] of [
      [
        '/audio/transcriptions/explain',
        { model: 'openai/whisper-1', timestamp_granularities: ['word'], response_format: 'verbose_json' },
      ],
      ['/audio/translations/explain', { model: 'openai/whisper-1' }],
    ] as const) {
      const { status, json } = await post(t, path, fields as never);
      // Three seconds, and one for rounding.
      expect([status, json?.data.candidates[0].ceiling_usd]).toEqual([200, 0.0004]);
    }
    const refused = await post(t, '/audio/translations/explain', { model: 'openai/gpt-4o-transcribe' });
    expect([refused.status, refused.json?.data.candidates, refused.json?.data.error.code]).toEqual([200, [], 400]);
    expect(t.upstream.sent).toEqual([]);
  });

  it('are sold by a key of the workspace itself, which counts against no budget', async () => {
    const t = gateway({ secrets: { current: 'a-master-key-of-32-characters-xx' } } as never);
    const made = await t.call('POST', '/byok', { provider: 'openai', key: 'sk-own-0123456789' });
    expect(made.status).toBe(201);
    await t.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.000_001 });
    t.upstream.answer({ body: ofWhisper });
    const { status, json } = await transcribe(t, { model: 'openai/whisper-1' });
    expect([status, json.usage.is_byok]).toEqual([200, true]);
    expect(t.upstream.sent[0]?.headers.authorization).toBe('Bearer sk-own-0123456789');
  });

  it('are held to what a request says of data', async () => {
    const t = gateway();
    const body = { model: 'openai/whisper-1', input_audio: { data: 'AAAA', format: 'mp3' }, provider: { zdr: true } };
    expect((await t.call('POST', '/audio/transcriptions', body, asCaller)).status).toBe(404);
  });
});
