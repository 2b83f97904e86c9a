import { expect, it, vi } from 'vitest';
import type { Loose } from '../support/check-responses.ts';
import { chatFormats, recordingsOf } from '../support/recorded-formats.ts';
import { chunksOf, type Recording } from '../support/recordings.ts';
import { describeWithShared } from '../support/reference.ts';
import { type Replay, replayGateway } from '../support/replay.ts';
import { runs } from '../support/runs.ts';
import { joinChat } from '../support/said-responses.ts';

type Json = Record<string, unknown>;

// Bound by the machine, which may have other things to do.
vi.setConfig({ testTimeout: 60_000 });

/** An empty message is no item. */
const saysNothing = /test_google_model_max_tokens_thinking_model_empty_response/;

for (const format of chatFormats) {
  describeWithShared(`recordings of ${format.name}, as responses`, () => {
    const recordings = recordingsOf(format).filter(({ status }) => status === 200);
    const replay = replayGateway({ provider: format.provider });
    const cases = recordings.filter((one) => !saysNothing.test(one.name)).map((one) => [one.name, one] as const);

    it.each(cases)('%s goes back as the chat message would', async (_, recording) => {
      const message = await chatMessage(replay, recording);
      if (message === null) return;
      const sent = await sentForChat(replay, recording, message);
      for (const stream of runs([recording.isStream], [false, true])) {
        const { status, text } = await replay.respond(answerOf(recording), { stream });
        // As JSON, a stream of binary frames is nothing.
        if (status !== 200 && !stream && format.name === 'bedrock-converse') continue;
        expect([stream, await sentForItems(replay, recording, outputOf(text, stream))]).toEqual([stream, sent]);
      }
    });
  });
}

/** As a client keeps it; null: the recording is an error inside a success. */
async function chatMessage(replay: Replay, recording: Recording): Promise<Json | null> {
  const { status, text } = await replay.send(answerOf(recording), {});
  if (status === 200) return JSON.parse(text).choices[0].message;
  const stream = await replay.send(answerOf(recording), { stream: true });
  const chunks = chunksOf(stream.text);
  if (stream.status !== 200 || chunks.at(-1)?.error !== undefined) return null;
  const [choice] = joinChat(chunks).choices as { message: Json }[];
  return choice?.message ?? null;
}

function outputOf(text: string, isStream: boolean): Loose[] {
  return isStream ? (chunksOf(text).at(-1) as { response: Loose }).response.output : JSON.parse(text).output;
}

function answerOf({ status, headers, body }: Recording) {
  return { status, headers, pieces: [body] };
}

const user = { role: 'user', content: 'Go on.' };

/** The fields of a message that the interface has. Others, such as Groq's `channel`, no item has a place for. */
const messageFields = ['role', 'content', 'refusal', 'reasoning', 'reasoning_content', 'reasoning_details', 'audio'];

async function sentForChat(replay: Replay, recording: Recording, message: Json) {
  const calls = (message.tool_calls ?? []) as Json[];
  const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Done.' }));
  const kept = pick(messageFields, message);
  if (calls.length > 0) kept.tool_calls = calls.map((call) => pick(['id', 'type', 'function'], call));
  await replay.send(answerOf(recording), { messages: [user, kept, ...results, user] });
  return sentOnce(replay);
}

/** Of a message that is calls alone, it does not matter how the content says that there is no text. */
function sentOnce(replay: Replay): Json {
  const { messages, ...rest } = replay.lastSent();
  expect([messages, rest]).not.toEqual([undefined, {}]);
  const isOfCalls = (message: Json) => Array.isArray(message.tool_calls) && !message.content;
  return {
    ...rest,
    messages: (messages as Json[] | undefined)?.map((one) => (isOfCalls(one) ? { ...one, content: null } : one)),
  };
}

/** The fields that are there. */
function pick(names: readonly string[], from: Json): Json {
  return Object.fromEntries(names.filter((name) => (from[name] ?? null) !== null).map((name) => [name, from[name]]));
}

/** As an agent sends it: of an item, it keeps the fields that it knows. */
async function sentForItems(replay: Replay, recording: Recording, output: readonly Loose[]) {
  const items = output.filter(({ type }) => type !== 'image_generation_call').map(kept);
  const calls = output.filter(({ type }) => type === 'function_call');
  const results = calls.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'Done.' }));
  await replay.respond(answerOf(recording), { input: [user, ...items, ...results, user] });
  return sentOnce(replay);
}

const fields: Record<string, readonly string[]> = {
  reasoning: ['id', 'summary', 'content', 'encrypted_content'],
  message: ['id', 'role', 'status', 'content'],
  function_call: ['id', 'call_id', 'name', 'arguments'],
};

function kept(item: Loose) {
  const names = fields[item.type] as readonly string[];
  return { type: item.type, ...pick(names, item) };
}
