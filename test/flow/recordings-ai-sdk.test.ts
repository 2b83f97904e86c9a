import { createAnthropic } from '@ai-sdk/anthropic';
import { expect, it } from 'vitest';
import { chatResultSchema } from '../../src/schema/chat/chat.ts';
import { aiSdkGateway, ask } from '../support/ai-sdk-models.ts';
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

type Json = Record<string, unknown>;

/** What Anthropic says in a response, read without the AI SDK, so that it can judge what comes of it. */
interface Block {
  type: string;
  text: string;
  thinking: string;
  signature: string;
  id: string;
  name: string;
  input: string;
}

describeWithShared('recorded responses of Anthropic, through @ai-sdk/anthropic', () => {
  const recordings = loadRecordings('anthropic-messages', (lines) => [
    lines.map((line) => `event: ${(JSON.parse(line) as Json).type}\ndata: ${line}\n\n`).join(''),
  ]);
  const streams = recordings.filter((one) => one.isStream && one.status === 200);
  const whole = recordings.filter((one) => !one.isStream && one.status === 200);
  const failures = recordings.filter(({ status }) => status !== 200);
  let pieces: Uint8Array[] = [];
  let recorded = recordings[0] as Recording;
  const fetch = (async () => {
    const body = new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    return new Response(body, { status: recorded.status, headers: { 'content-type': typeOf(recorded) } });
  }) as unknown as typeof globalThis.fetch;
  const gateway = aiSdkGateway({ models: createAnthropic({ apiKey: 'k', fetch }) });
  const send = async (recording: Recording, given: Uint8Array[] = [recording.body]) => {
    pieces = given;
    recorded = recording;
    return await ask(gateway, { stream: recording.isStream, max_tokens: 100 });
  };

  it('are all there', () => {
    const files = new Set(recordings.flatMap((one) => one.files));
    expect(files.size).toBe(countRecordedFiles('anthropic-messages'));
    expect([streams.length, whole.length, failures.length].every((count) => count > 0)).toBe(true);
    expect(streams.length + whole.length + failures.length).toBe(recordings.length);
  });

  it.each(whole.map((one) => [one.name, one] as const))('%s says the same', async (_, recording) => {
    const response = await send(recording);
    const text = await response.text();
    expect([response.status, text.slice(0, 500)]).toEqual([200, expect.any(String)]);
    const body = JSON.parse(text);
    expect(validateAgainstReference('ChatResult', body)).toEqual([]);
    expect(chatResultSchema().safeParse(body).error).toBeUndefined();
    const theirs = JSON.parse(textOf(recording)) as { content: Block[]; stop_reason: string; usage: Json };
    const blocks = theirs.content.map((block) => ({ ...block, input: JSON.stringify(block.input ?? {}) }));
    check(readSaidWhole(text), blocks, theirs.usage);
    expect(body.choices[0].native_finish_reason).toBe(theirs.stop_reason);
    checkSignatures(body.choices[0].message.reasoning_details, blocks);
  });

  it.each(streams.map((one) => [one.name, one] as const))(
    '%s says the same, however it is cut',
    async (_, recording) => {
      const text = await (await send(recording)).text();
      checkChunks(text, 'acme/m');
      const { blocks, usage } = readStream(textOf(recording));
      const ours = readSaidStream(text);
      check(ours, blocks, usage);
      const details = payloadsOf(text)
        .filter((one) => one !== '[DONE]')
        .flatMap((payload) => JSON.parse(payload).choices[0]?.delta.reasoning_details ?? []);
      checkSignatures(details, blocks);
      for (const place of placesToCut(recording.body, 30)) {
        const cut = [recording.body.subarray(0, place), recording.body.subarray(place)];
        expect([place, readSaidStream(await (await send(recording, cut)).text())]).toEqual([place, ours]);
      }
      const early = recording.body.subarray(0, textOf(recording).indexOf('message_delta') - 20);
      const broken = await send(recording, [early]);
      if (broken.status === 200) expect(readSaidStream(await broken.text()).error).toEqual(expect.any(String));
      else expect(broken.status).toBe(502);
    },
  );

  it.each(failures.map((one) => [one.name, one] as const))('%s is told as it is', async (_, recording) => {
    const response = await send(recording);
    const { error } = JSON.parse(textOf(recording)) as { error: { message: string } };
    expect(response.status).toBe(recording.status);
    expect(await response.text()).toContain(JSON.stringify(error.message).slice(1, -1));
  });
});

function check(ours: Said, blocks: readonly Block[], usage: Json): void {
  const joined = (key: 'text' | 'thinking') =>
    blocks.map((block) => (block.type === key ? (block[key] ?? '') : '')).join('');
  const choice = ours.choices[0];
  expect([ours.error, choice?.content, choice?.reasoning]).toEqual([null, joined('text'), joined('thinking')]);
  const calls = blocks.filter(({ type }) => type === 'tool_use');
  expect(choice?.calls.map(({ id, name, arguments: text }) => [id, name, JSON.parse(text)])).toEqual(
    calls.map(({ id, name, input }) => [id, name, JSON.parse(input || '{}')]),
  );
  expect(choice?.finish).toMatch(calls.length > 0 ? /^tool_calls$/ : /^(?:stop|length)$/);
  const count = (key: string) => (typeof usage[key] === 'number' ? usage[key] : 0);
  const prompt = count('input_tokens') + count('cache_read_input_tokens') + count('cache_creation_input_tokens');
  expect(ours.usage).toEqual({ prompt_tokens: prompt, total_tokens: prompt + count('output_tokens') });
}

function checkSignatures(details: { data?: string }[] | undefined, blocks: readonly Block[]): void {
  const data = JSON.stringify((details ?? []).map((one) => one.data ?? ''));
  for (const { signature } of blocks) if (signature) expect(data).toContain(signature);
}

function readStream(stream: string): { blocks: Block[]; usage: Json } {
  const blocks: Block[] = [];
  const usage: Json = {};
  for (const payload of payloadsOf(stream)) {
    const event = JSON.parse(payload) as Json & { index: number };
    if (event.type === 'message_start') Object.assign(usage, (event.message as Json).usage);
    if (event.type === 'message_delta') Object.assign(usage, event.usage);
    if (event.type === 'content_block_start') {
      const empty = { text: '', thinking: '', signature: '' };
      blocks[event.index] = { ...empty, ...(event.content_block as Block), input: '' };
    }
    const block = blocks[event.index];
    if (event.type !== 'content_block_delta' || !block) continue;
    const { text = '', thinking = '', signature = '', partial_json = '' } = event.delta as Record<string, string>;
    block.text += text;
    block.thinking += thinking;
    block.signature += signature;
    block.input += partial_json;
  }
  return { blocks, usage };
}

function typeOf({ isStream }: Recording): string {
  return isStream ? 'text/event-stream' : 'application/json';
}

function textOf({ body }: Recording): string {
  return new TextDecoder().decode(body);
}
