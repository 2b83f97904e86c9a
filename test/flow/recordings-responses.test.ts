import { expect, it, vi } from 'vitest';
import {
  type CheckOptions,
  checkResponsesResult,
  checkResponsesStream,
  type Loose,
} from '../support/check-responses.ts';
import { chatFormats, recordingsOf } from '../support/recorded-formats.ts';
import { chunksOf, countRecordedFiles, type Recording } from '../support/recordings.ts';
import { describeWithShared } from '../support/reference.ts';
import { type Replay, type ReplayedAnswer, replayGateway } from '../support/replay.ts';
import { runs } from '../support/runs.ts';
import { joinChat, type SaidByEither, saidInChat, saidInResponse } from '../support/said-responses.ts';

// Bound by the machine, which may have other things to do.
vi.setConfig({ testTimeout: 60_000 });

for (const format of chatFormats) {
  describeWithShared(`recordings of ${format.name}, as responses`, () => {
    const recordings = recordingsOf(format);
    const replay = replayGateway({ provider: format.provider });

    it.each(recordings.map((one) => [one.name, one] as const))(
      '%s says what its chat completion says',
      async (_, one) => {
        await check(replay, one);
      },
    );

    const streams = recordings.filter(({ isStream, status }) => isStream && status === 200);
    it.each(streams.map((one) => [one.name, one] as const))(
      '%s fails where its chat completion does',
      async (_, one) => {
        for (const end of some(one.body.length, runs(3, 60))) await checkCut(replay, one, end);
      },
    );
  });
}

/** What the recordings hold, so that saying the same says something. None holds a refusal or an image. */
const kinds: Record<string, (said: SaidByEither) => boolean> = {
  reasoning: ({ reasoning }) => reasoning !== '',
  calls: ({ calls }) => calls.length > 1,
  citations: ({ citations }) => citations.some(({ cited }) => cited !== null),
  logprobs: ({ logprobs }) => logprobs.length > 0,
  incomplete: ({ why }) => why === 'max_output_tokens',
  filtered: ({ why }) => why === 'content_filter',
  failed: ({ status }) => status === 'failed',
  cached: ({ usage }) => (usage.cached as number) > 0,
};

describeWithShared('the recordings that are checked as responses', () => {
  it('are all there, and hold every kind of content and of end', async () => {
    const said: SaidByEither[] = [];
    for (const format of chatFormats) {
      const recordings = recordingsOf(format);
      expect(new Set(recordings.flatMap(({ files }) => files)).size).toBe(countRecordedFiles(format.name));
      const replay = replayGateway({ provider: format.provider });
      for (const recording of recordings) {
        const { status, text } = await replay.respond(upstreamOf(recording), { stream: true });
        if (status === 200) said.push(saidInResponse(finalOf(text)));
      }
    }
    expect(Object.keys(kinds).filter((kind) => !said.some(kinds[kind] as (one: SaidByEither) => boolean))).toEqual([]);
  });
});

function upstreamOf({ status, headers, body }: Recording) {
  return { status, headers, pieces: [body] };
}

/** The object that ends a stream. */
function finalOf(stream: string): Loose {
  return (chunksOf(stream).at(-1) as { response: Loose }).response;
}

/** As JSON and as a stream. */
async function check(replay: Replay, recording: Recording): Promise<void> {
  const upstream = upstreamOf(recording);
  for (const stream of [false, true]) {
    const chat = await replay.send(upstream, { stream });
    const booked = bookedBy(replay);
    const response = await replay.respond(upstream, { stream });
    expect(bookedBy(replay)).toEqual(booked);
    if (chat.status !== 200) checkFailure(chat, response, stream);
    else if (stream) checkStream(chat, response);
    else
      expect(saidInResponse(checkResponsesResult(JSON.parse(response.text)))).toEqual(
        saidInChat(JSON.parse(chat.text)),
      );
  }
}

/** Broken off behind so many bytes. */
async function checkCut(replay: Replay, recording: Recording, end: number): Promise<void> {
  const pieces = [recording.body.subarray(0, end)];
  const upstream = { ...upstreamOf(recording), pieces };
  const chat = await replay.send(upstream, { stream: true });
  const response = await replay.respond(upstream, { stream: true });
  if (chat.status === 200) checkStream(chat, response, { schemas: false });
  else checkFailure(chat, response, true);
}

/** A call is announced with the first of its arguments, and a citation with the text that it is about. */
function announced(said: SaidByEither): SaidByEither {
  return {
    ...said,
    calls: said.calls.filter((call) => call.arguments !== ''),
    citations: said.text === '' ? [] : said.citations,
  };
}

/** Places in so many bytes, evenly. */
function some(length: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => Math.floor(((at + 0.5) * length) / count));
}

/** What was recorded of the request. */
function bookedBy(replay: Replay) {
  const { outcome, usage, costNanoUsd, isEstimated, finishReason, nativeFinishReason } = replay.lastRecord();
  return { outcome, usage, costNanoUsd, isEstimated, finishReason, nativeFinishReason };
}

/** Nothing had been sent. Where a context is full, agents look for its code in a stream. */
function checkFailure(chat: ReplayedAnswer, response: ReplayedAnswer, isStream: boolean): void {
  const { error } = JSON.parse(chat.text);
  if (!isStream || error.metadata?.error_type !== 'context_length_exceeded') {
    expect([response.status, JSON.parse(response.text)]).toEqual([chat.status, JSON.parse(chat.text)]);
    return;
  }
  const { final } = checkResponsesStream(response.text);
  expect([response.status, final.status, final.output]).toEqual([200, 'failed', []]);
  expect(final.error).toEqual({ code: 'context_length_exceeded', message: error.message });
}

/** A stream that broke says until then the same, and why it failed. */
function checkStream(chat: ReplayedAnswer, response: ReplayedAnswer, options: CheckOptions = {}): void {
  expect(response.status).toBe(200);
  const { final } = checkResponsesStream(response.text, options);
  const chunks = chunksOf(chat.text);
  const said = saidInResponse(final);
  const theirs = saidInChat(joinChat(chunks));
  const error = chunks.at(-1)?.error as { message: string } | undefined;
  expect(said).toEqual(error === undefined ? theirs : announced(theirs));
  expect(final.error?.message ?? null).toBe(error?.message ?? null);
}
