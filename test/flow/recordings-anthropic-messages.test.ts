import { describe, expect, it, vi } from 'vitest';
import { anthropicMessages } from '../../src/dialects/anthropic-messages/index.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import { chatResultSchema } from '../../src/schema/chat/chat.ts';
import { readChunks, readMessage, readMessageStream, readResult } from '../support/anthropic-wire.ts';
import { checkChunks } from '../support/check-chunks.ts';
import { countRecordedFiles, loadRecordings, payloadsOf, type Recording } from '../support/recordings.ts';
import { describeWithShared, validateAgainstReference } from '../support/reference.ts';
import { replayGateway } from '../support/replay.ts';

/** The most places at which one stream is cut. */
const maxCuts = 200;

// Bound by the machine, which may have other things to do.
vi.setConfig({ testTimeout: 60_000 });

const finishes: Record<string, string> = { end_turn: 'stop', tool_use: 'tool_calls', max_tokens: 'length' };

/** Puts the framing back that the lines of a file were stripped of: each file holds one stream. */
function framed(lines: string[]): string[] {
  return [lines.map((data) => `event: ${JSON.parse(data).type}\ndata: ${data}\n\n`).join('')];
}

function replayed() {
  const provider = defineProvider({ slug: 'replay', baseUrl: 'http://replay.invalid/v1', dialect: anthropicMessages });
  return replayGateway({ provider });
}

const answerOf = ({ status, headers, body }: Recording) => ({ status, headers, pieces: [body] });
const textOf = ({ body }: Recording) => new TextDecoder().decode(body);
const bodyOf = (recording: Recording) => JSON.parse(textOf(recording));

