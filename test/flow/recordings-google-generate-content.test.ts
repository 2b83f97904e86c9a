import { expect, it, vi } from 'vitest';
import { googleGenerateContent } from '../../src/dialects/google-generate-content/index.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import { chatResultSchema } from '../../src/schema/chat/chat.ts';
import { checkChunks } from '../support/check-chunks.ts';
import { type GoogleSaid, googlePayloads, readGoogle, readOurs } from '../support/google-wire.ts';
import { countRecordedFiles, loadRecordings, payloadsOf, type Recording } from '../support/recordings.ts';
import { describeWithShared, validateAgainstReference } from '../support/reference.ts';
import { piecesOf, replayGateway } from '../support/replay.ts';

const dialect = 'google-generate-content';
const decoder = new TextDecoder();
const mostCuts = 200;

// Bound by the machine, which may have other things to do.
vi.setConfig({ testTimeout: 60_000 });

/** Google ends the lines of its streams with CRLF. */
const frame = (lines: string[]) => [lines.map((line) => `data: ${line}\r\n\r\n`).join('')];

describeWithShared('recorded responses of Google', () => {
  const recordings = loadRecordings(dialect, frame);
  const streams = recordings.filter(({ isStream }) => isStream);
  const whole = recordings.filter(({ isStream, status }) => !isStream && status === 200);
  const failures = recordings.filter(({ status }) => status !== 200);
  const replay = replayGateway({
    provider: defineProvider({
      slug: 'replay',
      baseUrl: 'http://replay.invalid/v1beta',
      dialect: googleGenerateContent,
    }),
  });
  const cases = (some: readonly Recording[]) => some.map((one) => [one.name, one] as const);

  it('are all there', () => {
    const files = new Set(recordings.flatMap((one) => one.files));
    expect(files.size).toBe(countRecordedFiles(dialect));
    expect(files.size).toBeGreaterThanOrEqual(57);
    expect([whole.length, streams.length, failures.length].map((count) => count > 2)).toEqual([true, true, true]);
    expect(whole.length + streams.length + failures.length).toBe(recordings.length);
  });

  it.each(cases(whole))('%s says the same through the gateway', async (_, recording) => {
    const theirs = readGoogle([decoder.decode(recording.body)]);
    const answer = await replay.send(answerOf(recording), {});
    expect(answer.status, answer.text).toBe(200);
    const body = JSON.parse(answer.text);
    expect(validateAgainstReference('ChatResult', body)).toEqual([]);
    expect(chatResultSchema().safeParse(body).error).toBeUndefined();
    compare(readOurs(body.choices, body.usage), theirs);
    expect(body.choices[0].finish_reason).toBe(reasonOf(theirs));
    expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens);
    const again = await replay.send({ ...answerOf(recording), pieces: piecesOf(recording.body, 7) }, {});
    expect(again.text).toBe(answer.text);
  });

  it.each(cases(whole))('%s becomes a stream where one was asked', async (_, recording) => {
    const theirs = readGoogle([decoder.decode(recording.body)]);
    const answer = await replay.send(answerOf(recording), { stream: true });
    expect(answer.status).toBe(200);
    compare(readStream(answer.text), theirs);
  });

  it.each(cases(streams))('%s says the same through the gateway', async (_, recording) => {
    const theirs = readGoogle(googlePayloads(decoder.decode(recording.body)));
    const answer = await replay.send(answerOf(recording), { stream: true });
    expect(answer.status, answer.text).toBe(200);
    compare(readStream(answer.text), theirs);
    expect(answer.text).toContain(`"finish_reason":"${reasonOf(theirs)}"`);
    expect(replay.lastRecord().outcome).toBe('ok');
    expect(replay.lastRecord().isEstimated).toBe(false);
  });

  it.each(cases(streams))('%s says the same wherever it is cut', async (_, recording) => {
    const uncut = await replay.send(answerOf(recording), { stream: true });
    const cuts = cutsOf(recording.body);
    expect(cuts.length).toBeGreaterThan(10);
    for (const at of cuts) {
      const pieces = [recording.body.subarray(0, at), recording.body.subarray(at)];
      const answer = await replay.send({ pieces }, { stream: true });
      expect([at, answer.text === uncut.text], answer.text.slice(-500)).toEqual([at, true]);
    }
    for (const size of [1, 64]) {
      if (size === 1 && recording.body.length > 100_000) continue;
      const answer = await replay.send({ pieces: piecesOf(recording.body, size) }, { stream: true });
      expect([size, answer.text === uncut.text]).toEqual([size, true]);
    }
  });

  it.each(cases(streams))('%s is an error when it ends too early', async (_, recording) => {
    const ends = eventEnds(recording.body);
    for (const end of [...new Set([0, 5, ends.at(0), ends.at(-2)])]) {
      if (end === undefined || end >= (ends.at(-1) as number)) continue;
      const answer = await replay.send({ pieces: [recording.body.subarray(0, end)] }, { stream: true });
      expect([end, answer.status === 502 || /"finish_reason":"error"/.test(answer.text)], answer.text).toEqual([
        end,
        true,
      ]);
      expect(answer.text).toContain('"error"');
      expect(replay.lastRecord().outcome).not.toBe('ok');
    }
  });

  it.each(cases(streams))('%s becomes a complete response where one was asked', async (_, recording) => {
    const theirs = readGoogle(googlePayloads(decoder.decode(recording.body)));
    const answer = await replay.send(answerOf(recording), {});
    expect(answer.status, answer.text).toBe(200);
    const body = JSON.parse(answer.text);
    expect(validateAgainstReference('ChatResult', body)).toEqual([]);
    compare(readOurs(body.choices, body.usage), theirs);
  });

  it.each(cases(failures))('%s becomes an error in the envelope', async (_, recording) => {
    const recorded = JSON.parse(decoder.decode(recording.body)).error;
    for (const stream of [false, true]) {
      const answer = await replay.send(answerOf(recording), { stream });
      expect(answer.status).toBe(recording.status);
      expect(JSON.parse(answer.text).error).toMatchObject({
        code: recording.status,
        message: recorded.message,
        metadata: { provider_name: 'replay', provider_code: recorded.status },
      });
    }
  });

  // What a client sends back is what the provider gave. Text that came in several parts without a signature comes back
  // as one: our wire has one text.
  it.each(cases([...whole, ...streams]))('%s comes back as Google gave it', async (_, recording) => {
    const answer = await replay.send(answerOf(recording), {});
    const { message } = JSON.parse(answer.text).choices[0];
    const results = (message.tool_calls ?? []).map(({ id }: { id: string }) => ({
      role: 'tool',
      tool_call_id: id,
      content: 'done',
    }));
    await replay.send(answerOf(recording), {
      messages: [{ role: 'user', content: 'Go on.' }, message, ...results, { role: 'user', content: 'And now?' }],
    });
    const { contents } = replay.lastSent() as { contents: { role: string; parts: Record<string, unknown>[] }[] };
    const sent = contents[1]?.parts ?? [];
    const payloads = recording.isStream
      ? googlePayloads(decoder.decode(recording.body))
      : [decoder.decode(recording.body)];
    const theirs = readGoogle(payloads);
    const again = readGoogle([JSON.stringify({ candidates: [{ content: { parts: sent } }] })]);
    expect(again.text).toBe(theirs.text);
    expect(again.thoughts).toBe(theirs.thoughts);
    expect(again.calls.map(({ name, args }) => ({ name, args }))).toEqual(
      theirs.calls.map(({ name, args }) => ({ name, args })),
    );
    // Each signature stands on the part that it came on.
    const signatures = sent.map((part) => part.thoughtSignature).filter((one) => one !== undefined);
    const unsigned = 'skip_thought_signature_validator';
    expect(signatures.filter((one) => one !== unsigned).sort()).toEqual([...theirs.signatures].sort());
    for (const part of signedParts(payloads)) expect(sent).toContainEqual(part);
  });
});

