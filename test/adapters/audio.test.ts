import { createReadStream } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenAI } from '@ai-sdk/openai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../src/index.ts';
import type { Host } from '../contract/adapters/suite.ts';
import { wav } from '../support/audio.ts';
import { edgeHosts, otherHosts } from './edge-hosts.ts';

const apiKey = 'sk-test-inference';
const heard = 'The sandbox has heard 3 seconds of sound, and understood nothing.';

const hosts: typeof edgeHosts = { ...edgeHosts, ...otherHosts };

describe.each(Object.entries(hosts))('the audio of %s', (_, start) => {
  let host: Host;
  let gateway: Gateway;
  let path: string;
  beforeAll(async () => {
    gateway = createGateway({ providers: { sandbox: {} }, apiKeys: [{ key: apiKey }] });
    host = await start(gateway);
    path = join(await mkdtemp(join(tmpdir(), 'audio-')), 'speech.wav');
    await writeFile(path, wav(3));
  });
  afterAll(async () => {
    await host.close();
    await gateway.close();
  });

  it('serves the client library of OpenAI', async () => {
    const { audio } = new OpenAI({ apiKey, baseURL: host.baseUrl, maxRetries: 0 });
    const file = () => createReadStream(path);
    const made = await audio.transcriptions.create({ model: 'sandbox/whisper', file: file(), temperature: 0.5 });
    expect(made.text).toBe(heard);
    const verbose = await audio.transcriptions.create({
      model: 'sandbox/whisper',
      file: file(),
      response_format: 'verbose_json',
      timestamp_granularities: ['segment'],
    });
    expect(verbose.segments).toHaveLength(3);
    const types: string[] = [];
    for await (const { type } of await audio.transcriptions.create({
      model: 'sandbox/whisper',
      file: file(),
      stream: true,
    }))
      types.push(type);
    expect(types.at(-1)).toBe('transcript.text.done');
    expect(
      await audio.translations.create({ model: 'sandbox/whisper', file: file(), response_format: 'vtt' }),
    ).toContain('WEBVTT');
    const speech = await audio.speech.create({
      model: 'sandbox/speech',
      voice: 'alloy',
      input: 'Some words that take a while. '.repeat(20),
      response_format: 'wav',
    });
    expect(speech.headers.get('content-type')).toBe('audio/wav');
    expect(speech.headers.get('content-encoding')).toBeNull();
    const bytes = Buffer.from(await speech.arrayBuffer());
    expect([bytes.subarray(0, 4).toString(), bytes.readUInt32LE(40)]).toEqual(['RIFF', bytes.length - 44]);
  });

  it('serves the provider of OpenAI for the AI SDK, as experimental_transcribe and experimental_generateSpeech call it', async () => {
    const openai = createOpenAI({ apiKey, baseURL: host.baseUrl });
    const transcript = await openai.transcription('sandbox/whisper').doGenerate({
      audio: new Uint8Array(wav(3)),
      mediaType: 'audio/wav',
    });
    expect(transcript.text).toBe(heard);
    const { audio } = await openai.speech('sandbox/speech').doGenerate({ text: 'Hello', voice: 'alloy' });
    expect((audio as Uint8Array).length).toBeGreaterThan(1_000);
  });
});
