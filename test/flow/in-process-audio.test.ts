import { createReadStream } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { createGateway } from '../../src/index.ts';
import type { TranscriptionEvent, TranscriptionResult } from '../../src/schema/audio/transcription-result.ts';
import { wav } from '../support/audio.ts';

const model = 'sandbox/whisper';
const heard = 'The sandbox has heard 3 seconds of sound, and understood nothing.';

function gateway() {
  return createGateway({ apiKeys: [{ key: 'sk-a-key-of-a-caller' }], providers: { sandbox: {} } });
}

describe('gateway.audio', () => {
  it('speaks, as bytes and as events', async () => {
    const { audio } = gateway();
    const made = await audio.speech.create({
      model: 'sandbox/speech',
      input: 'A text of 28 characters long.',
      voice: 'x',
    });
    expectTypeOf(made).toEqualTypeOf<Response>();
    expect([made.headers.get('content-type'), made.headers.get('x-generation-id')]).toEqual([
      'audio/mpeg',
      expect.stringMatching(/^gen-/),
    ]);
    expect((await made.bytes()).subarray(0, 2)).toEqual(Uint8Array.of(0xff, 0xf3));
    const events = await audio.speech.create({ model: 'sandbox/speech', input: 'A text', stream_format: 'sse' });
    expect(await events.text()).toContain('speech.audio.done');
  });

  it('hears files of every kind that clients take', async () => {
    const { audio } = gateway();
    const folder = await mkdtemp(join(tmpdir(), 'audio-'));
    const path = join(folder, 'a.wav');
    await writeFile(path, wav(3));
    const bytes = new Uint8Array(wav(3));
    for (const file of [
      new File([bytes], 'a.wav'),
      new Blob([bytes]),
      bytes,
      bytes.buffer,
      new Response(bytes),
      createReadStream(path),
    ]) {
      const made = await audio.transcriptions.create({ model, file });
      expectTypeOf(made).toEqualTypeOf<TranscriptionResult>();
      expect(made).toMatchObject({ text: heard, usage: { type: 'duration', seconds: 3, cost: 0.0003 } });
    }
    const inJson = await audio.transcriptions.create({
      model,
      input_audio: { data: wav(3).toString('base64'), format: 'wav' },
    });
    expect(inJson.text).toBe(heard);
  });

  it('hears a file that comes in very small pieces', async () => {
    async function* pieces() {
      const bytes = wav(10);
      for (let at = 0; at < bytes.length; at += 2) yield Uint8Array.from(bytes.subarray(at, at + 2));
    }
    const made = await gateway().audio.transcriptions.create({ model, file: pieces() });
    expect(made.text).toContain('10 seconds');
  });

  it('gives texts, streams and translations', async () => {
    const { audio } = gateway();
    const file = new Uint8Array(wav(3));
    const srt = await audio.transcriptions.create({ model, file, response_format: 'srt' });
    expectTypeOf(srt).toEqualTypeOf<string>();
    expect(srt).toContain('00:00:01,000 --> 00:00:02,000');
    const events: TranscriptionEvent[] = [];
    for await (const event of await audio.transcriptions.create({ model, file, stream: true })) events.push(event);
    expect(events.map(({ type }) => type)).toEqual([
      ...new Array(3).fill('transcript.text.delta'),
      'transcript.text.done',
    ]);
    expect((await audio.translations.create({ model, file, response_format: 'verbose_json' })).segments).toHaveLength(
      3,
    );
  });

  it('refuses in the words of the interface, and knows its callers', async () => {
    const g = gateway();
    await expect(g.audio.transcriptions.create({ model, file: 'a text' as never })).rejects.toMatchObject({
      status: 400,
    });
    await expect(g.audio.transcriptions.create({ model })).rejects.toMatchObject({ status: 400 });
    const caller = g.as({ permissions: ['management'], workspaceId: 'default' } as never);
    await expect(caller.audio.speech.create({ model: 'sandbox/speech', input: 'x' })).rejects.toMatchObject({
      status: 403,
    });
    const aborted = AbortSignal.abort(new Error('gone'));
    await expect(g.audio.speech.create({ model: 'sandbox/speech', input: 'x' }, { signal: aborted })).rejects.toThrow(
      'gone',
    );
  });

  it.each(['unreachable', 'rate-limited', 'error-in-200', 'html', 'empty'])(
    'fails as the sandbox does: %s',
    async (name) => {
      const { audio } = createGateway({
        apiKeys: [{ key: 'sk-a-key-of-a-caller' }],
        providers: { sandbox: {} },
        retry: { maxAttempts: 1 },
      });
      const file = new Uint8Array(wav(1));
      await expect(audio.transcriptions.create({ model: `sandbox/${name}`, file })).rejects.toMatchObject({
        name: 'GatewayError',
      });
      await expect(audio.speech.create({ model: `sandbox/${name}`, input: 'x' })).rejects.toMatchObject({
        name: 'GatewayError',
      });
    },
  );
});
