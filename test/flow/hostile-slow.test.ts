import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Connection, chunk, chunkedHead } from '../contract/transport/raw-server.ts';
import { resultOf, text } from '../support/hostile.ts';
import { type Attack, attack, expectQuiet, networks, timersNow, until } from '../support/hostile-upstream.ts';
import { manualClock } from '../support/manual-clock.ts';
import { readSaidStream } from '../support/recordings.ts';

// Bound by the machine, which may have other things to do.
vi.setConfig({ testTimeout: 30_000 });

const result = JSON.stringify(resultOf());

let current: Attack | null = null;
let timers = 0;

beforeEach(() => {
  timers = timersNow();
});

afterEach(async () => {
  await current?.close();
  current = null;
});

describe.each(networks)('over %s, a slow upstream', (network, options) => {
  /** Writes pieces for as long as there is somebody to read them, and counts them. */
  const trickle = (piece: (at: number) => string) => {
    let count = 0;
    const script = ({ socket }: Connection) => {
      const next = () => {
        if (!socket.destroyed) socket.write(piece(count++), () => setImmediate(next));
      };
      next();
    };
    return { script, count: () => count };
  };

  async function onManualClock(script: (connection: Connection) => void) {
    const clock = manualClock();
    const one = await attack(script, { ...options, clock });
    current = one;
    const arrived = () =>
      until(() => one.server.connections.some(({ requests }) => requests > 0), 'the request has arrived');
    const rest = async () => {
      // After an abort the global fetch connects anew, for nobody.
      await expectQuiet(timers, one.server, network === 'fetch' ? 1 : 0);
      expect(clock.pending).toBe(0);
    };
    return { ...one, clock, arrived, rest };
  }

  it.each([false, true])('that sends no headers is a 524 (stream: %s)', async (wantsStream) => {
    const { clock, post, arrived, rest } = await onManualClock(() => undefined);
    const answered = post({ stream: wantsStream });
    await arrived();
    await clock.advance(wantsStream ? 60_000 : 300_000);
    const { status, text: body } = await answered;
    // A client that waits for a stream has been sent a comment by then.
    if (wantsStream) expect(body).toMatch(/^: SERVICE PROCESSING\n\n.*"code":524/s);
    else expect(status).toBe(524);
    await rest();
  });

  it('that sends its headers byte by byte is a 524', async () => {
    const head = 'HTTP/1.1 200 OK\r\nx: ';
    const { script, count } = trickle((at) => head[at] ?? 'y');
    const { clock, post, arrived, rest } = await onManualClock(script);
    const answered = post();
    await arrived();
    await until(() => count() > 40, 'some bytes of the headers have come');
    await clock.advance(300_000);
    expect((await answered).status).toBe(524);
    await rest();
  });

  it('that sends comments and no event is a 524', async () => {
    const { script, count } = trickle((at) => (at === 0 ? chunkedHead() : chunk(': wait\n\n').toString()));
    const { clock, post, arrived, rest } = await onManualClock(script);
    const answered = post({ stream: true });
    await arrived();
    for (let minute = 0; minute < 30; minute++) {
      const until10 = count() + 10;
      await until(() => count() > until10, 'comments have come');
      await clock.advance(10_000);
    }
    expect((await answered).text).toContain('"code":524');
    await rest();
  });

  it('that stops in the middle of its JSON is a 524', async () => {
    const { clock, post, arrived, rest } = await onManualClock(
      ({ socket }) => void socket.write(`${chunkedHead()}${chunk(result.slice(0, 40))}`),
    );
    const answered = post();
    await arrived();
    await until(() => clock.pending > 1, 'the gateway waits for the rest');
    await clock.advance(120_000);
    expect((await answered).status).toBe(524);
    await rest();
  });

  it('that stops in the middle of its stream has the client told', async () => {
    const { clock, open, rest } = await onManualClock(
      ({ socket }) => void socket.write(`${chunkedHead()}${chunk(text('Hel'))}`),
    );
    const reading = (await open({ stream: true })).text();
    await clock.advance(0);
    await clock.advance(60_000);
    expect(readSaidStream(await reading)).toMatchObject({
      error: expect.stringContaining('60000 ms'),
      choices: { 0: { content: 'Hel', finish: 'error' } },
    });
    await rest();
  });

  it('that sends its JSON byte by byte ends with the time of the whole request', async () => {
    const { script, count } = trickle((at) => (at === 0 ? chunkedHead() : chunk(' ').toString()));
    const { clock, post, arrived, rest } = await onManualClock(script);
    const answered = post();
    await arrived();
    for (let minute = 0; minute < 20; minute++) {
      const enough = count() + 10;
      await until(() => count() > enough || clock.pending === 0, 'more white space has come');
      await clock.advance(30_000);
    }
    expect((await answered).status).toBe(408);
    await rest();
  });

  it('that sends an event byte by byte ends with the time of the whole request, and says so', async () => {
    const { script, count } = trickle((at) =>
      at === 0 ? `${chunkedHead()}${chunk(`${text('Hel')}data: {"`)}` : chunk('x').toString(),
    );
    const { clock, open, rest } = await onManualClock(script);
    const reading = (await open({ stream: true })).text();
    for (let minute = 0; minute < 20; minute++) {
      const enough = count() + 10;
      await until(() => count() > enough || clock.pending === 0, 'more of the event has come');
      await clock.advance(30_000);
    }
    expect(readSaidStream(await reading)).toMatchObject({
      error: expect.stringContaining('time limit'),
      choices: { 0: { content: 'Hel', finish: 'error' } },
    });
    await rest();
  });

  it('that never ends its error body is a failure all the same', async () => {
    const { clock, post, arrived, rest } = await onManualClock(
      ({ socket }) => void socket.write(`HTTP/1.1 500 Bad\r\ntransfer-encoding: chunked\r\n\r\n${chunk('{"error":')}`),
    );
    const answered = post();
    await arrived();
    await clock.advance(0);
    await clock.advance(120_000);
    expect([502, 524]).toContain((await answered).status);
    await rest();
  });
});