describeWithShared("recorded responses in Anthropic's format", () => {
  const recordings = loadRecordings('anthropic-messages', framed);
  const named = (some: Recording[]) => some.map((one) => [one.name, one] as const);
  const streams = recordings.filter(({ isStream }) => isStream);
  const results = recordings.filter(({ isStream, status }) => !isStream && status === 200);
  const failures = recordings.filter(({ status }) => status !== 200);
  const replay = replayed();

  it('are all there', () => {
    const files = new Set(recordings.flatMap((one) => one.files));
    expect(files.size).toBe(countRecordedFiles('anthropic-messages'));
    expect(files.size).toBeGreaterThanOrEqual(47);
    expect([results.length, streams.length, failures.length].every((count) => count > 0)).toBe(true);
    expect(results.length + streams.length + failures.length).toBe(recordings.length);
    console.log(
      `recordings: ${files.size} files: ${results.length} results, ${failures.length} errors, ${streams.length} streams`,
    );
  });

  it.each(named(results))('%s says the same', async (_, recording) => {
    const said = readMessage(bodyOf(recording));
    const answer = await replay.send(answerOf(recording), {});
    expect(answer.status, answer.text).toBe(200);
    const body = JSON.parse(answer.text);
    expect(validateAgainstReference('ChatResult', body)).toEqual([]);
    expect(chatResultSchema().safeParse(body).error).toBeUndefined();
    expect(readResult(body)).toEqual(said);
    expect(body.choices[0].finish_reason).toBe(finishes[said.stop as string]);
    expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens);
    expect(body.usage.prompt_tokens).toBe(said.tokens?.prompt);
  });

  it.each(named(results))('%s says the same as a stream where one was asked', async (_, recording) => {
    const answer = await replay.send(answerOf(recording), { stream: true });
    expect(answer.status, answer.text).toBe(200);
    checkChunks(answer.text);
    expect(readChunks(payloadsOf(answer.text))).toEqual(readMessage(bodyOf(recording)));
  });

  it.each(named(streams))('%s says the same', async (_, recording) => {
    const said = readMessageStream(textOf(recording));
    const answer = await replay.send(answerOf(recording), { stream: true });
    expect(answer.status, answer.text).toBe(200);
    checkChunks(answer.text);
    const payloads = payloadsOf(answer.text);
    expect(payloads.at(-1)).toBe('[DONE]');
    expect(readChunks(payloads)).toEqual(said);
    const ends = payloads.filter((payload) => /"finish_reason":"/.test(payload)).map((one) => JSON.parse(one));
    expect(ends.map((one) => one.choices[0].finish_reason)).toEqual([finishes[said.stop as string]]);
    expect(payloads.filter((payload) => payload.includes('"usage":'))).toHaveLength(1);
    expect(replay.lastRecord()).toMatchObject({ outcome: 'ok', isEstimated: false });
  });

  it.each(named(streams))('%s says the same as one response where one was asked', async (_, recording) => {
    const answer = await replay.send(answerOf(recording), {});
    expect(answer.status, answer.text).toBe(200);
    expect(validateAgainstReference('ChatResult', JSON.parse(answer.text))).toEqual([]);
    expect(readResult(JSON.parse(answer.text))).toEqual(readMessageStream(textOf(recording)));
  });

  it.each(named(streams))('%s says the same wherever its bytes are cut', async (_, recording) => {
    const { body } = recording;
    const { text: uncut } = await replay.send(answerOf(recording), { stream: true });
    const cuts = placesToCut(body);
    for (const cut of cuts) {
      const pieces = [body.subarray(0, cut), body.subarray(cut)];
      const { text } = await replay.send({ ...answerOf(recording), pieces }, { stream: true });
      expect([cut, text]).toEqual([cut, uncut]);
    }
    expect(cuts.length).toBeGreaterThan(50);
  });

  it.each(named(streams))('%s is never called complete when its end is missing', async (_, recording) => {
    const { body } = recording;
    const finishedAt = textOf(recording).search(/(?:event: message_delta\s+)?data: ?\{"type": ?"message_delta"/);
    expect(finishedAt).toBeGreaterThan(0);
    for (const end of eventEnds(body).filter((at) => at <= Buffer.byteLength(textOf(recording).slice(0, finishedAt)))) {
      const answer = await replay.send({ ...answerOf(recording), pieces: [body.subarray(0, end)] }, { stream: true });
      if (answer.status === 502) continue;
      const last = JSON.parse(payloadsOf(answer.text).at(-1) === '[DONE]' ? payloadsOf(answer.text).at(-2)! : '{}');
      expect([end, answer.status, last.error?.code, last.choices?.[0]?.finish_reason]).toEqual([
        end,
        200,
        502,
        'error',
      ]);
    }
  });

  it.each(named(failures))('%s is an error in the envelope', async (_, recording) => {
    const recorded = bodyOf(recording).error;
    for (const stream of [false, true]) {
      const answer = await replay.send(answerOf(recording), { stream });
      expect(answer.status).toBe(recording.status);
      expect(validateAgainstReference('NotFoundResponse', JSON.parse(answer.text))).toEqual([]);
      expect(JSON.parse(answer.text).error).toMatchObject({
        code: recording.status,
        message: recorded.message,
        metadata: { provider_name: 'replay', provider_code: recorded.type },
      });
    }
  });

  const thinking = recordings.filter((one) => one.status === 200 && saidBy(one).thoughts.length > 0);
  it.each(named(thinking))(
    '%s: the thoughts go back as they came, however a client kept them',
    async (_, recording) => {
      const { thoughts, calls } = saidBy(recording);
      expect(thoughts.every(({ signature, data }) => Boolean(signature ?? data))).toBe(true);
      const { message } = JSON.parse((await replay.send(answerOf(recording), {})).text).choices[0];
      const chunks = payloadsOf((await replay.send(answerOf(recording), { stream: true })).text);
      // A client may keep the parts of a stream as they came.
      const details = chunks
        .filter((payload) => payload !== '[DONE]')
        .flatMap((payload) => JSON.parse(payload).choices[0]?.delta.reasoning_details ?? []);
      for (const kept of [message, { ...message, reasoning_details: details }]) {
        const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Done.' }));
        const messages = [{ role: 'user', content: 'Hi' }, kept, ...results, { role: 'user', content: 'Go on.' }];
        await replay.send(answerOf(recording), { messages });
        const sent = (replay.lastSent().messages as { content: { type: string }[] }[])[1]?.content ?? [];
        expect(sent.filter(({ type }) => type.endsWith('thinking'))).toEqual(thoughts);
        expect(sent[0]?.type).toMatch(/thinking$/);
      }
    },
  );

  it('some of which hold thoughts, calls, cached tokens and blocks of tools of the provider', () => {
    const all = recordings.filter(({ status }) => status === 200).map(saidBy);
    for (const holds of [
      all.some(({ thoughts }) => thoughts.length > 0),
      all.some(({ calls }) => calls.length > 0),
      all.some(({ tokens }) => (tokens?.cached ?? 0) > 0),
      all.some(({ tokens }) => (tokens?.written ?? 0) > 0),
      recordings.some((one) => /server_tool_use/.test(textOf(one))),
      recordings.some((one) => /mcp_tool_result/.test(textOf(one))),
    ])
      expect(holds).toBe(true);
  });
});

function saidBy(recording: Recording) {
  return recording.isStream ? readMessageStream(textOf(recording)) : readMessage(bodyOf(recording));
}

/** Where the events of a stream end. */
function eventEnds(body: Uint8Array): number[] {
  const ends: number[] = [];
  for (let at = 0; at + 1 < body.length; at++) if (body[at] === 10 && body[at + 1] === 10) ends.push(at + 2);
  return ends;
}

/** Inside of every character of several bytes, around the ends of events, and evenly between. */
function placesToCut(body: Uint8Array): number[] {
  const inside: number[] = [];
  for (let at = 1; at < body.length; at++) if (((body[at] as number) & 0xc0) === 0x80) inside.push(at);
  const borders = eventEnds(body).flatMap((end) => [end, end - 1]);
  const step = Math.max(1, Math.floor(body.length / maxCuts));
  const even = Array.from({ length: Math.floor(body.length / step) }, (_, at) => (at + 1) * step);
  return [...new Set([...inside, ...borders, ...even])].filter((at) => at > 0 && at < body.length).slice(0, maxCuts);
}

describe('where streams are cut', () => {
  it('is inside of characters and between events', () => {
    const places = placesToCut(new TextEncoder().encode('data: é\n\ndata: b\n\n'));
    expect(places).toEqual(expect.arrayContaining([7, 10, 9]));
  });
});
