import { beforeAll, expect, it, vi } from 'vitest';
import { bedrockConverse } from '../../src/dialects/bedrock-converse/index.ts';
import type { Family } from '../../src/dialects/bedrock-converse/model.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import { checkChunks } from '../support/check-chunks.ts';
import {
  type ConverseSaid,
  eventFrame,
  eventsOf,
  foldConverse,
  readConverse,
  readFrames,
} from '../support/converse-wire.ts';
import { countRecordedFiles, loadRecordings, payloadsOf, type Recording } from '../support/recordings.ts';
import { describeWithShared, validateAgainstReference } from '../support/reference.ts';
import { piecesOf, replayGateway } from '../support/replay.ts';
import { runs } from '../support/runs.ts';

type Json = Record<string, unknown>;

// Bound by the machine, which may have other things to do.
vi.setConfig({ testTimeout: 120_000 });

/** Each line is an event in an object of its name: on the wire the frame has the name. */
function framed(lines: string[]): Uint8Array[] {
  const frames = lines.map((line) => {
    const [[name, payload]] = Object.entries(JSON.parse(line) as Json) as [[string, unknown]];
    return eventFrame(name, payload);
  });
  return [new Uint8Array(Buffer.concat(frames))];
}

/** What a client has of an answer. */
interface Had {
  content: string;
  reasoning: string;
  details: Json[];
  calls: { id: string; name: string; arguments: string }[];
  finish: string | null;
  native: string | null;
  usage: Json | null;
  error: string | null;
}

function emptyHad(): Had {
  return {
    content: '',
    reasoning: '',
    details: [],
    calls: [],
    finish: null,
    native: null,
    usage: null,
    error: null,
  };
}

/** Reads our stream as a client does. */
function hadOfStream(text: string): Had {
  const had = emptyHad();
  for (const payload of payloadsOf(text)) {
    if (payload === '[DONE]') continue;
    const event = JSON.parse(payload) as Json;
    if (event.usage) had.usage = event.usage as Json;
    if (event.error) had.error = (event.error as Json).message as string;
    for (const choice of event.choices as Json[]) {
      const delta = choice.delta as Json;
      had.content += (delta.content as string | undefined) ?? '';
      had.reasoning += (delta.reasoning as string | undefined) ?? '';
      had.details.push(...((delta.reasoning_details as Json[] | undefined) ?? []));
      for (const call of (delta.tool_calls as Json[] | undefined) ?? []) {
        const index = call.index as number;
        const called = call.function as Json;
        had.calls[index] ??= { id: call.id as string, name: called.name as string, arguments: '' };
        had.calls[index].arguments += called.arguments as string;
      }
      had.finish ??= choice.finish_reason as string | null;
      had.native ??= (choice.native_finish_reason as string | undefined) ?? null;
    }
  }
  return had;
}

function hadOfResult(text: string): Had {
  const body = JSON.parse(text) as Json;
  const choice = (body.choices as Json[])[0] as Json;
  const message = choice.message as Json;
  return {
    content: (message.content as string | null) ?? '',
    reasoning: (message.reasoning as string | undefined) ?? '',
    details: (message.reasoning_details as Json[] | undefined) ?? [],
    calls: ((message.tool_calls as Json[] | undefined) ?? []).map(({ id, function: called }) => ({
      id: id as string,
      name: (called as Json).name as string,
      arguments: (called as Json).arguments as string,
    })),
    finish: choice.finish_reason as string,
    native: choice.native_finish_reason as string,
    usage: body.usage as Json,
    error: null,
  };
}

const words: Record<string, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  guardrail_intervened: 'content_filter',
};

