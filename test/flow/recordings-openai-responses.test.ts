import { expect, it, vi } from 'vitest';
import { openaiResponses } from '../../src/dialects/openai-responses/index.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import { chatResultSchema } from '../../src/schema/chat/chat.ts';
import { checkChunks } from '../support/check-chunks.ts';
import { eventEnds, placesToCut, some } from '../support/cuts.ts';
import { recordingsOf, responsesFormat } from '../support/recorded-formats.ts';
import { countRecordedFiles, payloadsOf, type Recording } from '../support/recordings.ts';
import { describeWithShared, validateAgainstReference } from '../support/reference.ts';
import { piecesOf, replayGateway } from '../support/replay.ts';
import {
  readOurStream,
  readOurs,
  readResponse,
  readResponseStream,
  type SaidOnce,
} from '../support/responses-recordings.ts';

type Json = Record<string, unknown>;

const decoder = new TextDecoder();

// Bound by the machine, which may have other things to do.
vi.setConfig({ testTimeout: 60_000 });

describeWithShared('recorded responses', () => {
  const recordings = recordingsOf(responsesFormat);
  const whole = recordings.filter(({ isStream }) => !isStream);
  // Of one error only the body was kept.
  const failures = whole
    .filter(({ body }) => decoder.decode(body).includes('"error":{') || !decoder.decode(body).includes('"output"'))
    .map((one) => ({ ...one, status: one.status ?? 400 }));
  const results = whole.filter(({ name }) => !failures.some((failure) => failure.name === name));
  const streams = recordings.filter(({ isStream }) => isStream);
  const replay = replayGateway({
    provider: defineProvider({ slug: 'replay', baseUrl: 'http://replay.invalid/v1', dialect: openaiResponses }),
  });
  const named = (some: readonly Recording[]) => some.map((one) => [one.name, one] as const);

  it('are all there', () => {
    const files = new Set(recordings.flatMap((one) => one.files));
    expect(files.size).toBe(countRecordedFiles('openai-responses'));
    expect([results.length, failures.length, streams.length]).toEqual([32, 5, 23]);
  });

  it.each(named(results))('%s says the same through the gateway', async (_, recording) => {
    const answer = await replay.send(answerOf(recording), {});
    expect([answer.status, replay.lastHead().url]).toEqual([200, 'http://replay.invalid/v1/responses']);
    const body = JSON.parse(answer.text);
    checkResult(body);
    const theirs = readResponse(JSON.parse(decoder.decode(recording.body)));
    checkSaid(readOurs(body), theirs);
    for (const size of [1, 7]) {
      const again = await replay.send({ ...answerOf(recording), pieces: piecesOf(recording.body, size) }, {});
      expect(again.text).toBe(answer.text);
    }
    const stream = await replay.send(answerOf(recording), { stream: true });
    checkChunks(stream.text);
    checkSaid(readOurStream(stream.text), theirs);
  });

  it.each(named(streams))('%s says the same through the gateway', async (_, recording) => {
    const theirs = readResponseStream(decoder.decode(recording.body));
    const answer = await replay.send(answerOf(recording), { stream: true });
    expect([answer.status, answer.text.endsWith('data: [DONE]\n\n')]).toEqual([200, true]);
    // A count of nothing for a response that says something is no count.
    expect(replay.lastRecord()).toMatchObject({ outcome: 'ok', isEstimated: theirs.usage?.total === 0 });
    checkChunks(answer.text);
    checkSaid(readOurStream(answer.text), theirs);
    const joined = JSON.parse((await replay.send(answerOf(recording), {})).text);
    checkResult(joined);
    // The tier is on the last chunk, which is not the head of the joined response.
    checkSaid({ ...readOurs(joined), tier: theirs.tier }, theirs);
  });

  it.each(named(streams))('%s says the same wherever it is cut', async (_, recording) => {
    const { text } = await replay.send(answerOf(recording), { stream: true });
    for (const at of placesToCut(recording.body)) {
      const pieces = [recording.body.subarray(0, at), recording.body.subarray(at)];
      const again = await replay.send({ ...answerOf(recording), pieces }, { stream: true });
      expect([at, again.text === text]).toEqual([at, true]);
    }
  });

  it.each(named(streams))('%s is never called complete when it was cut', async (_, recording) => {
    const ends = eventEnds(recording.body);
    // Behind the last event nothing is missing.
    for (const end of some(ends.slice(0, -1), 40)) {
      const pieces = [recording.body.subarray(0, end + 9)];
      const { status, text } = await replay.send({ ...answerOf(recording), pieces }, { stream: true });
      const finish = /"finish_reason":"(\w+)"/.exec(text)?.[1];
      expect([end, status, finish]).toEqual(status === 200 ? [end, 200, 'error'] : [end, 502, undefined]);
    }
  });

  it.each(named([...results, ...streams]))('%s is understood when it comes back', async (_, recording) => {
    const { text } = await replay.send(answerOf(recording), {});
    const { message } = JSON.parse(text).choices[0];
    const given = givenItems(recording);
    const user = { role: 'user', content: 'Go on.' };
    const calls = (message.tool_calls ?? []) as { id: string }[];
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Done' }));
    await replay.send(answerOf(recording), { messages: [user, message, ...results, user] });
    const input = (replay.lastSent().input as Json[]).slice(1, -1);
    const sent = input.filter(({ type }) => type !== 'function_call_output');
    expect(input.length - sent.length).toBe(calls.length);
    expect(sent.filter(({ type }) => type === 'reasoning')).toEqual(given.filter(({ type }) => type === 'reasoning'));
    // Several messages have become one.
    const isOne = given.filter(({ type }) => type === 'message').length < 2;
    if (isOne) expect(sent.map(({ type }) => type)).toEqual(given.map(({ type }) => type));
    expect(replay.lastRecord().outcome).toBe('ok');
  });

  it.each(named(failures))('%s becomes an error in the envelope', async (_, recording) => {
    const recorded = JSON.parse(decoder.decode(recording.body)).error;
    for (const stream of [false, true]) {
      const answer = await replay.send(answerOf(recording), { stream });
      expect(answer.status).toBe(recording.status);
      expect(JSON.parse(answer.text).error).toMatchObject({
        code: recording.status,
        message: recorded.message,
        metadata: { provider_name: 'replay', provider_code: recorded.code ?? recorded.type },
      });
    }
  });
});

