import { describe, expect, it } from 'vitest';
import { createGateway } from '../../src/gateway.ts';
import type { RequestRecord } from '../../src/telemetry/record.ts';
import { bytesOf, chunkOf, done, event, resultOf, stop, text, usageEvent, usual } from '../support/hostile.ts';
import { manualClock } from '../support/manual-clock.ts';
import { readSaidStream } from '../support/recordings.ts';
import { replayGateway } from '../support/replay.ts';

/** What the upstream sends, and after how many milliseconds since the piece before; then it neither sends nor ends. */
type Timed = readonly (readonly [afterMs: number, piece: string])[];

function timedGateway(timed: Timed) {
  const clock = manualClock();
  let cancelled = false;
  let record: RequestRecord | null = null;
  const gateway = createGateway({
    providers: { up: { baseUrl: 'http://up.invalid/v1' } },
    apiKeys: [{ key: 'hostile-test-key' }],
    retry: { maxAttempts: 1 },
    clock,
    onRecord: (one) => {
      record = one;
    },
    transport: {
      async send({ signal }) {
        let at = 0;
        const gone = new Promise<null>((resolve) => {
          signal.addEventListener('abort', () => {
            cancelled = true;
            resolve(null);
          });
        });
        const pieceAfter = (ms: number, piece: string) =>
          new Promise<Uint8Array>((resolve) => void clock.after(ms, () => resolve(bytesOf(piece))));
        return {
          status: 200,
          headers: {},
          body: {
            async read() {
              const next = timed[at++];
              const piece = await (next === undefined ? gone : Promise.race([pieceAfter(...next), gone]));
              if (piece === null && signal.aborted) throw signal.reason;
              return piece;
            },
            cancel() {
              cancelled = true;
            },
          },
        };
      },
    },
  });
  return {
    clock,
    wasCancelled: () => cancelled,
    record: () => record as RequestRecord | null,
    async post(stream: boolean) {
      const startedMs = clock.now();
      const response = await clock.until(
        gateway.fetch('http://gateway.test/v1/chat/completions', {
          method: 'POST',
          headers: { authorization: 'Bearer hostile-test-key', 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'up/x', messages: [{ role: 'user', content: 'Hi' }], stream }),
        }),
      );
      const body = await clock.until(response.text());
      return { status: response.status, text: body, tookMs: clock.now() - startedMs };
    },
  };
}

const every = (ms: number, times: number, piece: string): Timed =>
  Array.from({ length: times }, () => [ms, piece] as const);

describe('after every finish_reason', () => {
  it.each([
    ['neither sends nor ends', [[0, text('Hello') + stop]]],
    ['sends comments without end', [[0, text('Hello') + stop], ...every(1000, 600, ': still here\n\n')]],
    ['sends empty chunks without end', [[0, text('Hello') + stop], ...every(1000, 600, event({ choices: [] }))]],
    ['sends half an event, byte by byte', [[0, text('Hello') + stop], ...every(1000, 600, 'd')]],
    [
      'sends empty deltas without end',
      [[0, text('Hello') + stop], ...every(1000, 600, event(chunkOf({ content: '' })))],
    ],
  ] as [string, Timed][])('an upstream that %s has the client waiting for seconds only', async (_, timed) => {
    const { post, wasCancelled, record, clock } = timedGateway(timed);
    const { text: body, tookMs } = await post(true);
    expect(readSaidStream(body)).toMatchObject({
      error: null,
      isDone: true,
      usageCount: 1,
      choices: { 0: { content: 'Hello', finish: 'stop' } },
    });
    expect(tookMs).toBeLessThanOrEqual(6000);
    await clock.advance(2000);
    expect(wasCancelled()).toBe(true);
    expect(record()?.outcome).toBe('ok');
  });

  it('usage that comes a little later is waited for', async () => {
    const { post } = timedGateway([
      [0, text('Hello') + stop],
      [3000, usageEvent(usual)],
    ]);
    const { text: body } = await post(true);
    expect(readSaidStream(body)).toMatchObject({ usage: { total_tokens: 15 }, error: null });
  });

  it('the sentinel ends the stream at once', async () => {
    const { post, wasCancelled, clock } = timedGateway([
      [0, text('Hello')],
      [10, stop + done],
    ]);
    expect((await post(true)).tookMs).toBe(10);
    await clock.advance(1000);
    expect(wasCancelled()).toBe(true);
    expect(clock.pending).toBe(0);
  });
});

it('a stream where JSON was asked is whole with its sentinel, also when the upstream does not end it', async () => {
  const pieces = [...(text('Hello') + stop + usageEvent(usual) + done)].map((piece) => [1, piece] as const);
  for (const timed of [pieces, [[0, pieces.map(([, piece]) => piece).join('')] as const]]) {
    const { post, wasCancelled } = timedGateway(timed);
    const { status, text: body, tookMs } = await post(false);
    expect([status, tookMs]).toEqual([200, expect.closeTo(timed.length, -1)]);
    expect(JSON.parse(body)).toMatchObject({
      choices: [{ message: { content: 'Hello' } }],
      usage: { total_tokens: 15 },
    });
    expect(wasCancelled()).toBe(true);
  }
});

it('JSON that speaks of the sentinel is read to its end', async () => {
  const content = 'A stream ends in\ndata: [DONE]\n\nand no more.';
  const replay = replayGateway();
  const answer = await replay.send({ pieces: [bytesOf(JSON.stringify(resultOf({}, { content })))] }, {});
  expect(JSON.parse(answer.text).choices[0].message.content).toBe(content);
});

describe('what an answer is', () => {
  it.each([1, 63, 64, 65, 100, 1000, 4095, 10_000])(
    'shows after %i bytes of white space in the same piece',
    async (size) => {
      const replay = replayGateway();
      const stream = bytesOf(text('Hello') + stop + usageEvent(usual) + done);
      for (const [body, cut] of [
        [stream, 0],
        [stream, 5],
        [bytesOf(JSON.stringify(resultOf())), 0],
      ] as const) {
        const first = new Uint8Array(size + cut + 20).fill(10);
        first.set(body.subarray(0, cut + 20), size);
        for (const wantsStream of [true, false]) {
          const answer = await replay.send({ pieces: [first, body.subarray(cut + 20)] }, { stream: wantsStream });
          expect([wantsStream, answer.status], answer.text).toEqual([wantsStream, 200]);
          expect(answer.text).toContain('Hello');
        }
      }
    },
  );

  it('shows although its first bytes come one by one', async () => {
    const { post } = timedGateway([
      ...[...'\n\r\n\n\ndata'].map((piece) => [1, piece] as const),
      [1, text('Hello').slice(4)],
      [1, stop + done],
    ]);
    const { text: body } = await post(true);
    expect(body).toContain('[DONE]');
  });
});