/** Parts with a signature, without the id that Google may leave out of a call. */
function signedParts(payloads: readonly string[]): unknown[] {
  const parts = payloads.flatMap((payload) => JSON.parse(payload).candidates?.[0]?.content?.parts ?? []);
  return parts
    .filter((part) => part.thoughtSignature !== undefined && part.functionCall?.willContinue === undefined)
    .map((part) =>
      part.functionCall === undefined
        ? part
        : { ...part, functionCall: { id: expect.any(String), args: {}, ...part.functionCall } },
    );
}

function answerOf({ status, headers, body }: Recording) {
  return { status, headers, pieces: [body] };
}

function readStream(text: string) {
  checkChunks(text);
  const payloads = payloadsOf(text);
  expect(payloads.at(-1)).toBe('[DONE]');
  const chunks = payloads.slice(0, -1).map((payload) => JSON.parse(payload));
  expect(chunks.filter(({ error }) => error !== undefined)).toEqual([]);
  const usages = chunks.filter(({ usage }) => usage !== undefined);
  expect(usages.length).toBe(1);
  return readOurs(
    chunks.flatMap(({ choices }) => choices),
    usages[0].usage,
  );
}

function compare({ details, ...ours }: GoogleSaid & { details: object[] }, theirs: GoogleSaid): void {
  expect(details.every((one) => (one as { format: string }).format === 'google-gemini-v1')).toBe(true);
  // A call that Google gave no id gets one here: a result must refer to its call.
  const calls = theirs.calls.map((call, at) => ({ ...call, id: call.id ?? ours.calls[at]?.id ?? '' }));
  expect(calls.every(({ id }) => id !== '')).toBe(true);
  expect(ours).toEqual({ ...theirs, calls });
}

function reasonOf({ finish, calls }: GoogleSaid): string {
  if (finish === 'MAX_TOKENS') return 'length';
  // The number is of a server that was asked for numbers.
  expect(['STOP', '1']).toContain(finish);
  return calls.length > 0 ? 'tool_calls' : 'stop';
}

function eventEnds(body: Uint8Array): number[] {
  const ends: number[] = [];
  for (let at = 3; at < body.length; at++)
    if (body[at] === 10 && body[at - 1] === 13 && body[at - 2] === 10 && body[at - 3] === 13) ends.push(at + 1);
  return ends;
}

/** At borders of events, inside characters of several bytes, and evenly between. */
function cutsOf(body: Uint8Array): number[] {
  const cuts = new Set<number>();
  for (const end of eventEnds(body).slice(-30)) for (const near of [-3, -2, -1, 0, 1]) cuts.add(end + near);
  for (let at = 1; at < body.length && cuts.size < 170; at++) if (((body[at] as number) & 0xc0) === 0x80) cuts.add(at);
  const step = Math.max(1, Math.floor(body.length / (mostCuts - cuts.size)));
  for (let at = step; at < body.length && cuts.size < mostCuts; at += step) cuts.add(at);
  return [...cuts].filter((at) => at > 0 && at < body.length).slice(0, mostCuts);
}
