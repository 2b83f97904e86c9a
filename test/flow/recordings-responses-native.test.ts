import { expect, it, vi } from 'vitest';
import {
  type CheckedStream,
  checkResponsesResult,
  checkResponsesStream,
  type Loose,
} from '../support/check-responses.ts';
import { eventEnds, placesToCut, some } from '../support/cuts.ts';
import { recordingsOf, responsesFormat } from '../support/recorded-formats.ts';
import { countRecordedFiles, payloadsOf, type Recording } from '../support/recordings.ts';
import { describeWithShared } from '../support/reference.ts';
import { piecesOf, replayGateway } from '../support/replay.ts';
import { runs } from '../support/runs.ts';

const decoder = new TextDecoder();

// Bound by the machine, which may have other things to do.
vi.setConfig({ testTimeout: runs(60_000, 900_000) });

describeWithShared('recorded responses, to a client of responses', () => {
  const recordings = recordingsOf(responsesFormat);
  // Of one error only the body was kept.
  const failures = recordings
    .filter(({ body, isStream }) => !isStream && !decoder.decode(body).includes('"output"'))
    .map((one) => ({ ...one, status: one.status ?? 400 }));
  const results = recordings.filter(
    ({ name, isStream }) => !isStream && !failures.some((failure) => failure.name === name),
  );
  const streams = recordings.filter(({ isStream }) => isStream);
  const replay = replayGateway({ provider: responsesFormat.provider });
  const named = (some: readonly Recording[]) => some.map((one) => [one.name, one] as const);

  it('are all there', () => {
    const files = new Set(recordings.flatMap((one) => one.files));
    expect(files.size).toBe(countRecordedFiles('openai-responses'));
    expect([results.length, failures.length, streams.length]).toEqual([32, 5, 23]);
  });

  it.each(named(results))('%s has the same items', async (_, recording) => {
    const theirs = JSON.parse(decoder.decode(recording.body)) as Loose;
    const { status, text } = await replay.respond(answerOf(recording), {});
    expect(status, text).toBe(200);
    check(checkResponsesResult(JSON.parse(text)), theirs);
    for (const size of [1, 7]) {
      const again = await replay.respond({ ...answerOf(recording), pieces: piecesOf(recording.body, size) }, {});
      expect(again.text).toBe(text);
    }
    const stream = await replay.respond(answerOf(recording), { stream: true });
    check(checkResponsesStream(stream.text).final, theirs);
  });

  it.each(named(streams))('%s has the same items', async (_, recording) => {
    const events = eventsIn(recording);
    const theirs = responseOf(events);
    const { status, text } = await replay.respond(answerOf(recording), { stream: true });
    expect(status, text).toBe(200);
    const stream = checkResponsesStream(text);
    check(stream.final, theirs);
    checkOpaqueEvents(stream, events);
    const joined = await replay.respond(answerOf(recording), {});
    check(checkResponsesResult(JSON.parse(joined.text)), theirs);
  });

  it.each(named(streams))('%s is the same wherever it is cut', async (_, recording) => {
    const { body } = recording;
    const { text } = await replay.respond(answerOf(recording), { stream: true });
    for (const cuts of runs(cutsOf(body), everyByte(body))) {
      const pieces = cutAt(body, cuts);
      const again = await replay.respond({ ...answerOf(recording), pieces }, { stream: true });
      if (again.text !== text) expect([cuts, again.text]).toEqual([cuts, text]);
    }
  });

  it.each(named(streams))('%s fails when it was cut', async (_, recording) => {
    const ends = eventEnds(recording.body);
    // Behind the last event nothing is missing.
    for (const end of some(ends.slice(0, -1), runs(3, 1000))) {
      const pieces = [recording.body.subarray(0, end + 9)];
      const { status, text } = await replay.respond({ ...answerOf(recording), pieces }, { stream: true });
      if (status === 200) expect(checkResponsesStream(text, { schemas: false }).final.status).toBe('failed');
      else expect([end, status]).toEqual([end, 502]);
    }
  });

  it.each(named(failures))('%s is an error with the status', async (_, recording) => {
    const recorded = JSON.parse(decoder.decode(recording.body)).error;
    for (const stream of [false, true]) {
      const { status, text } = await replay.respond(answerOf(recording), { stream });
      expect(status).toBe(recording.status);
      expect(JSON.parse(text).error).toMatchObject({ code: recording.status, message: recorded.message });
    }
  });
});

