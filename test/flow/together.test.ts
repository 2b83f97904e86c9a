import { expect, it, vi } from 'vitest';
import type { ByteSource } from '../../src/base/bytes.ts';
import { streamSource } from '../../src/base/bytes.ts';
import { chatRequest, hello, joined, readStream, testGateway, testKey } from '../support/gateway.ts';
import { completion, errorBody, textStream } from '../support/upstream.ts';

it('keeps requests apart that are served at the same time', async () => {
  const { send, upstream, records } = testGateway();
  const texts = Array.from({ length: 40 }, (_, i) => Array.from({ length: 20 }, (__, j) => `<${i}.${j}>`));
  for (const text of texts)
    upstream.answer({ body: textStream(...text).flatMap((frame) => [frame, { until: Promise.resolve() }]) });
  const answers = await Promise.all(
    texts.map(async () => readStream(await send({ model: 'acme/fast', messages: hello, stream: true }))),
  );
  expect(answers.map(({ chunks }) => joined(chunks).content).sort()).toEqual(texts.map((text) => text.join('')).sort());
  for (const { chunks } of answers) expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  expect(new Set(answers.map(({ chunks }) => chunks[0]?.id)).size).toBe(40);
  expect(records.map(({ id }) => id).sort()).toEqual(answers.map(({ chunks }) => chunks[0]?.id).sort());
});

it('reads and parses a body once', async () => {
  const { gateway, post } = testGateway();
  // The first time, what is built in has to be read.
  await post({ model: 'no/model', messages: hello });
  const parse = vi.spyOn(JSON, 'parse');
  try {
    const request = chatRequest({ model: 'no/model', messages: hello });
    const text = vi.spyOn(request, 'text');
    const response = await gateway.fetch(request);
    expect([response.status, parse.mock.calls.length]).toEqual([400, 1]);
    expect([text.mock.calls.length <= 1, request.bodyUsed]).toEqual([true, true]);
  } finally {
    parse.mockRestore();
  }
});

it('names an error after the completion it belongs to', async () => {
  const { post, upstream, records } = testGateway({ retry: { maxAttempts: 1 } });
  upstream.answer({ status: 500, body: errorBody('No') }, { body: completion() });
  const failed = await post({ model: 'acme/fast', messages: hello });
  const served = await post({ model: 'acme/fast', messages: hello });
  expect(failed.headers.get('x-generation-id')).toBe(records[0]?.id);
  expect(served.headers.get('x-generation-id')).toBe(records[1]?.id);
});

it('gives an adapter the bytes of a stream without a web stream between, the same bytes', async () => {
  const { gateway, upstream, records } = testGateway();
  const ask = () => {
    upstream.answer({ body: textStream('Hel', 'lo') });
    const request = new Request('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/fast', messages: hello, stream: true }),
    });
    // A Response of the platform hides the stream it was made of; a host's own class keeps it.
    let source: ByteSource | undefined;
    class Kept extends Response {
      constructor(body?: BodyInit | null, init?: ResponseInit) {
        super(body, init);
        source = (body as { [streamSource]?: ByteSource } | null)?.[streamSource];
      }
    }
    return gateway.handle(request, { Response: Kept }).then(() => source as unknown as ByteSource);
  };
  const source = await ask();
  let text = '';
  for (let piece = await source.read(); piece !== null; piece = await source.read())
    text += new TextDecoder().decode(piece);
  expect(text).toMatch(/"content":"Hel".*"content":"lo".*\[DONE\]\n\n$/s);
  expect(await source.read()).toBe(null);
  source.cancel();
  expect(records).toMatchObject([{ outcome: 'ok' }]);
  const left = await ask();
  await left.read();
  left.cancel();
  left.cancel();
  expect(records).toMatchObject([{ outcome: 'ok' }, { outcome: 'cancelled', status: 499 }]);
});