function answerOf({ status, headers, body }: Recording) {
  return { status, headers, pieces: [body] };
}

/** The items of a response that its provider takes back: reasoning only where it holds more than a summary. */
function givenItems({ body, isStream }: Recording): Json[] {
  const text = decoder.decode(body);
  const items = isStream
    ? payloadsOf(text).flatMap((data) => {
        const { type, item } = JSON.parse(data) as { type: string; item: Json };
        return type === 'response.output_item.done' ? [item] : [];
      })
    : (JSON.parse(text).output as Json[]);
  return items.flatMap(({ type, id, summary, content, encrypted_content: encrypted }): Json[] => {
    if (type !== 'reasoning') return type === 'message' || type === 'function_call' ? [{ type }] : [];
    const thoughts = (content ?? []) as Json[];
    if (!encrypted && thoughts.length === 0) return [];
    return [
      {
        type,
        id,
        summary,
        ...(thoughts.length > 0 ? { content: thoughts } : {}),
        ...(encrypted ? { encrypted_content: encrypted } : {}),
      },
    ];
  });
}

function checkResult(body: unknown): void {
  expect(validateAgainstReference('ChatResult', body)).toEqual([]);
  expect(chatResultSchema().safeParse(body).error).toBeUndefined();
  expect(body).toMatchObject({ object: 'chat.completion', model: 'acme/replayed', provider: 'replay' });
}

/** Nothing that the recording holds is missing, and its tool calls can be read. */
function checkSaid(ours: SaidOnce, theirs: SaidOnce): void {
  // What was counted as nothing is estimated.
  const isCounted = theirs.usage?.total !== 0;
  expect(isCounted ? ours : { ...ours, usage: null }).toEqual(isCounted ? theirs : { ...theirs, usage: null });
  for (const call of ours.calls) expect(JSON.parse(call.arguments)).toBeTypeOf('object');
  const { prompt, completion, total } = ours.usage as Record<string, number>;
  expect((prompt ?? 0) + (completion ?? 0)).toBe(total);
}
