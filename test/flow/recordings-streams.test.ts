import { beforeAll, expect, it, vi } from 'vitest';
import { checkChunks } from '../support/check-chunks.ts';
import {
  expectedOf,
  loadRecordings,
  type Recording,
  readSaidStream,
  readSaidWhole,
  type Said,
} from '../support/recordings.ts';
import { describeWithShared, validateAgainstReference } from '../support/reference.ts';
import { piecesOf, replayGateway } from '../support/replay.ts';
import { runs } from '../support/runs.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Ways to write the same stream that a reader of event streams has to take. */
const spellings: [name: string, respell: (text: string) => string][] = [
  ['as recorded', (text) => text],
  ['with CRLF', (text) => text.replaceAll('\n', '\r\n')],
  ['with CR', (text) => text.replaceAll('\n', '\r')],
  ['behind a byte-order mark', (text) => `\ufeff${text}`],
  ['behind white space', (text) => `\n\n\r\n${text}`],
  ['with comments between', (text) => text.replaceAll('\n\n', '\n\n: comment {"choices":1}\n\n:\n\n')],
  ['with comments inside the events', (text) => text.replaceAll('data: ', ': PING\ndata: ')],
  ['with names, ids and retry', (text) => text.replaceAll('data: ', 'event: message\nid: 7\nretry: 100\ndata: ')],
  ['without the space', (text) => text.replaceAll('data: ', 'data:')],
  ['on several data lines', (text) => text.replaceAll(',"choices":', ',\ndata: "choices":')],
  ['without the last line ending', (text) => text.trimEnd()],
  ['without the sentinel', (text) => text.replace(/data: \[DONE\]\s*$/, '')],
];

// Bound by the machine, which may have other things to do.
vi.setConfig({ testTimeout: 60_000 });

describeWithShared('recorded streams', () => {
  const streams = loadRecordings('openai-chat').filter(({ isStream }) => isStream);
  const cases = streams.map((one) => [one.name, one] as const);
  const passthrough = replayGateway();
  const decoded = replayGateway({ lane: 'decoded' });
  let events = 0;

  beforeAll(() => {
    expect(streams.length).toBeGreaterThanOrEqual(30);
  });

  it.each(cases)('%s says the same through the gateway, on either lane', async (_, recording) => {
    const theirs = readSaidStream(decoder.decode(recording.body));
    const texts = [];
    for (const replay of [passthrough, decoded]) {
      const answer = await replay.send(answerOf(recording), { stream: true });
      expect(answer.status).toBe(200);
      checkChunks(answer.text);
      compare(readSaidStream(answer.text), theirs);
      expect(replay.lastRecord().outcome).toBe(theirs.error === null ? 'ok' : 'cut');
      texts.push(answer.text);
    }
    // Not only the same meaning: a client can't tell the lanes apart, but for usage that had to be estimated.
    const [one, other] = texts.map((text) =>
      passthrough.lastRecord().isEstimated ? text.replace(/"usage":.*/, '') : text,
    );
    expect(one).toBe(other);
  });

  it.each(cases)('%s says the same however it is written', async (_, recording) => {
    const text = decoder.decode(recording.body);
    const theirs = readSaidStream(text);
    const asRecorded = (await passthrough.send(answerOf(recording), { stream: true })).text;
    for (const [name, respell] of spellings) {
      const body = encoder.encode(respell(text));
      for (const pieces of [
        [body],
        ...(body.length > 20_000 ? runs([64], [64, 1000]) : runs([7], [1, 7, 64])).map((size) => piecesOf(body, size)),
      ]) {
        const answer = await passthrough.send({ pieces }, { stream: true });
        expect([name, pieces[0]?.length, answer.status], answer.text).toEqual([name, pieces[0]?.length, 200]);
        // Another choice of lanes may have estimated another usage; else nothing differs.
        if (answer.text === asRecorded) continue;
        compare(readSaidStream(answer.text), theirs, name);
        checkChunks(answer.text);
      }
    }
  });

  it.each(cases)('%s is never called whole when it was cut', async (_, recording) => {
    const ends = eventEnds(recording.body);
    events += ends.length;
    const everyNth = Math.ceil(ends.length / runs(25, 100));
    for (const [at, end] of [0, ...ends].entries()) {
      if (at % everyNth !== 0 && at < ends.length - 5) continue;
      for (const cut of [end, end + 9]) {
        const part = recording.body.subarray(0, cut);
        const answer = await passthrough.send({ pieces: part.length === 0 ? [] : [part] }, { stream: true });
        checkCut(answer, readCut(part), `cut at ${cut}`);
      }
    }
  });

  it.each(cases)('%s becomes a whole answer where one was asked', async (_, recording) => {
    const text = decoder.decode(recording.body);
    const theirs = readSaidStream(text);
    const answer = await passthrough.send(answerOf(recording), {});
    if (theirs.error !== null) {
      // An error inside a success is that of the status it names.
      expect(answer.status).toBe(Number(/"status_code":(\d{3})/.exec(text)?.[1] ?? 502));
      expect(JSON.parse(answer.text).error.message).toBe(theirs.error);
      return;
    }
    expect(answer.status).toBe(200);
    expect(validateAgainstReference('ChatResult', JSON.parse(answer.text))).toEqual([]);
    compare({ ...readSaidWhole(answer.text), usageCount: 1 }, theirs);
  });

  it('were cut at many events', () => {
    expect(events).toBeGreaterThan(1000);
  });
});

