import { describe, expect, it } from 'vitest';
import { cohereChat } from '../../src/dialects/cohere-chat/index.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import { chatResultSchema } from '../../src/schema/chat/chat.ts';
import { checkChunks } from '../support/check-chunks.ts';
import { placesToCut } from '../support/cuts.ts';
import {
  countRecordedFiles,
  loadRecordings,
  payloadsOf,
  type Recording,
  readSaidStream,
  readSaidWhole,
  type Said,
} from '../support/recordings.ts';
import { describeWithShared, validateAgainstReference } from '../support/reference.ts';
import { piecesOf, replayGateway } from '../support/replay.ts';

type Json = Record<string, unknown>;

/** What Cohere says in a response, read without the dialect, so that it can judge the dialect. */
interface CohereSaid {
  content: string;
  thought: string;
  plan: string;
  calls: { id: string; name: string; arguments: string }[];
  finish: string;
  citations: { start: number; end: number; source: string }[];
  billed: { input_tokens: number; output_tokens: number };
}

describeWithShared('recorded responses of Cohere', () => {
  const recordings = loadRecordings('cohere-v2-chat', (lines) => [
    lines.map((line) => `event: ${(JSON.parse(line) as Json).type}\ndata: ${line}\n\n`).join(''),
  ]);
  const streams = recordings.filter(({ isStream }) => isStream);
  const whole = recordings.filter(({ isStream }) => !isStream);
  const provider = defineProvider({ slug: 'replay', baseUrl: 'http://replay.invalid/v2', dialect: cohereChat });
  const replay = replayGateway({ provider });

  it('are all there', () => {
    const files = new Set(recordings.flatMap((one) => one.files));
    expect(files.size).toBe(countRecordedFiles('cohere-v2-chat'));
    expect(files.size).toBeGreaterThanOrEqual(21);
    expect([whole.length, streams.length]).toEqual([13, 5]);
    // The folder has no recorded errors of Cohere; test/unit/dialects/cohere-chat/errors.test.ts has its documented ones.
    expect(recordings.every(({ status }) => status === 200)).toBe(true);
  });

  describe('as JSON', () => {
    it.each(whole.map((one) => [one.name, one] as const))('%s says the same, in either form', async (_, recording) => {
      const theirs = readWhole(JSON.parse(textOf(recording)));
      const answer = await replay.send(answerOf(recording), {});
      expect(answer.status).toBe(200);
      checkWhole(answer.text, theirs);
      const stream = await replay.send(answerOf(recording), { stream: true });
      checkStream(stream.text, theirs);
    });
  });

  describe('as streams', () => {
    it.each(streams.map((one) => [one.name, one] as const))(
      '%s says the same, in either form',
      async (_, recording) => {
        const theirs = readStream(textOf(recording));
        const answer = await replay.send(answerOf(recording), { stream: true });
        expect(answer.status).toBe(200);
        checkStream(answer.text, theirs);
        checkWhole((await replay.send(answerOf(recording), {})).text, theirs);
      },
    );
    it.each(streams.map((one) => [one.name, one] as const))(
      '%s says the same however it is cut',
      async (_, recording) => {
        const { body } = recording;
        const uncut = (await replay.send(answerOf(recording), { stream: true })).text;
        const places = placesToCut(body);
        expect(places.length).toBeGreaterThan(90);
        expect(places.length).toBeLessThanOrEqual(200);
        for (const place of places) {
          const pieces = [body.subarray(0, place), body.subarray(place)];
          expect([place, (await replay.send({ pieces }, { stream: true })).text]).toEqual([place, uncut]);
        }
        for (const size of [1, 7, 64])
          expect((await replay.send({ pieces: piecesOf(body, size) }, { stream: true })).text).toBe(uncut);
      },
    );
    it.each(streams.map((one) => [one.name, one] as const))(
      '%s is never called complete when it ends early',
      async (_, recording) => {
        const { body } = recording;
        const end = textOf(recording).indexOf('"type":"message-end"');
        for (const place of placesToCut(body, 60).filter((one) => one < end)) {
          const { status, text } = await replay.send({ pieces: [body.subarray(0, place)] }, { stream: true });
          if (status === 200) expect([place, readSaidStream(text).error]).toEqual([place, expect.any(String)]);
          else expect([place, status]).toEqual([place, 502]);
        }
      },
    );
  });
});

const finishes: Json = { COMPLETE: 'stop', MAX_TOKENS: 'length', TOOL_CALL: 'tool_calls' };