/** Nothing that the recording says is missing. */
function compare(had: Had, theirs: ConverseSaid): void {
  const thoughts = theirs.blocks.flatMap(({ reasoningContent }) =>
    reasoningContent ? [reasoningContent as Json] : [],
  );
  const thoughtText = thoughts.map(({ reasoningText }) => (reasoningText as Json | undefined)?.text ?? '').join('');
  const toolUses = theirs.blocks.flatMap(({ toolUse }) => (toolUse ? [toolUse as Json] : []));
  expect(had.error).toBeNull();
  expect(had.content).toBe(theirs.blocks.map(({ text }) => (text as string | undefined) ?? '').join(''));
  expect(had.reasoning).toBe(thoughtText);
  expect(had.calls.map(({ id, name, arguments: text }) => ({ id, name, input: JSON.parse(text) }))).toEqual(
    toolUses.map(({ toolUseId, name, input }) => ({ id: toolUseId, name, input })),
  );
  expect([had.native, had.finish]).toEqual([theirs.stopReason, words[theirs.stopReason ?? ''] ?? 'no such word']);
  const {
    inputTokens,
    outputTokens,
    cacheReadInputTokens = 0,
    cacheWriteInputTokens = 0,
    totalTokens,
  } = theirs.usage as Record<string, number>;
  expect(had.usage).toMatchObject({
    prompt_tokens: (inputTokens as number) + cacheReadInputTokens + cacheWriteInputTokens,
    completion_tokens: outputTokens,
    total_tokens: totalTokens,
    prompt_tokens_details: {
      cached_tokens: cacheReadInputTokens,
      ...(cacheWriteInputTokens > 0 ? { cache_write_tokens: cacheWriteInputTokens } : {}),
    },
  });
}