function answerOf({ status, headers, body }: Recording) {
  return { status, headers, pieces: [body] };
}

function compare(ours: Said, theirs: Said, why = ''): void {
  const error = theirs.error === null ? null : `Provider returned error: ${theirs.error}`;
  expect([why, ours.isDone, ours.error]).toEqual([why, true, error]);
  const expected = expectedOf(theirs);
  if (theirs.error !== null) {
    for (const choice of Object.values(expected)) choice.finish = 'error';
  }
  expect([why, ours.choices]).toEqual([why, expected]);
  expect([why, ours.usageCount]).toEqual([why, 1]);
  if (theirs.usage && theirs.error === null) expect([why, ours.usage]).toEqual([why, theirs.usage]);
}

/** Where the events of a stream end. */
function eventEnds(body: Uint8Array): number[] {
  const ends: number[] = [];
  for (let at = 0; at + 1 < body.length; at++) if (body[at] === 10 && body[at + 1] === 10) ends.push(at + 2);
  return ends;
}

/** What the whole events of a cut stream say; the rest is as good as not there. */
function readCut(part: Uint8Array): Said {
  const text = decoder.decode(part);
  return readSaidStream(text.slice(0, text.lastIndexOf('\n\n') + 2));
}

function checkCut({ status, text }: { status: number; text: string }, theirs: Said, why: string): void {
  const finishes = Object.values(theirs.choices).map(({ finish }) => finish);
  const isWhole = finishes.length > 0 && !finishes.includes(null);
  const saidNothing = Object.values(theirs.choices).every(
    ({ content, reasoning, calls }) => content + reasoning === '' && calls.length === 0,
  );
  if (saidNothing && !isWhole) {
    expect([why, status], text).toEqual([why, 502]);
    expect(JSON.parse(text).error).toMatchObject({ code: 502, metadata: { error_type: expect.any(String) } });
    return;
  }
  expect([why, status], text).toEqual([why, 200]);
  const ours = readSaidStream(text);
  const expected = expectedOf(theirs);
  if (isWhole) {
    expect([why, ours.error]).toEqual([why, null]);
    expect([why, ours.choices]).toEqual([why, expected]);
    return;
  }
  expect([why, ours.error]).toEqual([why, expect.any(String)]);
  expect([why, ours.choices[0]?.finish]).toEqual([why, 'error']);
  for (const [index, choice] of Object.entries(expected)) {
    // An empty object may stand before the real arguments: until more comes, it is not known to be all of them.
    const begun = (calls: Said['choices'][number]['calls']) =>
      calls.map((call) => (call.arguments === '{}' ? { ...call, arguments: '' } : call));
    const said = { ...choice, calls: begun(choice.calls), finish: choice.finish ?? 'error' };
    const heard = ours.choices[Number(index)];
    expect([why, heard && { ...heard, calls: begun(heard.calls) }]).toEqual([why, said]);
  }
  checkChunks(text);
}
