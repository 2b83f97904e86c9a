import { describe, expect, it } from 'vitest';
import { bytesOf, chunkOf, done, event, resultOf, stop, text } from '../support/hostile.ts';
import { piecesOf, type Replay, replayGateway } from '../support/replay.ts';
import { runs } from '../support/runs.ts';

const plainKey = 'sk-proj-Abc123_def456-GHI789';
/** With characters that JSON may escape and URLs do. */
const oddKey = 'AIza+key/with=odd"chars\\and~more==';

const base64 = (key: string, before = '') => Buffer.from(`${before}${key}`).toString('base64');

/** Ways an upstream that means no harm shows the key it was sent. */
const spellings: [name: string, spell: (key: string) => string][] = [
  ['plain', (key) => key],
  ['as the header it came in', (key) => `Authorization: Bearer ${key}`],
  ['in a curl line', (key) => `curl -H 'authorization: Bearer ${key}' https://upstream.invalid`],
  ['twice', (key) => `${key} is not ${key}`],
  ['in base64', (key) => base64(key)],
  ['in base64 behind a user name', (key) => base64(key, 'user:')],
  ['URL-encoded', (key) => `https://upstream.invalid/?key=${encodeURIComponent(key)}`],
];

/** No key, nor a part of it that would help, in any spelling. */
function expectNoKey(shown: string, key: string): void {
  const parts = [
    key,
    key.slice(0, 12),
    key.slice(-12),
    JSON.stringify(key).slice(1, -1),
    encodeURIComponent(key),
    base64(key).slice(0, -6),
  ];
  for (const part of parts) expect(shown.includes(part), `${part} in ${shown.slice(0, 600)}`).toBe(false);
  expect(shown).not.toContain(base64(key, 'user:').slice(8, -6));
}

/** What the gateways below have logged since the last request. */
let lines: unknown[] = [];
const note = (...line: unknown[]) => void lines.push(line);
const logger = { info: note, warn: note, error: note };
const newGateway = (apiKey: string) => replayGateway({ apiKey, logger });
const gateways = new Map([plainKey, oddKey].map((key) => [key, newGateway(key)]));

async function answered(
  key: string,
  body: string,
  { stream = false, status = 200, size = 1e9 } = {},
): Promise<{ status: number; text: string }> {
  lines = [];
  // After these the endpoint is in cooldown.
  const replay = status === 401 || status === 429 ? newGateway(key) : (gateways.get(key) as Replay);
  const answer = await replay.send({ status, pieces: piecesOf(bytesOf(body), size) }, { stream });
  const told = JSON.stringify([replay.lastRecord(), lines], (_, value) =>
    value instanceof Error ? { ...value, message: value.message, stack: value.stack, cause: value.cause } : value,
  );
  expectNoKey(told, key);
  expectNoKey(answer.text, key);
  return answer;
}

describe.each([
  ['a plain key', plainKey],
  ['a key with odd characters', oddKey],
])('%s that the upstream echoes', (_, key) => {
  describe.each(spellings)('%s', (_name, spell) => {
    const shown = spell(key);

    it.each([401, 400, 429, 500])('in an error body of status %i is redacted', async (status) => {
      for (const stream of [false, true]) {
        for (const body of [
          JSON.stringify({ error: { message: `Bad key: ${shown}`, code: shown, type: shown } }),
          JSON.stringify({ error: `Bad key: ${shown}` }),
          JSON.stringify({ detail: `Bad key: ${shown}` }),
          JSON.stringify({ error: { message: `Bad key: ${shown}` } }).replaceAll('/', '\\/'),
          `Bad key: ${shown}`,
          `<html><title>${shown}</title></html>`,
        ]) {
          const answer = await answered(key, body, { stream, status, size: 5 });
          expect(answer.status).toBeGreaterThanOrEqual(400);
        }
      }
    });

    it('at the place where a long error text is cut is redacted', async () => {
      for (let before = 300 - shown.length; before < 520; before += runs(28, 7)) {
        const message = `${'x'.repeat(Math.max(before, 0))}${shown} and so on, and so forth`.padEnd(800, '.');
        await answered(key, JSON.stringify({ error: { message } }), { status: 400 });
        await answered(key, message, { status: 400 });
        await answered(key, JSON.stringify({ error: { message: 'x', code: message.slice(220) } }), { status: 400 });
      }
    });

    it('in an error with a success status is redacted', async () => {
      const body = JSON.stringify({ error: { message: `Bad key: ${shown}`, code: shown } });
      for (const stream of [false, true]) expect((await answered(key, body, { stream })).status).toBe(502);
    });

    it('in a whole answer is redacted', async () => {
      const body = JSON.stringify(
        resultOf(
          { note: shown, system_fingerprint: shown },
          { content: `You said ${shown}`, reasoning_content: shown },
        ),
      );
      for (const stream of [false, true]) {
        for (const spelled of [body, body.replaceAll('/', '\\/')]) {
          const answer = await answered(key, spelled, { stream });
          expect(answer.status).toBe(200);
          expect(answer.text).toContain('[redacted]');
        }
      }
    });

    it('in an event of a stream is redacted, on the passthrough lane too', async () => {
      // The second and third are like the first, so that they would be copied.
      const body =
        text('one') +
        text('two') +
        text(`three ${shown}`) +
        text('four') +
        text(shown) +
        event({ ...chunkOf({ content: 'x' }), note: shown }) +
        stop +
        done;
      for (const spelled of [body, body.replaceAll('/', '\\/')]) {
        for (const size of [1e9, 50]) {
          const answer = await answered(key, spelled, { stream: true, size });
          expect(answer.status).toBe(200);
          expect(answer.text).toContain('three [redacted]'.slice(0, 5));
          expect(answer.text).toContain('four');
        }
      }
    });

    it('in an error event is redacted', async () => {
      const bad = event({ error: { message: `Bad key: ${shown}`, code: shown } });
      expect((await answered(key, bad, { stream: true })).status).toBe(502);
      for (const spelled of [bad, bad.replaceAll('/', '\\/')]) {
        const later = await answered(key, text('one') + spelled, { stream: true });
        expect(later.text).toContain('"finish_reason":"error"');
      }
    });
  });
});