describeWithShared('recordings of Converse', () => {
  const recordings = loadRecordings('bedrock-converse', framed);
  const streams = recordings.filter(({ isStream, status }) => isStream && status === 200);
  const results = recordings.filter(({ isStream, status }) => !isStream && status === 200);
  const failures = recordings.filter(({ status }) => status !== 200);
  const named = (list: Recording[]) => list.map((one) => [one.name, one] as const);
  // The recorded model's name tells nothing of its family.
  const gatewayOf = (family: Family) =>
    replayGateway({
      provider: defineProvider({
        slug: 'replay',
        baseUrl: 'http://replay.invalid',
        dialect: bedrockConverse,
        quirks: { family },
      }),
    });
  const replay = gatewayOf('claude-4');
  const replayOfQwen = gatewayOf('qwen');
  const answerOf = ({ status, headers, body }: Recording) => ({ status, headers, pieces: [body] });

  beforeAll(() => {
    expect(streams.length).toBeGreaterThanOrEqual(14);
  });

  it('are all there', () => {
    const files = new Set(recordings.flatMap((one) => one.files));
    expect(files.size).toBe(countRecordedFiles('bedrock-converse'));
    expect(streams.length + results.length + failures.length).toBe(recordings.length);
    expect([results.length >= 20, failures.length]).toEqual([true, 3]);
    console.log(
      `recordings: ${files.size} files: ${results.length} results, ${failures.length} errors, ${streams.length} streams`,
    );
  });

  it.each(named(results))('%s says the same through the gateway, as JSON and as a stream', async (_, recording) => {
    const theirs = readConverse(JSON.parse(new TextDecoder().decode(recording.body)));
    const answer = await replay.send(answerOf(recording), {});
    expect(answer.status, answer.text).toBe(200);
    expect(validateAgainstReference('ChatResult', JSON.parse(answer.text))).toEqual([]);
    compare(hadOfResult(answer.text), theirs);
    const streamed = await replay.send(answerOf(recording), { stream: true });
    checkChunks(streamed.text);
    compare(hadOfStream(streamed.text), theirs);
    for (const size of [1, 7]) {
      const again = await replay.send({ ...answerOf(recording), pieces: piecesOf(recording.body, size) }, {});
      expect(again.text).toBe(answer.text);
    }
  });

  it.each(named(streams))('%s says the same through the gateway', async (_, recording) => {
    const answer = await replay.send(answerOf(recording), { stream: true });
    expect(answer.status, answer.text).toBe(200);
    checkChunks(answer.text);
    compare(hadOfStream(answer.text), foldConverse(eventsOf(recording.body)));
    expect(answer.text).toMatch(/data: \[DONE\]\n\n$/);
    expect(replay.lastRecord().outcome).toBe('ok');
    expect(replay.letGo()).toBe(true);
  });

  it.each(named(streams))('%s says the same wherever it is cut', async (_, { body }) => {
    const { text: uncut } = await replay.send({ pieces: [body] }, { stream: true });
    for (const cut of placesToCut(body)) {
      const { text } = await replay.send({ pieces: [body.subarray(0, cut), body.subarray(cut)] }, { stream: true });
      expect([cut, text === uncut], text).toEqual([cut, true]);
    }
    for (const size of [7, 64])
      expect((await replay.send({ pieces: piecesOf(body, size) }, { stream: true })).text).toBe(uncut);
  });

  it.each(named(streams))('%s is never called whole when its end is missing', async (_, { body }) => {
    const events = eventsOf(body);
    const stop = events.findIndex(([name]) => name === 'messageStop');
    for (const [at, { end }] of [...readFrames(body).entries()].slice(0, -1)) {
      for (const cut of [end, end + 9]) {
        const { status, text } = await replay.send({ pieces: [body.subarray(0, cut)] }, { stream: true });
        const had = status === 200 ? hadOfStream(text) : null;
        if (at >= stop) expect([cut, had?.error, had?.finish]).toEqual([cut, null, expect.any(String)]);
        else if (had === null) expect([cut, status]).toEqual([cut, 502]);
        else expect([cut, had.error, had.finish]).toEqual([cut, expect.any(String), 'error']);
      }
    }
  });

  it.each(named(failures))('%s becomes an error in the envelope', async (_, recording) => {
    const recorded = JSON.parse(new TextDecoder().decode(recording.body)) as { message: string };
    for (const stream of [false, true]) {
      const answer = await replay.send(answerOf(recording), { stream });
      expect(answer.status).toBe(recording.status);
      const { error } = JSON.parse(answer.text);
      expect(validateAgainstReference('BadRequestResponse', JSON.parse(answer.text))).toEqual([]);
      expect(error).toMatchObject({ code: 400, message: recorded.message, metadata: { provider_name: 'replay' } });
      expect(error.metadata.provider_code).toBe(
        recording.headers['x-amzn-errortype'] === undefined ? undefined : 'ValidationException',
      );
    }
  });

  const thoughtful = [...results, ...streams].filter((one) =>
    blocksOf(one).some((block) => 'reasoningContent' in block),
  );
  it.each(named(thoughtful))(
    'the reasoning of %s comes back as the very blocks that the model made',
    async (_, recording) => {
      const { isStream } = recording;
      const own = recording.name.includes('qwen') ? replayOfQwen : replay;
      const answer = await own.send(answerOf(recording), { stream: isStream });
      const { details, content, calls } = isStream ? hadOfStream(answer.text) : hadOfResult(answer.text);
      await own.send(answerOf(recording), {
        messages: [
          { role: 'user', content: 'Think.' },
          {
            role: 'assistant',
            content,
            reasoning_details: details,
            ...(calls.length === 0
              ? {}
              : { tool_calls: calls.map(({ id, ...called }) => ({ id, type: 'function', function: called })) }),
          },
          { role: 'user', content: 'Go on.' },
        ],
      });
      const isThought = (block: Json) => 'reasoningContent' in block;
      const sent = (own.lastSent().messages as { content: Json[] }[])[1]?.content.filter(isThought);
      expect(sent).toEqual(blocksOf(recording).filter(isThought));
    },
  );

  it('hold signed, secret and unsigned thoughts', () => {
    expect(thoughtful.length).toBeGreaterThanOrEqual(10);
  });
});

function blocksOf({ body, isStream }: Recording): Json[] {
  return (isStream ? foldConverse(eventsOf(body)) : readConverse(JSON.parse(new TextDecoder().decode(body)))).blocks;
}

/** At most so many places, among them those around the ends of frames and inside characters of several bytes. */
function placesToCut(body: Uint8Array): number[] {
  const most = runs(40, 200);
  const borders = readFrames(body).flatMap(({ end }) => [end - 1, end, end + 1]);
  // Bytes of the lengths and checksums look like those of characters: they are as good a place to cut.
  const inside = [...body.keys()].filter((at) => ((body[at] as number) & 0xc0) === 0x80);
  const few = (places: number[], count: number) => {
    const step = Math.max(1, Math.ceil(places.length / count));
    return places.filter((_, at) => at % step === 0);
  };
  const places = [...few(borders, most / 2), ...few(inside, most / 4), ...few([...body.keys()], most / 4)];
  return [...new Set(places)].filter((at) => at > 0 && at < body.length);
}
