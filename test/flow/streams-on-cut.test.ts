import { describe, expect, it } from 'vitest';
import { chatRequest, hello, testGateway } from '../support/gateway.ts';
import { chunk, errorBody, sse } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello, stream: true };
const cut = [sse(chunk({ content: 'Hi' })), { breaks: true } as const];

/** What came of a body, and how it ended. */
async function readAll(response: Response): Promise<{ text: string; error: unknown }> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const bytes of response.body as ReadableStream<Uint8Array>) text += decoder.decode(bytes);
    return { text, error: null };
  } catch (error) {
    return { text, error };
  }
}

describe('a stream that breaks after its first event', () => {
  it('ends with an error event that agents recognise as worth another try', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: cut });
    expect((await post(ask)).chunks.at(-1)).toMatchObject({
      error: { code: 502, type: 'server_error', message: expect.stringMatching(/^Provider returned error: /) },
      choices: [{ finish_reason: 'error' }],
    });
  });
  it('close a cut stream without a clean end where `streams.onCut` says so', async () => {
    const { gateway, upstream, records, run } = testGateway({ streams: { onCut: 'close' } });
    upstream.answer({ body: cut });
    const response = await run(gateway.fetch(chatRequest(ask)));
    const { text, error } = await run(readAll(response));
    expect(text).toContain('"content":"Hi"');
    expect(text).not.toMatch(/error|\[DONE\]/);
    expect(error).toMatchObject({ status: 502 });
    expect(records).toMatchObject([{ outcome: 'cut', status: 502, error: { type: 'provider_unavailable' } }]);
  });
  it('closes also a stream that was only opened with a comment', async () => {
    const { gateway, upstream, run } = testGateway({ streams: { onCut: 'close' } });
    upstream.always({ afterMs: 15_000, status: 400, body: errorBody('No') });
    const response = await run(gateway.fetch(chatRequest(ask)));
    const { text, error } = await run(readAll(response));
    expect(text).toMatch(/^: /);
    expect(text).not.toContain('data:');
    expect(error).toMatchObject({ status: 400 });
  });
});
