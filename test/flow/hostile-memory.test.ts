import { afterEach, describe, expect, it, vi } from 'vitest';
import { answer, type Connection, chunk, chunkedHead, lastChunk } from '../contract/transport/raw-server.ts';
import { done, resultOf, stop, text } from '../support/hostile.ts';
import {
  type Attack,
  attack,
  cooldownWatch,
  expectFreed,
  expectQuiet,
  memoryNow,
  mostBytes,
  networks,
  peakOf,
  timersNow,
  until,
} from '../support/hostile-upstream.ts';
import { payloadsOf, readSaidStream } from '../support/recordings.ts';

// Much of this is bound by the machine, which may have other things to do.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const mebi = 1024 * 1024;
let current: Attack | null = null;
const expectCooldown = cooldownWatch();

afterEach(async () => {
  await current?.close();
  current = null;
});

/** An upstream that writes a head and then, up to a limit, one piece again and again, as fast as it is read. */
async function flooding(head: string | Uint8Array, piece: string | Uint8Array, mostMebi = 1024, options = {}) {
  let written = 0;
  const script = ({ socket }: Connection) => {
    socket.write(head);
    const size = Buffer.byteLength(piece);
    const more = () => {
      while (!socket.destroyed && written < mostMebi * mebi) {
        written += size;
        if (!socket.write(piece)) return void socket.once('drain', more);
      }
      socket.end();
    };
    more();
  };
  current = await attack(script, options);
  return { ...current, writtenMebi: () => written / mebi };
}

const spaces = chunk(' '.repeat(64 * 1024));
const letters = chunk('x'.repeat(64 * 1024));

describe.each(networks)('over %s, a flood', (network, options) => {
  // The global fetch connects anew after a connection it closed.
  const idle = network === 'fetch' ? 1 : 0;

  it.each([
    ['of letters without a newline, before the first event', `${chunkedHead()}${chunk('data: "')}`, letters],
    ['of white space before a stream', chunkedHead(), spaces],
    ['of newlines before a stream', chunkedHead(), chunk('\n'.repeat(64 * 1024))],
    ['inside one event of many data lines', `${chunkedHead()}${chunk('data: [')}`, chunk('data: 1,\n'.repeat(8000))],
    ['of letters after a comment', `${chunkedHead()}${chunk(': x')}`, letters],
  ])('%s ends in a 502 of bounded memory', async (_, head, piece) => {
    const { post, server, writtenMebi } = await flooding(head, piece, 1024, options);
    const { value, peakBytes } = await peakOf(post({ stream: true }));
    expect(value.status, value.text).toBe(502);
    expect(peakBytes).toBeLessThan(mostBytes);
    expect(writtenMebi()).toBeLessThan(300);
    await expectCooldown(server, idle);
  });

  it.each([
    ['of letters', chunk('data: "'), letters],
    ['of data lines', chunk('data: ['), chunk('data: 1,\n'.repeat(8000))],
  ])('%s after the first event ends in an error event, in bounded memory', async (_, head, piece) => {
    const { post, server, writtenMebi } = await flooding(
      `${chunkedHead()}${chunk(text('Hello'))}${head}`,
      piece,
      1024,
      options,
    );
    const { value, peakBytes } = await peakOf(post({ stream: true }));
    expect(value.status).toBe(200);
    expect(readSaidStream(value.text)).toMatchObject({
      error: expect.stringContaining('larger than 8388608 bytes'),
      choices: { 0: { content: 'Hello', finish: 'error' } },
    });
    expect(peakBytes).toBeLessThan(mostBytes);
    expect(writtenMebi()).toBeLessThan(20);
    await expectCooldown(server, idle);
  });

  it.each([
    ['of comments', chunk(`: ${'x'.repeat(1000)}\n\n`.repeat(64))],
    ['of events that say nothing', chunk('data: {"choices":[]}\n\n'.repeat(3000))],
  ])('%s after the first event ends at the limit of the stream, in bounded memory', async (_, piece) => {
    const { post, server, writtenMebi } = await flooding(`${chunkedHead()}${chunk(text('Hello'))}`, piece, 1024, {
      ...options,
      limits: { upstreamStreamBytes: 6 * mebi },
    });
    const { value, peakBytes } = await peakOf(post({ stream: true }));
    expect(readSaidStream(value.text)).toMatchObject({
      error: expect.stringContaining('larger than'),
      choices: { 0: { content: 'Hello', finish: 'error' } },
    });
    expect(peakBytes).toBeLessThan(mostBytes);
    expect(writtenMebi()).toBeLessThan(15);
    await expectCooldown(server, idle);
  });

  it('of JSON ends in a 502 at the limit of a body, in bounded memory', async () => {
    for (const head of [`${chunkedHead()}${chunk('{"choices":"')}`, 'HTTP/1.1 200 OK\r\n\r\n{"choices":"']) {
      const { post, server, writtenMebi, close } = await flooding(
        head,
        head.includes('chunked') ? letters : 'x'.repeat(64 * 1024),
        1024,
        options,
      );
      const { value, peakBytes } = await peakOf(post());
      expect(value.status).toBe(502);
      expect(peakBytes).toBeLessThan(mostBytes);
      expect(writtenMebi()).toBeLessThan(45);
      await expectCooldown(server, idle);
      await close();
    }
  });

  it('of an error text is cut, in bounded memory', async () => {
    const { post, server, writtenMebi } = await flooding(
      `HTTP/1.1 400 Bad\r\ntransfer-encoding: chunked\r\n\r\n${chunk('{"error":{"message":"')}`,
      letters,
      1024,
      options,
    );
    const { value, peakBytes } = await peakOf(post());
    expect(value.status).toBe(400);
    expect(value.text.length).toBeLessThan(1500);
    expect(peakBytes).toBeLessThan(mostBytes);
    expect(writtenMebi()).toBeLessThan(10);
    await expectCooldown(server, idle);
  });

  it('after the sentinel is not read, and its connection is closed', async () => {
    const { post, server, writtenMebi } = await flooding(
      `${chunkedHead()}${chunk(text('Hello') + stop + done)}`,
      chunk(text('more').repeat(100)),
      1024,
      options,
    );
    const { value, peakBytes } = await peakOf(post({ stream: true }));
    expect(readSaidStream(value.text)).toMatchObject({
      error: null,
      isDone: true,
      choices: { 0: { content: 'Hello', finish: 'stop' } },
    });
    expect(payloadsOf(value.text).filter((payload) => payload === '[DONE]').length).toBe(1);
    await expectCooldown(server, idle);
    expect(writtenMebi()).toBeLessThan(20);
    expect(peakBytes).toBeLessThan(mostBytes);
  });
});

