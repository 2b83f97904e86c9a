import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { adts, flac, mp3, ogg, wav, webm } from '../support/audio.ts';
import { testGateway, testKey, upstreamKeys } from '../support/gateway.ts';
import { runs } from '../support/runs.ts';
import { eventOf } from '../support/transcripts.ts';
import type { ScriptedAnswer } from '../support/upstream.ts';

const providers = {
  up: { baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up, quirks: { transcriptions: { leastSeconds: 10 } } },
  alt: { baseUrl: 'https://alt.test/v1', apiKey: upstreamKeys.alt },
};
const priceOf = (sold: string) =>
  ({
    second: { prompt: '0', second: '0.000001' },
    character: { prompt: '0', character: '0.000001' },
    token: { prompt: '0.000001', completion: '0.000002', audio: '0.000003', audioOutput: '0.000004' },
  })[sold];

function gateway(sold: string) {
  const endpoints = ['up', 'alt'].map((provider) => ({ provider, model: 'm', pricing: priceOf(sold) }));
  const tasks = ['speech', 'transcriptions'];
  return testGateway({
    providers,
    models: [{ slug: 'a/m', order: 'listed', endpoints: endpoints.map((one) => ({ ...one, tasks })) }],
    retry: { maxAttempts: 3, attemptsPerEndpoint: 2 },
  } as unknown as Partial<GatewayOptions>);
}

/** A file, and its true length. */
const file = fc
  .integer({ min: 1, max: 400 })
  .chain((frames) =>
    fc.constantFrom<readonly [Uint8Array, number]>(
      [wav(frames / 20), frames / 20],
      [wav(frames / 20, { said: 2 }), frames / 20],
      [mp3(frames, { index: 9, xing: 1 }), (frames * 1152) / 44_100],
      [adts(frames), (frames * 1024) / 16_000],
      [flac(frames, { said: 1 }), (frames * 4096) / 16_000],
      [ogg(frames, { granule: 1 }), frames / 50],
      [webm(frames, { duration: 1 }), frames / 50],
    ),
  );
const behaviours = ['honest', 'silent', 'inflated', 'error', 'broken', 'refusal', 'nothing', 'cut'] as const;
const script = fc.array(fc.constantFrom(...behaviours), { minLength: 1, maxLength: 4 });
type Behaviour = (typeof behaviours)[number];

/** @param trueNano  of one request that is done; the answer of a behaviour by what is asked */
async function checked(
  t: ReturnType<typeof gateway>,
  path: string,
  request: { headers: Record<string, string>; body: BodyInit },
  list: readonly Behaviour[],
  trueNano: (host: string) => number,
  answers: (behaviour: Behaviour) => ScriptedAnswer,
  leaves: boolean,
): Promise<void> {
  await t.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 50 });
  let bill = 0;
  let asked = 0;
  const real = t.upstream.transport.send.bind(t.upstream.transport);
  t.upstream.transport.send = async (sent) => {
    const behaviour = list[asked++ % list.length] as Behaviour;
    if (behaviour === 'error') t.upstream.answer({ status: 500, body: {} });
    else if (behaviour === 'refusal') t.upstream.answer({ status: 400, body: {} });
    else if (behaviour === 'nothing') t.upstream.answer({ instead: 'refuse' });
    else {
      bill += trueNano(sent.url);
      t.upstream.answer(answers(behaviour));
    }
    return real(sent);
  };
  const controller = new AbortController();
  const pending = t.gateway.fetch(
    new Request(`http://gateway.test/v1${path}`, { method: 'POST', ...request, signal: controller.signal }),
  );
  if (leaves) controller.abort();
  await t.run(pending.then((response) => response.arrayBuffer()).catch(() => undefined));
  await t.gateway.flush();
  const record = t.records.at(-1);
  if (record === undefined) return;
  expect(record.costNanoUsd ?? 0).toBeGreaterThanOrEqual(Math.floor(bill));
  expect(record.overrunNanoUsd).toBe(0);
  const { json } = await t.call('GET', '/workspaces/default/budgets');
  expect(JSON.stringify(json)).not.toContain('"held_usd":0.');
}

