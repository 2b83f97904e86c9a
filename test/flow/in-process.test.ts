import { describe, expect, it } from 'vitest';
import { chatRequest, hello, nextTurn, testGateway } from '../support/gateway.ts';
import { chunk, sse } from '../support/upstream.ts';

const begun = sse(chunk({ role: 'assistant', content: 'Hi' }));
const body = { model: 'acme/fast', messages: hello };

/** A request whose answer has begun, or hangs, and the controller that leaves it. */
function asked(stream: boolean) {
  const { gateway, upstream, records } = testGateway();
  upstream.always({ body: stream ? [begun, { hangs: true }] : [{ hangs: true }] });
  const client = new AbortController();
  return { gateway, upstream, records, client, request: chatRequest({ ...body, stream }, {}, client.signal) };
}

describe('gateway.fetch as the fetch of a client: an abort looks as it does over a network', () => {
  it.each([undefined, new Error('enough')])('rejects before there is an answer (reason: %s)', async (reason) => {
    const { gateway, upstream, records, client, request } = asked(false);
    const answer = gateway.fetch(request);
    await nextTurn();
    expect(upstream.sent).toHaveLength(1);
    client.abort(reason);
    const error = await answer.catch((thrown: unknown) => thrown);
    expect(error).toBe(request.signal.reason);
    expect(error).toEqual(reason ?? expect.objectContaining({ name: 'AbortError' }));
    expect([upstream.sent[0]?.closedAtMs, records[0]?.outcome]).toEqual([expect.any(Number), 'cancelled']);
  });
  it('rejects at once when it was aborted before', async () => {
    const { gateway, upstream, client, request } = asked(false);
    client.abort();
    await expect(gateway.fetch(request)).rejects.toMatchObject({ name: 'AbortError' });
    expect(upstream.sent).toEqual([]);
  });
  it.each([
    ['while the client waits for more', true],
    ['before it reads on', false],
  ])('breaks a stream, which never ends as if it were whole: %s', async (_, waits) => {
    const { gateway, upstream, records, client, request } = asked(true);
    const reader = (await gateway.fetch(request)).body?.getReader();
    await reader?.read();
    const waiting = waits ? reader?.read() : undefined;
    client.abort();
    await expect(waiting ?? reader?.read()).rejects.toBe(request.signal.reason);
    await expect(reader?.read()).rejects.toBe(request.signal.reason);
    expect([upstream.sent[0]?.closedAtMs, records[0]?.outcome]).toEqual([expect.any(Number), 'cancelled']);
    expect(records).toHaveLength(1);
  });
});