describe('a single event', () => {
  it('of 1 MB passes, on either side of a cut', async () => {
    const content = 'é"\n'.repeat(250_000);
    const script = ({ socket }: Connection) =>
      void socket.write(
        `${chunkedHead()}${chunk(text('a') + text(content) + text(content) + stop + done)}${lastChunk}`,
      );
    current = await attack(script);
    const { value } = await peakOf(current.post({ stream: true }));
    expect(readSaidStream(value.text)).toMatchObject({
      error: null,
      choices: { 0: { content: `a${content}${content}` } },
    });
    await expectCooldown(current.server, 1);
  });

  it.each([
    ['first', ''],
    ['later', text('Hello')],
  ])('of 9 MB is refused where it comes %s', async (_, first) => {
    const script = ({ socket }: Connection) =>
      void socket.write(`${chunkedHead()}${chunk(first + text('x'.repeat(9e6)) + stop + done)}${lastChunk}`);
    current = await attack(script);
    const { value, peakBytes } = await peakOf(current.post({ stream: true }));
    if (first === '') expect(value.status).toBe(502);
    else
      expect(readSaidStream(value.text)).toMatchObject({ error: expect.stringContaining('larger than 8388608 bytes') });
    expect(peakBytes).toBeLessThan(mostBytes);
    await expectCooldown(current.server);
  });

  it('is as large as an option allows', async () => {
    const script = ({ socket }: Connection) =>
      void socket.write(`${chunkedHead()}${chunk(text('a') + text('x'.repeat(2000)) + stop + done)}${lastChunk}`);
    current = await attack(script, { limits: { upstreamEventBytes: 1500 } });
    expect(readSaidStream((await current.post({ stream: true })).text).error).toContain('larger than 1500 bytes');
  });
});

describe('hundreds of small attacks', () => {
  it('leave nothing behind', async () => {
    let turn = 0;
    const bodies = [
      Buffer.from('HTTP/1.1 200 OK\r\n\r\n{"cut":'),
      answer('<html>'),
      answer('{}'),
      answer(`${text('a')}data: {`),
      answer(text('a') + stop + done),
      Buffer.from(`${chunkedHead()}zz\r\n`),
      answer(JSON.stringify(resultOf())),
      Buffer.from('junk\r\n\r\n'),
      answer('{"error":1}', {}, '500 Bad'),
    ];
    const attacked = await attack(({ socket }) => void socket.end(bodies[turn++ % bodies.length] as Buffer));
    current = attacked;
    const round = async (times: number) => {
      for (let at = 0; at < times; at++) await attacked.post({ stream: at % 2 === 0 });
      await until(
        () => attacked.server.connections.every(({ socket }) => socket.destroyed),
        'all connections are closed',
      );
      attacked.server.connections.length = 0;
      attacked.records.length = 0;
    };
    await round(100);
    const timers = timersNow();
    const warm = memoryNow();
    await round(400);
    await expectQuiet(timers, attacked.server);
    await expectFreed(warm, 2e6);
  });
});