describe('the money of sound: true bill ≤ booked ≤ held, whatever the provider says', () => {
  it('for transcripts by the second and by the token, complete and streamed', async () => {
    await fc.assert(
      fc.asyncProperty(
        file,
        script,
        fc.constantFrom('second', 'token'),
        fc.boolean(),
        fc.boolean(),
        async ([bytes, seconds], list, sold, isStream, leaves) => {
          const t = gateway(sold);
          const tokens = { input: Math.ceil(seconds * 12) + 1, output: Math.ceil(seconds * 4) + 1 };
          const trueNano = (url: string) =>
            sold === 'second'
              ? Math.max(seconds, url.includes('up.test') ? 10 : 0) * 1_000
              : tokens.input * 3_000 + tokens.output * 2_000;
          const usageOf = (factor: number) =>
            sold === 'second'
              ? { type: 'duration', seconds: Math.ceil(seconds) * factor }
              : {
                  type: 'tokens',
                  input_tokens: tokens.input * factor,
                  input_token_details: { audio_tokens: tokens.input * factor, text_tokens: 0 },
                  output_tokens: tokens.output * factor,
                  total_tokens: 1,
                };
          const form = new FormData();
          form.append('file', new File([bytes as BlobPart], 'a.wav'));
          form.append('model', 'a/m');
          if (isStream) form.append('stream', 'true');
          const request = { headers: { authorization: `Bearer ${testKey}` }, body: form };
          await checked(
            t,
            '/audio/transcriptions',
            request,
            list,
            trueNano,
            (behaviour) => {
              const usage = { honest: usageOf(1), inflated: usageOf(1_000_000) }[behaviour as 'honest'];
              const delta = eventOf({ type: 'transcript.text.delta', delta: 'x' });
              if (behaviour === 'broken') return { body: '{"text":[' };
              if (behaviour === 'cut') return isStream ? { body: [delta, { breaks: true }] } : { body: '{"text":' };
              const whole = { text: 'x', ...(usage === undefined ? {} : { usage }) };
              if (!isStream) return { body: whole };
              return { body: [delta, eventOf({ type: 'transcript.text.done', ...whole })] };
            },
            leaves,
          );
        },
      ),
      { numRuns: runs(60, 600) },
    );
  });

  it('for speech by the character and by the token, as bytes and as events', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ minLength: 1, maxLength: 200, unit: 'grapheme' }),
        fc.string({ maxLength: 20 }),
        script,
        fc.constantFrom('character', 'token'),
        fc.boolean(),
        fc.boolean(),
        async (input, instructions, list, sold, isEvents, leaves) => {
          const t = gateway(sold);
          // Some 14 characters are a second, at 24 kHz with 16 bits, and 20 tokens.
          const seconds = Math.max([...input].length / 14, 0.5);
          const sound = new Uint8Array(Math.ceil(seconds * 24_000) * 2);
          const tokens = { input: Math.ceil([...input].length / 4) + 1, output: Math.ceil(seconds * 20) };
          const trueNano = () =>
            sold === 'character' ? [...input].length * 1_000 : tokens.input * 1_000 + tokens.output * 4_000;
          const body = JSON.stringify({
            model: 'a/m',
            input,
            ...(instructions === '' ? {} : { instructions }),
            response_format: 'pcm',
            stream_format: isEvents ? 'sse' : 'audio',
          });
          const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
          await checked(
            t,
            '/audio/speech',
            { headers, body },
            list,
            trueNano,
            (behaviour) => {
              const factor = behaviour === 'inflated' ? 1_000_000 : 1;
              const usage = { input_tokens: tokens.input * factor, output_tokens: tokens.output * factor };
              const delta = eventOf({ type: 'speech.audio.delta', audio: Buffer.from(sound).toString('base64') });
              if (behaviour === 'broken') return { body: '{"text":[' };
              if (!isEvents) {
                const type = { headers: { 'content-type': 'audio/pcm' } };
                return behaviour === 'cut'
                  ? { ...type, body: [sound.subarray(0, 100), { breaks: true }] }
                  : { ...type, body: [sound] };
              }
              if (behaviour === 'cut') return { body: [delta, { breaks: true }] };
              const done = { type: 'speech.audio.done', ...(behaviour === 'silent' ? {} : { usage }) };
              return { body: [delta, eventOf(done)] };
            },
            leaves,
          );
        },
      ),
      { numRuns: runs(60, 600) },
    );
  });
});
