import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { chunkFolder } from '../../../../src/formats/chunks.ts';
import { unpackReasoning } from '../../../../src/formats/responses/packed-reasoning.ts';
import type { FinishReason, ReasoningDetail } from '../../../../src/schema/chat/chat.ts';
import type { ChunkDelta } from '../../../../src/schema/chat/chunk.ts';
import { checkResponsesResult, checkResponsesStream, type Loose } from '../../../support/check-responses.ts';
import { mixed, nativeItems, orderedStream, randomForms, randomStream } from '../../../support/random-chat-stream.ts';
import { chunkOf, end, head, newEncoder, resultOf, streamOf } from '../../../support/responses-encoding.ts';
import { runs } from '../../../support/runs.ts';

const reasons: readonly FinishReason[] = ['stop', 'tool_calls', 'length', 'content_filter'];
const reasonOf = (seed: number) => reasons[seed % reasons.length] as FinishReason;
/** Every third one expects citations of texts that have ended. */
function encoderOf(seed: number) {
  const encoder = newEncoder({}, randomForms);
  if (seed % 3 === 0) encoder.expectCitations?.();
  return encoder;
}
const encode = (seed: number) => streamOf(randomStream(seed), reasonOf(seed), encoderOf(seed));

/** The same in JSON, of the same chunks. */
function resultOfChunks(seed: number, deltas = randomStream(seed), reason = reasonOf(seed)): Loose {
  const folder = chunkFolder();
  for (const delta of deltas) folder.add(chunkOf(delta));
  const message = folder.result()?.choices[0]?.message ?? {};
  const body = encoderOf(seed).result(head, resultOf(message, reason), end);
  return checkResponsesResult(body, { schemas: seed % 20 === 0 });
}

/**
 * What a response says, without the order of its items. A chat message has no order: in JSON, all reasoning stands
 * before all text, and that before all calls. A stream has the order in which things came.
 */
function saidIn(output: readonly Loose[]) {
  const ofType = (type: string) => output.filter((item) => item.type === type);
  const parts = ofType('message').flatMap(({ content }) => content);
  const notes = parts.flatMap(({ annotations }) => (annotations ?? []) as { url: string; title: string }[]);
  const withoutIds = ({ id: _id, status: _status, ...item }: Partial<Loose>) => JSON.stringify(item);
  return {
    text: parts.map(({ text }) => text ?? '').join(''),
    refusal: parts.map(({ refusal }) => refusal ?? '').join(''),
    notes: notes.map(({ url, title }) => `${title} ${url}`).sort(),
    calls: output
      .filter(({ call_id }) => call_id !== undefined)
      .map(withoutIds)
      .sort(),
    images: ofType('image_generation_call').map(({ result }) => result),
    summary: ofType('reasoning')
      .flatMap(({ summary }) => summary.map(({ text }) => text))
      .join(''),
    thoughts: ofType('reasoning')
      .flatMap(({ content }) => content?.map(({ text }) => text) ?? [])
      .join(''),
    sealed: ofType('reasoning').flatMap(sealedIn),
  };
}

/** Signatures, and what is encrypted. */
function sealedIn({ encrypted_content: sealed }: Loose): unknown[] {
  if (typeof sealed !== 'string') return [];
  const details: readonly ReasoningDetail[] | null = unpackReasoning(sealed);
  if (details === null) return [sealed];
  return details.flatMap((one) =>
    one.type === 'reasoning.encrypted' ? [one.data] : one.signature ? [one.signature] : [],
  );
}

/** What a chat client would have of the same stream. */
function chatText(deltas: readonly ChunkDelta[]): string {
  return deltas.map(({ content }) => content ?? '').join('');
}

describe('random streams', () => {
  it('add up, and say the same as JSON', () => {
    for (let seed = 0; seed < runs(400, 5000); seed++) {
      const { final } = checkResponsesStream(encode(seed), { schemas: seed % 20 === 0 });
      const json = resultOfChunks(seed);
      const said = saidIn(final.output);
      expect(said, `seed ${seed}`).toEqual(saidIn(json.output));
      expect(said.text).toBe(chatText(randomStream(seed)));
      expect({ ...final, output: [] }).toEqual({ ...json, output: [] });
    }
  }, 120_000);
  it('of calls in turns end with the items of the complete JSON, whatever comes first', () => {
    for (let seed = 0; seed < runs(600, 10_000); seed++) {
      const deltas = orderedStream(seed);
      const reason = seed % 2 === 0 ? 'stop' : 'tool_calls';
      const { final } = checkResponsesStream(streamOf(deltas, reason, encoderOf(seed)), { schemas: seed % 50 === 0 });
      expect(final.output, `seed ${seed}`).toEqual(resultOfChunks(seed, deltas, reason).output);
    }
  }, 120_000);
  it('of a provider that sends its items in turns have the same items as one after another', () => {
    for (let seed = 0; seed < runs(400, 5000); seed++) {
      const { final } = checkResponsesStream(streamOf(mixed(nativeItems(seed), seed), 'stop', encoderOf(seed)), {
        schemas: seed % 20 === 0,
      });
      const inOrder = checkResponsesStream(streamOf(nativeItems(seed).flat(), 'stop', encoderOf(seed)), {
        schemas: false,
      });
      expect(final.output, `seed ${seed}`).toEqual(inOrder.final.output);
    }
  }, 120_000);
  it('are taken by the strict accumulator of the OpenAI SDK, which ends with the same object', async () => {
    for (let seed = 0; seed < runs(100, 1000); seed++) {
      const text = encode(seed);
      const { final } = checkResponsesStream(text, { schemas: false });
      const accumulated = JSON.parse(JSON.stringify(await accumulatedBy(text)));
      for (const item of accumulated.output) {
        delete item.parsed_arguments;
        for (const part of item.content ?? []) delete part.parsed;
      }
      expect(accumulated, `seed ${seed}`).toMatchObject(final);
    }
  }, 120_000);
  it('that break anywhere are taken by it as well, as failed', async () => {
    for (let seed = 0; seed < runs(60, 600); seed++) {
      const encoder = encoderOf(seed);
      const deltas = randomStream(seed);
      const some = deltas.slice(0, seed % (deltas.length + 1)).map((delta) => encoder.chunk(chunkOf(delta)));
      const text = some.join('') + encoder.fail(head, { code: 502, message: 'Gone' }, end);
      const { final } = checkResponsesStream(text, { schemas: seed % 10 === 0 });
      expect(final.status).toBe('failed');
      expect(await accumulatedBy(text)).toMatchObject({ status: 'failed', error: { message: 'Gone' } });
    }
  }, 120_000);
});

async function accumulatedBy(text: string) {
  const body = () => new Response(text, { headers: { 'content-type': 'text/event-stream' } });
  const client = new OpenAI({
    apiKey: 'none',
    baseURL: 'http://127.0.0.1:9/v1',
    fetch: async () => body(),
    maxRetries: 0,
  });
  return client.responses.stream({ model: 'acme/large', input: 'Hello' }).finalResponse();
}
