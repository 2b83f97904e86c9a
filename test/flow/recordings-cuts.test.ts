import { afterAll, expect, it, vi } from 'vitest';
import { checkChunks } from '../support/check-chunks.ts';
import { expectedOf, loadRecordings, readSaidStream } from '../support/recordings.ts';
import { describeWithShared } from '../support/reference.ts';
import { piecesOf, replayGateway } from '../support/replay.ts';
import { isLongRun, runs } from '../support/runs.ts';

/**
 * A replay is cut at every so many bytes, each replay one byte further: so each place is a cut once, and the cuts of
 * one replay are several events apart. `npm test` leaves out most of these replays.
 */
const bytesBetweenCuts = (streamBytes: number) => (streamBytes > 20_000 ? 500 : 1000);
/** Odd: every second place of a cut would miss half of the two-byte line endings. */
const bytesBetweenReplays = runs(13, 1);

// Bound by the machine, which may have other things to do.
vi.setConfig({ testTimeout: 60_000 });

describeWithShared('recorded streams, cut between any two bytes', () => {
  const streams = loadRecordings('openai-chat').filter(({ isStream }) => isStream);
  const replay = replayGateway();
  const bytes = streams.reduce((sum, { body }) => sum + body.length, 0);
  let cuts = 0;
  let differing = 0;

  it.each(streams.map((one) => [one.name, one] as const))('%s says the same', async (_, { body }) => {
    const theirs = readSaidStream(new TextDecoder().decode(body));
    const { text: uncut } = await replay.send({ pieces: [body] }, { stream: true });
    const check = async (pieces: Uint8Array[], why: string) => {
      const answer = await replay.send({ pieces }, { stream: true });
      // The very same bytes need no second look.
      if (answer.status === 200 && answer.text === uncut) return;
      differing++;
      expect([why, answer.status], answer.text).toEqual([why, 200]);
      const ours = readSaidStream(answer.text);
      expect([why, ours.isDone, ours.usageCount, ours.error]).toEqual([why, true, 1, theirs.error]);
      const expected = expectedOf(theirs);
      if (theirs.error !== null) for (const choice of Object.values(expected)) choice.finish = 'error';
      expect([why, ours.choices]).toEqual([why, expected]);
      checkChunks(answer.text);
    };
    const distance = Math.min(bytesBetweenCuts(body.length), body.length);
    for (let first = 1; first <= distance; first += bytesBetweenReplays) {
      const pieces = [body.subarray(0, first), ...piecesOf(body.subarray(first), distance)];
      cuts += pieces.length - 1;
      await check(pieces, `cut at ${first} and every ${distance} bytes from there`);
    }
    for (const size of runs([7], [1, 7, 64])) await check(piecesOf(body, size), `in pieces of ${size}`);
  });

  afterAll(() => {
    console.log(
      `recordings: ${streams.length} streams cut at ${cuts} places; ${differing} answers were written differently, and read`,
    );
    if (isLongRun) {
      // Their last byte is not a place to cut at.
      expect(cuts).toBe(bytes - streams.length);
      expect(cuts).toBeGreaterThan(500_000);
    }
    expect(cuts).toBeGreaterThan(40_000);
  });
});
