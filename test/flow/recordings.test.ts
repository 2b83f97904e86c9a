import { expect, it } from 'vitest';
import { chatResultSchema } from '../../src/schema/chat/chat.ts';
import { checkChunks } from '../support/check-chunks.ts';
import {
  countRecordedFiles,
  expectedOf,
  loadRecordings,
  type Recording,
  readSaidStream,
  readSaidWhole,
} from '../support/recordings.ts';
import { describeWithShared, validateAgainstReference } from '../support/reference.ts';
import { piecesOf, replayGateway } from '../support/replay.ts';

describeWithShared('recorded answers, whole', () => {
  const recordings = loadRecordings('openai-chat');
  const whole = recordings.filter(({ isStream }) => !isStream);
  const streams = recordings.filter(({ isStream }) => isStream);
  const results = whole.filter(({ status }) => status === 200);
  const failures = whole.filter(({ status }) => status !== 200);

  it('are all there', () => {
    const files = new Set(recordings.flatMap((one) => one.files));
    expect(files.size).toBe(countRecordedFiles('openai-chat'));
    expect(files.size).toBeGreaterThanOrEqual(134);
    expect(results.length).toBeGreaterThanOrEqual(70);
    expect(failures.length).toBeGreaterThanOrEqual(9);
    expect(streams.length).toBeGreaterThanOrEqual(30);
    expect(new Set(recordings.map(({ provider }) => provider)).size).toBeGreaterThanOrEqual(16);
    console.log(
      `recordings: ${files.size} files: ${results.length} results, ${failures.length} errors, ${streams.length} streams`,
    );
  });

  const replay = replayGateway();

  it.each(results.map((one) => [one.name, one] as const))(
    '%s says the same through the gateway',
    async (_, recording) => {
      const answer = await replay.send(answerOf(recording), {});
      expect(answer.status).toBe(200);
      const body = JSON.parse(answer.text);
      expect(validateAgainstReference('ChatResult', body)).toEqual([]);
      expect(chatResultSchema().safeParse(body).error).toBeUndefined();
      expect(body).toMatchObject({
        id: expect.stringMatching(/^gen-/),
        object: 'chat.completion',
        model: 'acme/replayed',
        provider: 'replay',
      });
      expect(body.created).toBe(Date.UTC(2026, 0, 1) / 1000);
      compare(recording, readSaidWhole(answer.text), readSaidWhole(textOf(recording)));
      for (const choice of body.choices) expect(choice).toHaveProperty('native_finish_reason');
      for (const size of [1, 7]) {
        const again = await replay.send({ ...answerOf(recording), pieces: piecesOf(recording.body, size) }, {});
        expect(again.text).toBe(answer.text);
      }
    },
  );

  it.each(results.map((one) => [one.name, one] as const))(
    '%s becomes a stream where one was asked',
    async (_, recording) => {
      const answer = await replay.send(answerOf(recording), { stream: true });
      expect(answer.status).toBe(200);
      checkChunks(answer.text);
      const ours = readSaidStream(answer.text);
      expect([ours.isDone, ours.usageCount, ours.error]).toEqual([true, 1, null]);
      compare(recording, ours, readSaidWhole(textOf(recording)));
    },
  );

  it.each(failures.map((one) => [one.name, one] as const))(
    '%s becomes an error in the envelope',
    async (_, recording) => {
      const recorded = JSON.parse(textOf(recording)).error;
      for (const stream of [false, true]) {
        const answer = await replay.send(answerOf(recording), { stream });
        expect(answer.status).toBe(recording.status);
        const { error } = JSON.parse(answer.text);
        const schema = answer.status === 404 ? 'NotFoundResponse' : 'BadRequestResponse';
        expect(validateAgainstReference(schema, JSON.parse(answer.text))).toEqual([]);
        expect(error).toMatchObject({
          code: recording.status,
          message: recorded.message,
          metadata: { provider_name: 'replay' },
        });
        expect(error.metadata.provider_code).toBe(recorded.code ?? recorded.type);
        expect(replay.letGo()).toBe(true);
      }
    },
  );

  const asked = recordings.filter((one) => one.request !== null);
  it.each(asked.map((one) => [one.name, one] as const))(
    'the request of %s is taken and reaches the provider',
    async (_, recording) => {
      const { model: _model, stream, ...fields } = withoutNulls(recording.request) as Record<string, unknown>;
      const answer = await replay.send(answerOf(recording), { ...fields, ...(stream === undefined ? {} : { stream }) });
      expect([answer.status, answer.text.slice(0, 300)]).toEqual([recording.status, expect.any(String)]);
      const sent = replay.lastSent();
      expect(sent.model).toBe('recorded');
      for (const [name, value] of Object.entries(fields)) {
        if (carriedOtherwise.has(name)) continue;
        // An empty list asks for nothing, and some providers refuse it.
        if (Array.isArray(value) && value.length === 0) continue;
        expect([name, sent[name]]).toEqual([name, value]);
      }
    },
  );
});

/** Some providers' own clients send null for what is not set; the interface takes it in a few places only. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const set = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(set.map(([key, one]) => [key, withoutNulls(one)]));
}

/** Fields that reach the provider under another name or with more in them. */
const carriedOtherwise = new Set(['max_completion_tokens', 'stream_options', 'messages']);

function answerOf({ status, headers, body }: Recording) {
  return { status, headers, pieces: [body] };
}

function textOf({ body }: Recording): string {
  return new TextDecoder().decode(body);
}

function compare(
  recording: Recording,
  ours: ReturnType<typeof readSaidWhole>,
  theirs: ReturnType<typeof readSaidWhole>,
): void {
  const expected = expectedOf(theirs);
  // A provider that gives its calls no ids gets them here: a result must refer to its call.
  for (const [index, choice] of Object.entries(expected)) {
    choice.calls.forEach((call, at) => {
      call.id ||= ours.choices[Number(index)]?.calls[at]?.id ?? '';
      expect(call.id).not.toBe('');
    });
  }
  expect(ours.choices).toEqual(expected);
  if (theirs.usage) expect(ours.usage).toEqual(theirs.usage);
  else expect(ours.usage?.total_tokens, recording.name).toBeGreaterThan(0);
}
