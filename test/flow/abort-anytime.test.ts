import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hello, nextTurn, testGateway } from '../support/gateway.ts';
import { runs } from '../support/runs.ts';
import { chunk, completion, errorBody, type Piece, type ScriptedAnswer, sse } from '../support/upstream.ts';

const ms = fc.constantFrom(0, 1, 50, 500, 3_000, 12_000);

/** Whatever an upstream may do, with pauses. */
const piece: fc.Arbitrary<Piece[]> = fc.oneof(
  ms.map((waitMs): Piece[] => [{ waitMs }]),
  fc.constantFrom<Piece[]>(
    [sse(chunk({ role: 'assistant', content: '' }))],
    [sse(chunk({ content: 'Hello' }))],
    [': comment\n\n'],
  ),
);
const end: fc.Arbitrary<Piece[]> = fc.constantFrom<Piece[]>(
  [sse(chunk({}, 'stop'), '[DONE]')],
  [sse(chunk({}, 'stop')), { hangs: true }],
  [sse({ error: { message: 'Broken' } })],
  [{ breaks: true }],
  [{ hangs: true }],
  [],
);
const answer: fc.Arbitrary<ScriptedAnswer> = fc.oneof(
  fc
    .tuple(ms, fc.array(piece, { maxLength: 5 }), end)
    .map(([afterMs, pieces, last]) => ({ afterMs, body: [...pieces.flat(), ...last] })),
  ms.map((afterMs) => ({ afterMs, body: completion() })),
  fc
    .tuple(ms, fc.constantFrom('0', '2', '20'))
    .map(([afterMs, wait]) => ({ afterMs, status: 429, headers: { 'retry-after': wait }, body: errorBody('Slow') })),
  fc
    .tuple(ms, fc.constantFrom(400, 401, 500, 503))
    .map(([afterMs, status]) => ({ afterMs, status, body: errorBody('No') })),
  fc.constantFrom<ScriptedAnswer>({ instead: 'hang' }, { instead: 'refuse' }),
);

it('a client may leave at any moment in any way: settled once, nothing sent after, nothing left open', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        answers: fc.array(answer, { minLength: 1, maxLength: 4 }),
        stream: fc.boolean(),
        leavesAfterMs: fc.oneof(ms, fc.nat({ max: 40_000 })),
        reads: fc.constantFrom('all', 'one', 'none'),
        how: fc.constantFrom('signal', 'cancel', 'close'),
      }),
      async ({ answers, stream, leavesAfterMs, reads, how }) => {
        const { gateway, send, upstream, clock, records } = testGateway();
        upstream.answer(...answers);
        upstream.always({ instead: 'hang' });
        const client = new AbortController();
        const turns = async () => {
          for (let turn = 0; turn < 4; turn++) await nextTurn();
        };
        let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
        // What the client gets does not matter here, nor that it gets nothing any more.
        const ignore = () => undefined;
        const reading = send({ model: 'acme/pair', messages: hello, stream }, {}, client.signal).then(
          async (response) => {
            reader = response.body?.getReader();
            for (let count = 0; reads === 'all' || (reads === 'one' && count === 0); count++)
              if ((await reader?.read())?.done !== false) break;
          },
        );
        reading.catch(ignore);
        await turns();
        await clock.advance(leavesAfterMs);
        await turns();
        const leftMs = clock.now();
        if (how === 'close') await gateway.close();
        else if (how === 'cancel' && reader) await reader.cancel().catch(ignore);
        else client.abort();
        await turns();
        // A client that does not read learns of the end of the gateway when it reads or leaves.
        if (how === 'close' && reads !== 'all') await reader?.cancel().catch(ignore);
        await turns();
        expect(records).toHaveLength(1);
        // What was spent is counted within a second.
        await clock.advance(1000);
        expect(clock.pending).toBe(0);
        const asked = upstream.sent.length;
        await clock.advance(3_600_000);
        await turns();
        expect(records).toHaveLength(1);
        expect(upstream.sent).toHaveLength(asked);
        for (const sent of upstream.sent)
          expect([sent.isRead || sent.closedAtMs !== null, sent.atMs <= leftMs]).toEqual([true, true]);
      },
    ),
    { numRuns: runs(25, 150) },
  );
}, 60_000);