function answerOf({ status, headers, body }: Recording) {
  return { status, headers, pieces: [body] };
}

function eventsIn({ body }: Recording): Loose[] {
  return payloadsOf(decoder.decode(body)).map((data) => JSON.parse(data) as Loose);
}

/** The response that a stream is of, with its items as they were completed: what is encrypted is so anew each time. */
function responseOf(events: readonly Loose[]): Loose {
  const { response } = events.findLast(({ type }) => type === 'response.completed') as Loose;
  const done = events.filter(({ type }) => type === 'response.output_item.done');
  const begun = events.filter(({ type }) => type === 'response.output_item.added');
  return { ...response, output: done.map(({ item }, at) => ({ ...item, id: begun[at]?.item.id ?? item.id })) };
}

function check(ours: Loose, theirs: Loose): void {
  expect(ours.output).toEqual(theirs.output.map(shownAs));
}

/**
 * An item as we show it. Clients demand a status, and a list of logprobs. An empty content is none. In a response that
 * is complete, no item goes on: calls of a program say so all the same.
 */
function shownAs(item: Loose): Loose {
  if (item.type === 'function_call') return { ...item, status: 'completed' };
  if (item.type === 'message') {
    const parts = item.content.map((part) => ({ ...part, logprobs: part.logprobs ?? [] }));
    return { ...item, content: parts as Loose[] };
  }
  if (item.type !== 'reasoning') return item;
  const { content = [], encrypted_content: sealed, ...rest } = item;
  const holds = { ...(content.length > 0 ? { content } : {}), ...(sealed ? { encrypted_content: sealed } : {}) };
  // The format is that of what it holds.
  const isEmpty = item.summary.length === 0 && Object.keys(holds).length === 0;
  const format = isEmpty ? {} : { format: 'openai-responses-v1' };
  return { ...rest, ...holds, ...format, status: 'completed' } as Loose;
}

/** Events of items that are not passed as they are. */
const known =
  /^response\.(?:output_text|refusal|reasoning\w*|content_part|output_item|function_call_arguments|custom_tool_call_input)\./;

/** The events of an item that passes as it is do, too, but for the pieces of a text: its end has the complete text. */
function checkOpaqueEvents({ events }: CheckedStream, theirs: readonly Loose[]): void {
  const own = (all: readonly Loose[]) =>
    all
      .filter(({ type }) => type.split('.').length > 2 && !known.test(type) && !type.endsWith('.delta'))
      .map(({ sequence_number: _at, ...event }) => event);
  expect(own(events)).toEqual(own(theirs));
}

/** A long stream is cut at so many bytes from each other, and not once alone: else the cuts would take an hour. */
const longBytes = 8_192;
const betweenCuts = 512;

/** Where one stream is cut, in turn: each byte is in one of the lists. */
function everyByte({ length }: Uint8Array): number[][] {
  const places = Array.from({ length: length - 1 }, (_, at) => at + 1);
  if (length < longBytes) return places.map((at) => [at]);
  return Array.from({ length: betweenCuts }, (_, first) => places.filter((at) => at % betweenCuts === first));
}

/** Some places alone, and a few at once. */
function cutsOf(body: Uint8Array): number[][] {
  const alone = placesToCut(body, 16);
  return [...alone.map((at) => [at]), placesToCut(body, 6), placesToCut(body, 200)];
}

function cutAt(body: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  return [0, ...cuts].map((from, index) => body.subarray(from, cuts[index]));
}
