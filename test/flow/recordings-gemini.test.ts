import { expect, it } from 'vitest';
import { googlePayloads, readGoogle } from '../support/google-wire.ts';
import { chatFormats, recordingsOf, responsesFormat } from '../support/recorded-formats.ts';
import { type Recording, readSaidStream, type Said } from '../support/recordings.ts';
import { describeWithShared } from '../support/reference.ts';
import { type Replay, replayGateway, type UpstreamPieces } from '../support/replay.ts';

// biome-ignore lint/suspicious/noExplicitAny: of any response, for a test to look into
type Json = any;

const forms = [':generateContent', ':streamGenerateContent?alt=sse', ':streamGenerateContent'];
const reasons: Record<string, string> = {
  stop: 'STOP',
  tool_calls: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
};
const textOf = ({ body }: Recording) => new TextDecoder().decode(body);

/** The events or the result of a response of ours, each with its first candidate alone. */
function payloadsOf(text: string, form: string): string[] {
  const all: Json[] = form.endsWith('alt=sse')
    ? googlePayloads(text).map((one) => JSON.parse(one))
    : [JSON.parse(text)].flat();
  return all.map(({ candidates = [], ...one }) =>
    JSON.stringify({ ...one, candidates: candidates.filter(({ index = 0 }) => index === 0) }),
  );
}

/** What the provider said, as a client of chat completions gets it. */
async function saidIn(replay: Replay, recording: Recording, answer: UpstreamPieces): Promise<Said> {
  if (recording.isStream) {
    const { status, text } = await replay.send(answer, { stream: true });
    return status === 200 ? readSaidStream(text) : { ...nothing, error: JSON.parse(text).error.message };
  }
  const { status, text } = await replay.send(answer, {});
  const body: Json = JSON.parse(text);
  if (status !== 200) return { ...nothing, error: body.error.message };
  const [{ message, finish_reason: finish }] = body.choices;
  const calls = (message.tool_calls ?? []).map(({ id, function: called }: Json) => ({ id, ...called }));
  const { content, reasoning, refusal } = message;
  const choice = { content: content ?? '', reasoning: reasoning ?? '', refusal: refusal ?? '', calls, finish };
  return { ...nothing, choices: { 0: choice }, usage: body.usage };
}
const nothing: Said = { choices: {}, usage: null, usageCount: 0, error: null, isDone: true };

describeWithShared('recorded responses to a client of the Gemini wire', () => {
  for (const format of [...chatFormats, responsesFormat]) {
    const replay = replayGateway({ provider: format.provider });
    const recordings = recordingsOf(format);
    it.each(recordings.map((one) => [one.name, one] as const))(
      '%s says what its provider said',
      async (_, recording) => {
        const answer = { status: recording.status, headers: recording.headers, pieces: [recording.body] };
        const said = await saidIn(replay, recording, answer);
        // Frames of bytes are read where a stream was asked for alone.
        const asked = recording.isStream ? forms.slice(1) : forms;
        for (const form of asked) {
          const got = await replay.generate(answer, {}, form);
          if (said.error !== null) {
            expect(got.text).toContain('"error":{"code":');
            expect(got.text).not.toMatch(/finishReason|functionCall|\]$/);
            continue;
          }
          expect(got.status, `${form} ${got.text}`).toBe(200);
          const theirs = readGoogle(payloadsOf(got.text, form));
          const { content, reasoning, refusal, calls, finish } = said.choices[0] as Said['choices'][number];
          expect([form, theirs.text]).toEqual([form, content + refusal]);
          expect([form, theirs.thoughts]).toEqual([form, reasoning]);
          expect([form, theirs.calls.map(({ name, args }) => [name, args])]).toEqual([
            form,
            calls.map((call) => [call.name, JSON.parse(call.arguments || '{}')]),
          ]);
          if (format.name !== 'google-generate-content') expect(theirs.finish).toBe(reasons[finish ?? '']);
          const { prompt = 0, completion = 0 } = theirs.usage ?? {};
          if (said.usage !== null)
            expect([prompt, prompt + completion]).toEqual([said.usage.prompt_tokens, said.usage.total_tokens]);
        }
      },
    );
  }
  const google = chatFormats.filter(({ name }) => name === 'google-generate-content');
  const whole = google.flatMap((format) => recordingsOf(format)).filter(({ status }) => status === 200);
  it.each(whole.map((one) => [one.name, one] as const))(
    '%s is the same, but for the model and the id',
    async (_, one) => {
      const replay = replayGateway({ provider: (google[0] as (typeof google)[number]).provider });
      const form = one.isStream ? ':streamGenerateContent?alt=sse' : ':generateContent';
      const { text } = await replay.generate({ headers: one.headers, pieces: [one.body] }, {}, form);
      const fields = /"(modelVersion|responseId)":\s*"[^"]*"/g;
      const same = (given: string) => given.replace(fields, '"$1":""');
      const own = { modelVersion: '', responseId: '' };
      const asOne = (given: string) => JSON.stringify({ ...JSON.parse(given), ...own });
      if (!one.isStream) expect(asOne(text)).toBe(asOne(textOf(one)));
      else {
        const [got, given] = [googlePayloads(text), googlePayloads(textOf(one))];
        const hasBoth = given.every((data) => data.includes('"modelVersion"') && data.includes('"responseId"'));
        if (hasBoth) expect(got.map(same)).toEqual(given.map(same));
        else expect(got.map(asOne)).toEqual(given.map(asOne));
      }
      expect(text).toContain('"acme/replayed"');
    },
  );
});
