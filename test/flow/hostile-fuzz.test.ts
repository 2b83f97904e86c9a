import { expect, it, vi } from 'vitest';
import { checkChunks } from '../support/check-chunks.ts';
import { bytesOf, chunkOf, done, event, stop, text, usageEvent, usual } from '../support/hostile.ts';
import { settle } from '../support/manual-clock.ts';
import { readSaidStream } from '../support/recordings.ts';
import { piecesOf, replayGateway } from '../support/replay.ts';
import { runs } from '../support/runs.ts';

// Bound by the machine, which may have other things to do.
vi.setConfig({ testTimeout: 60_000 });

const rounds = Number(process.env.FUZZ_ROUNDS ?? runs(400, 1500));

/** Numbers in [0, 1), the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const tool = (rest: object) => event(chunkOf({ tool_calls: [{ index: 0, ...rest }] }));
const streams = [
  text('Hel') + text('lo') + text(' "w\u00f6rld"\\ \u{1f30d}') + text('!') + stop + usageEvent(usual) + done,
  event(chunkOf({ role: 'assistant', content: '' })) +
    event(chunkOf({ reasoning_content: 'hm' })) +
    event(chunkOf({ reasoning_content: 'ok' })) +
    text('a') +
    text('b') +
    stop +
    done,
  event({ ...chunkOf({ content: 'x' }), obfuscation: 'abc' }).repeat(4) + stop + usageEvent(usual) + done,
  tool({ id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } }) +
    tool({ function: { arguments: '{"a"' } }) +
    tool({ function: { arguments: ':1}' } }) +
    event(chunkOf({}, { finish_reason: 'tool_calls' })) +
    done,
].map((stream) => bytesOf(stream));

/** Pieces of syntax that matter to one reader or another. */
const tokens = [
  '"',
  '\\',
  '\n',
  '\n\n',
  '\r\n',
  '\r',
  'data: ',
  ':',
  '{',
  '}',
  '[',
  ']',
  ',',
  'null',
  '\\u',
  '\\ud83d',
  '"content":"',
  '"finish_reason":"stop"',
  '"index":1',
  '[DONE]',
  '\u0000',
  '@@hole-0@@',
  '"delta":null',
  '"error":{"message":"x"}',
  '1e999',
  '\ufeff',
].map((token) => bytesOf(token));

function damage(stream: Uint8Array, random: () => number): Uint8Array {
  let bytes = stream;
  const place = () => Math.floor(random() * (bytes.length + 1));
  for (let times = 1 + Math.floor(random() * 3); times > 0; times--) {
    const at = place();
    const to = Math.min(bytes.length, at + Math.floor(random() * 40));
    const kind = random();
    const inserted =
      kind < 0.5
        ? (tokens[Math.floor(random() * tokens.length)] as Uint8Array)
        : kind < 0.7
          ? Uint8Array.of(Math.floor(random() * 256))
          : bytes.subarray(place(), at);
    bytes = Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(random() < 0.5 ? at : to)]);
  }
  return bytes;
}

it('damaged streams are read alike by both lanes, end honestly, and never harm the gateway', async () => {
  const random = seeded(Number(process.env.FUZZ_SEED ?? 20_261_121));
  const logged: unknown[] = [];
  const logger = {
    info: () => undefined,
    warn: () => undefined,
    error: (...line: unknown[]) => void logged.push(line),
  };
  const lanes = [replayGateway({ logger }), replayGateway({ lane: 'decoded', logger })];
  const seen = { whole: 0, cut: 0, refused: 0 };
  for (let round = 0; round < rounds; round++) {
    const stream = damage(streams[round % streams.length] as Uint8Array, random);
    const pieces = piecesOf(stream, 1 + Math.floor(random() * 200));
    const told = [];
    for (const lane of lanes) {
      const { status, text: body } = await lane.send({ pieces }, { stream: true });
      const why = `round ${round}: ${JSON.stringify(new TextDecoder().decode(stream))} -> ${body}`;
      expect([200, 502], why).toContain(status);
      // The end of a whole answer is read when the client has it.
      if (!lane.letGo()) await settle();
      expect(lane.letGo(), why).toBe(true);
      if (status === 502) {
        told.push({ status, error: JSON.parse(body).error.message });
        continue;
      }
      checkChunks(body);
      const said = readSaidStream(body);
      expect([said.isDone, said.usageCount], why).toEqual([true, 1]);
      expect(lane.lastRecord().outcome, why).toBe(said.error === null ? 'ok' : 'cut');
      told.push({ status, error: said.error, choices: said.choices, why });
    }
    const [passthrough, decoded] = told.map(({ why: _why, ...rest }) => rest);
    expect(passthrough, told[0]?.why).toEqual(decoded);
    seen[passthrough?.status === 502 ? 'refused' : passthrough?.error ? 'cut' : 'whole']++;
  }
  expect(logged).toEqual([]);
  for (const times of Object.values(seen)) expect(times, JSON.stringify(seen)).toBeGreaterThan(rounds / 100);
});