function check(ours: Said, message: Json, theirs: CohereSaid): void {
  expect(ours.error).toBeNull();
  expect(ours.choices[0]).toEqual({
    content: theirs.content,
    reasoning: theirs.thought + theirs.plan,
    refusal: '',
    calls: theirs.calls,
    finish: finishes[theirs.finish],
  });
  for (const { arguments: text } of ours.choices[0]?.calls ?? []) expect(JSON.parse(text)).toBeTypeOf('object');
  expect(ours.usageCount).toBe(1);
  expect(ours.usage).toEqual({
    prompt_tokens: theirs.billed.input_tokens,
    total_tokens: theirs.billed.input_tokens + theirs.billed.output_tokens,
  });
  expect(message.native_finish_reason).toBe(theirs.finish);
  const details = (message.reasoning_details ?? []) as { id: string; text: string }[];
  const joined = (id: string) => details.map((one) => (one.id === id ? one.text : '')).join('');
  expect([joined('cohere-thinking'), joined('cohere-tool-plan')]).toEqual([theirs.thought, theirs.plan]);
  const annotations = (message.annotations ?? []) as { file: Json }[];
  expect(annotations.map(({ file }) => ({ start: file.start_index, end: file.end_index, source: file.hash }))).toEqual(
    theirs.citations,
  );
}

function checkWhole(text: string, theirs: CohereSaid): void {
  const body = JSON.parse(text) as { choices: { message: Json; native_finish_reason: string }[] };
  expect(validateAgainstReference('ChatResult', body)).toEqual([]);
  expect(chatResultSchema().safeParse(body).error).toBeUndefined();
  const { message, native_finish_reason } = body.choices[0] as (typeof body.choices)[0];
  check(readSaidWhole(text), { ...message, native_finish_reason }, theirs);
}

function checkStream(text: string, theirs: CohereSaid): void {
  checkChunks(text);
  const gathered: Json & { reasoning_details: unknown[]; annotations: unknown[] } = {
    reasoning_details: [],
    annotations: [],
  };
  for (const payload of payloadsOf(text).filter((one) => one !== '[DONE]')) {
    for (const { delta, native_finish_reason } of (JSON.parse(payload) as { choices: Json[] }).choices) {
      const { reasoning_details = [], annotations = [] } = delta as { reasoning_details?: []; annotations?: [] };
      gathered.reasoning_details.push(...reasoning_details);
      gathered.annotations.push(...annotations);
      if (native_finish_reason) gathered.native_finish_reason = native_finish_reason;
    }
  }
  const said = readSaidStream(text);
  expect(said.isDone).toBe(true);
  check(said, gathered, theirs);
}

function readWhole(body: Json): CohereSaid {
  const message = body.message as Json;
  const blocks = (message.content ?? []) as Json[];
  return {
    content: blocks.map(({ text }) => text ?? '').join(''),
    thought: blocks.map(({ thinking }) => thinking ?? '').join(''),
    plan: (message.tool_plan as string | undefined) ?? '',
    calls: ((message.tool_calls ?? []) as Json[]).map((call) => {
      const called = call.function as { name: string; arguments: string };
      return { id: call.id as string, name: called.name, arguments: objectText(called.arguments) };
    }),
    finish: body.finish_reason as string,
    citations: ((message.citations ?? []) as Json[]).flatMap(citationOf),
    billed: (body.usage as { billed_units: CohereSaid['billed'] }).billed_units,
  };
}

function readStream(stream: string): CohereSaid {
  const said: CohereSaid = {
    content: '',
    thought: '',
    plan: '',
    calls: [],
    finish: '',
    citations: [],
    billed: { input_tokens: 0, output_tokens: 0 },
  };
  for (const payload of payloadsOf(stream).filter((one) => one !== '[DONE]')) {
    const event = JSON.parse(payload) as { type: string; index: number; delta?: Json };
    const message = (event.delta?.message ?? {}) as Record<string, Json>;
    if (event.type.startsWith('content-') && message.content) {
      said.content += message.content.text ?? '';
      said.thought += message.content.thinking ?? '';
    }
    if (event.type === 'tool-plan-delta') said.plan += message.tool_plan;
    if (event.type === 'citation-start') said.citations.push(...citationOf(message.citations as Json));
    const called = message.tool_calls?.function as { name: string; arguments: string } | undefined;
    if (event.type === 'tool-call-start' && called)
      said.calls[event.index] = {
        id: message.tool_calls?.id as string,
        name: called.name,
        arguments: called.arguments,
      };
    const call = said.calls[event.index];
    if (event.type === 'tool-call-delta' && call) call.arguments += called?.arguments ?? '';
    if (event.type === 'message-end') {
      said.finish = event.delta?.finish_reason as string;
      const usage = event.delta?.usage as { billed_units: CohereSaid['billed'] } | undefined;
      if (usage) said.billed = usage.billed_units;
    }
  }
  for (const call of said.calls) call.arguments = objectText(call.arguments);
  return said;
}

/** Cohere writes `null` for a tool without parameters; clients expect an object. */
function objectText(text: string): string {
  return text === 'null' || text === '' ? '{}' : text;
}

function citationOf({ start, end, sources }: Json): CohereSaid['citations'] {
  return (sources as { id: string }[]).map(({ id }) => ({ start: start as number, end: end as number, source: id }));
}

function answerOf({ status, headers, body }: Recording) {
  return { status, headers, pieces: [body] };
}

function textOf({ body }: Recording): string {
  return new TextDecoder().decode(body);
}
