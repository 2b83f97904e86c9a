import { describe, expect, it } from 'vitest';
import { settle } from '../../support/manual-clock.ts';
import { eventsOf, readText, sandboxCall } from '../../support/sandbox-call.ts';

const decoder = new TextDecoder();

/** Sends, and notes when each piece of the body arrives, in milliseconds from the start. */
async function times(model: string, fields: object): Promise<{ headersMs: number; pieces: [number, string][] }> {
  const { clock, send } = sandboxCall();
  const startMs = clock.now();
  const { body } = await clock.until(send(model, fields));
  const headersMs = clock.now() - startMs;
  const pieces: [number, string][] = [];
  for (let bytes = await clock.until(body.read()); bytes; bytes = await clock.until(body.read())) {
    pieces.push([clock.now() - startMs, decoder.decode(bytes)]);
  }
  expect(clock.pending).toBe(0);
  return { headersMs, pieces };
}

describe('the pace of the sandbox', () => {
  it.each<[string, object, number[]]>([
    ['lorem', { max_tokens: 4 }, [20, 30, 40, 50]],
    ['slow', { max_tokens: 3 }, [3_000, 3_200, 3_400]],
    ['echo', { max_tokens: 3, sandbox: { first_token_ms: 7, token_ms: 100 } }, [7, 107, 207]],
    ['echo', { max_tokens: 3, sandbox: { first_token_ms: 0, token_ms: 0 } }, [0]],
  ])('%s %j: headers at once, then each token in its time', async (model, fields, expected) => {
    const { headersMs, pieces } = await times(model, { stream: true, ...fields });
    expect(headersMs).toBe(0);
    expect(pieces.map(([atMs]) => atMs)).toEqual(expected);
    expect(pieces.at(-1)?.[1]).toContain('[DONE]');
  });
  it('gives JSON when the last token would be there', async () => {
    const { headersMs, pieces } = await times('lorem', { max_tokens: 4 });
    expect([headersMs, pieces.length]).toEqual([50, 1]);
  });
  it('delays a failure only when asked', async () => {
    expect((await times('error-500', { sandbox: { first_token_ms: 40 } })).headersMs).toBe(40);
  });
  it('keeps its own time: a slow reader finds what it missed, a fast one waits', async () => {
    const { clock, send } = sandboxCall();
    const { body } = await send('lorem', { stream: true, max_tokens: 4 });
    await clock.advance(35);
    const missed = decoder.decode((await body.read()) ?? undefined);
    expect(eventsOf(missed)).toHaveLength(3);
    const next = body.read();
    expect(clock.nextMs).toBe(clock.now() + 5);
    await clock.advance(5);
    expect(eventsOf(decoder.decode((await next) ?? undefined))).toHaveLength(1);
    body.cancel();
  });
  it('hands out a large burst in bounded pieces', async () => {
    const { pieces } = await times('lorem', {
      stream: true,
      sandbox: { tokens: 1_000, first_token_ms: 0, token_ms: 0 },
    });
    expect(pieces.length).toBeGreaterThan(5);
    expect(Math.max(...pieces.map(([, text]) => text.length))).toBeLessThan(17_000);
  });
  it('stall falls silent after its tokens, and keeps no timer', async () => {
    const { clock, send } = sandboxCall();
    const { body } = await send('stall', { stream: true });
    const reading = readText(body);
    await clock.advance(3_600_000);
    expect(clock.pending).toBe(0);
    body.cancel();
    const text = await reading;
    expect(eventsOf(text)).toHaveLength(6);
    expect(text).not.toMatch(/DONE|"finish_reason":"/);
  });
  it('stall as JSON sends half a body', async () => {
    const { clock, send } = sandboxCall();
    const { body } = await clock.until(send('stall'));
    expect(decoder.decode((await body.read()) ?? undefined)).toMatch(/^\{"id"/);
    const rest = body.read();
    await clock.advance(3_600_000);
    body.cancel();
    expect(await rest).toBeNull();
  });
});

describe('leaving the sandbox', () => {
  const reason = new Error('the client left');

  it.each<[string, object]>([
    ['timeout', {}],
    ['timeout', { stream: true }],
    ['slow', {}],
    ['error-500', { sandbox: { first_token_ms: 1_000 } }],
  ])('%s %j: an abort before the headers rejects at once and stops the timer', async (model, fields) => {
    const { clock, send } = sandboxCall();
    const leaving = new AbortController();
    const sending = send(model, fields, leaving.signal);
    await clock.advance(500);
    leaving.abort(reason);
    await expect(sending).rejects.toBe(reason);
    expect(clock.pending).toBe(0);
  });
  it('an abort before sending rejects', async () => {
    const leaving = new AbortController();
    leaving.abort(reason);
    await expect(sandboxCall().send('echo', {}, leaving.signal)).rejects.toBe(reason);
  });
  it.each(['slow', 'stall', 'lorem'])(
    '%s: an abort in the stream rejects the pending read and every later one',
    async (model) => {
      const { clock, send } = sandboxCall();
      const leaving = new AbortController();
      const { body } = await send(model, { stream: true, sandbox: { tokens: 1 } }, leaving.signal);
      if (model !== 'slow') await clock.until(body.read());
      const pending = model === 'lorem' ? null : body.read();
      pending?.catch(() => {});
      await settle();
      leaving.abort(reason);
      if (pending) await expect(pending).rejects.toBe(reason);
      await expect(body.read()).rejects.toBe(reason);
      expect(clock.pending).toBe(0);
    },
  );
  it('a cancel ends the pending read and stops the timer, however often', async () => {
    const { clock, send } = sandboxCall();
    const { body } = await send('slow', { stream: true });
    const pending = body.read();
    expect(clock.pending).toBe(1);
    body.cancel();
    body.cancel();
    expect(clock.pending).toBe(0);
    expect(await pending).toBeNull();
    expect(await body.read()).toBeNull();
  });
  it('a finished body leaves nothing on the signal', async () => {
    const leaving = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = leaving.signal;
    leaving.signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners += 1;
      addEventListener.apply(leaving.signal, args);
    };
    leaving.signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners -= 1;
      removeEventListener.apply(leaving.signal, args);
    };
    const { clock, send } = sandboxCall();
    for (const stream of [true, false]) {
      const { body } = await clock.until(send('echo', { stream }, leaving.signal));
      expect(listeners).toBe(1);
      await clock.until(readText(body));
      expect(listeners).toBe(0);
    }
  });
});
