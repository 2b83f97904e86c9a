import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError, isGatewayError } from '../../../../src/base/errors.ts';
import { type Ask, type Chunks, generate, type ModelCalls, stream } from '../../../../src/formats/ai-sdk/model.ts';
import { wireRequest } from '../../../../src/formats/ai-sdk/request.ts';
import type { ContentPart, StreamPart } from '../../../../src/formats/ai-sdk/types.ts';
import type { ChatChunk, ChunkDelta } from '../../../../src/schema/chat/chunk.ts';
import { messageOf } from '../../../../src/schema/chat/message-of-deltas.ts';
import { chatRequestSchema } from '../../../../src/schema/chat/request.ts';
import { randomStream } from '../../../support/random-chat-stream.ts';
import { runs } from '../../../support/runs.ts';

const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }];
const head = { id: 'gen-1', object: 'chat.completion.chunk', created: 1, model: 'acme/fast', provider: 'Up' } as const;
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, cost: 0.5 };

/** The chunks of deltas, up to a failure. @param cutAt  null: the response is complete */
function chunksOf(deltas: readonly ChunkDelta[], cutAt: number | null): Chunks {
  const choice = (delta: ChunkDelta, finish_reason: 'stop' | null = null) =>
    ({ ...head, choices: [{ index: 0, delta, finish_reason }] }) as unknown as ChatChunk;
  const all = [...deltas.map((delta) => choice(delta)), choice({}, 'stop'), { ...head, choices: [], usage }];
  let at = 0;
  return {
    async next() {
      if (at === cutAt) throw new GatewayError('upstream_failed', 'cut', { metadata: { usage } });
      const value = all[at++];
      return value === undefined ? { done: true, value: undefined } : { done: false, value: value as ChatChunk };
    },
    return: async () => undefined,
  };
}

function modelOf(ask: Ask): ModelCalls {
  return { ask, slug: 'acme/fast', settings: {}, routingField: 'service_metadata' };
}

async function read(chunks: Chunks): Promise<StreamPart[]> {
  const { stream: parts } = await stream(
    modelOf(async () => ({ headers: {}, content: chunks })),
    { prompt },
  );
  const all: StreamPart[] = [];
  for await (const part of parts) all.push(part);
  return all;
}

/** Each block is opened and closed once, under an id of its own, and nothing is said outside of one. */
function checkBlocks(parts: readonly StreamPart[]): void {
  const seen = new Set<string>();
  const open = new Map<string, string>();
  for (const part of parts) {
    const [, kind = '', step = ''] = /^(text|reasoning|tool-input)-(start|delta|end)$/.exec(part.type) ?? [];
    if (!('id' in part) || typeof part.id !== 'string' || kind === '') continue;
    if (step === 'start') {
      expect(seen.has(part.id)).toBe(false);
      seen.add(part.id);
      open.set(part.id, kind);
    } else {
      expect(open.get(part.id)).toBe(kind);
      if (step === 'end') open.delete(part.id);
    }
  }
  expect(open.size).toBe(0);
  expect(parts[0]?.type).toBe('stream-start');
  expect(parts.filter(({ type }) => type === 'stream-start' || type === 'finish')).toHaveLength(2);
  expect(parts.at(-1)?.type).toBe('finish');
  const ids = parts.flatMap((part) => (part.type === 'source' ? [part.id] : []));
  expect(new Set(ids).size).toBe(ids.length);
}

function saidIn(parts: readonly StreamPart[]) {
  const text = (type: string) =>
    parts.map((part) => (part.type === type && 'delta' in part ? part.delta : '')).join('');
  return { said: text('text-delta'), thought: text('reasoning-delta') };
}

describe('random streams', () => {
  it('are well-formed, say all, and nothing looks complete after a failure', async () => {
    for (let seed = 0; seed < runs(300, 8_000); seed++) {
      const deltas = randomStream(seed);
      const parts = await read(chunksOf(deltas, null));
      checkBlocks(parts);
      const message = messageOf(deltas);
      const { said, thought } = saidIn(parts);
      const calls = parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
      expect(said.length).toBe((String(message.content ?? '') + (message.refusal ?? '')).length);
      if (message.reasoning && !message.reasoning_details) expect(thought).toBe(message.reasoning);
      expect(calls.map(({ toolCallId, toolName, input }) => [toolCallId, toolName, input])).toEqual(
        (message.tool_calls ?? []).map(({ id, function: { name, arguments: text } }) => [
          id,
          name,
          text.trim() === '' ? '{}' : text,
        ]),
      );
      const cutAt = seed % (deltas.length + 2);
      const cut = await read(chunksOf(deltas, cutAt));
      checkBlocks(cut);
      expect(cut.slice(-2)).toMatchObject([
        { type: 'error' },
        { type: 'finish', finishReason: { unified: 'error' }, usage: { raw: usage } },
      ]);
      expect(cut.some(({ type }) => type === 'tool-call')).toBe(false);
    }
  });
  it('send back the details that they had, whichever part has them', async () => {
    for (let seed = 0; seed < runs(300, 8_000); seed++) {
      const deltas = randomStream(seed);
      const message = messageOf(deltas);
      const result = { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] };
      const asked = modelOf(async () => ({ headers: {}, content: result as never }));
      const { content } = await generate(asked, { prompt });
      const { body } = wireRequest(
        'acme/fast',
        {},
        { prompt: [{ role: 'assistant', content: content.filter(isSentBack).map(asPrompt) }] },
      );
      const [sent] = body.messages as { content: unknown; reasoning_details?: object[]; tool_calls?: object[] }[];
      expect(sent?.content ?? '').toBe(message.content ?? '');
      expect(textsOf(sent?.reasoning_details)).toEqual(textsOf(message.reasoning_details));
      expect(sent?.tool_calls?.length ?? 0).toBe(message.tool_calls?.length ?? 0);
    }
  });
});

/** The AI SDK sends everything back but sources. */
function isSentBack({ type }: ContentPart): boolean {
  return type !== 'source';
}

function asPrompt(part: ContentPart): object {
  const { providerMetadata: providerOptions, ...rest } = part as ContentPart & { providerMetadata?: object };
  return { ...rest, ...(providerOptions ? { providerOptions } : {}) };
}

/** All readable and opaque texts in order: pieces of one thought may have been joined. */
function textsOf(details: unknown): string {
  const list = (Array.isArray(details) ? details : []) as Record<string, unknown>[];
  return list.map(({ text, summary, data, signature }) => [text, summary, data, signature].join('')).join('');
}

describe('random prompts', () => {
  const json = fc.jsonValue({ maxDepth: 2 });
  const name = fc.constantFrom('user', 'assistant', 'tool', 'system', 'robot');
  const notes = fc.option(fc.dictionary(fc.constantFrom('gateway', 'other', '__proto__'), json), { nil: undefined });
  const data = fc.oneof(
    fc.record({ type: fc.constant('data'), data: fc.oneof(fc.base64String(), fc.uint8Array(), json) }),
    fc.record({
      type: fc.constant('url'),
      url: fc.oneof(
        fc.webUrl().map((url) => new URL(url)),
        json,
      ),
    }),
    fc.record({ type: fc.constant('text'), text: fc.oneof(fc.string(), json) }),
    fc.record({ type: fc.constant('reference'), reference: fc.oneof(fc.dictionary(fc.string(), fc.string()), json) }),
    json,
  );
  const mediaType = fc.constantFrom(
    'image/png',
    'image',
    'audio/wav',
    'video/*',
    'application/pdf',
    'text/plain',
    '',
    '/',
  );
  const output = fc.oneof(
    fc.record({
      type: fc.constantFrom('text', 'json', 'error-text', 'error-json', 'execution-denied', 'content'),
      value: json,
    }),
    json,
  );
  const part = fc.oneof(
    fc.record({
      type: fc.constantFrom('text', 'reasoning'),
      text: fc.oneof(fc.string(), json),
      providerOptions: notes,
    }),
    fc.record({ type: fc.constant('file'), mediaType, data, providerOptions: notes }),
    fc.record({
      type: fc.constant('tool-call'),
      toolCallId: fc.string(),
      toolName: fc.string(),
      input: json,
      providerOptions: notes,
    }),
    fc.record({
      type: fc.constant('tool-result'),
      toolCallId: fc.string(),
      toolName: fc.string(),
      output,
      providerOptions: notes,
    }),
    fc.record({ type: fc.constantFrom('custom', 'reasoning-file', 'tool-approval-response', 'new') }),
    json,
  );
  const message = fc.record({
    role: name,
    content: fc.oneof({ weight: 6, arbitrary: fc.array(part, { maxLength: 4 }) }, fc.string(), json),
    providerOptions: notes,
  });
  const options = fc.record(
    {
      prompt: fc.oneof(
        { weight: 9, arbitrary: fc.array(fc.oneof({ weight: 9, arbitrary: message }, json), { maxLength: 4 }) },
        json,
      ),
      tools: fc.oneof(
        fc.array(
          fc.oneof(fc.record({ type: fc.constantFrom('function', 'provider'), name: fc.string(), id: json }), json),
        ),
        json,
      ),
      toolChoice: fc.oneof(fc.record({ type: fc.constantFrom('auto', 'tool', 'required'), toolName: json }), json),
      responseFormat: fc.oneof(fc.record({ type: fc.constant('json'), schema: json }), json),
      providerOptions: fc.oneof(fc.dictionary(fc.constantFrom('gateway', 'other'), json), json),
      stopSequences: json,
      reasoning: json,
    },
    { requiredKeys: ['prompt'] },
  );

  it('become a request, or a clear error that names the place', () => {
    fc.assert(
      fc.property(options, (given) => {
        try {
          const { body, warnings } = wireRequest('acme/fast', {}, given as never);
          expect(() => JSON.stringify([body, warnings.list()])).not.toThrow();
        } catch (error) {
          if (!isGatewayError(error)) throw error;
          expect([error.status, error.message]).toEqual([400, expect.stringMatching(/^prompt/)]);
        }
      }),
      { numRuns: runs(1_000, 10_000), seed: runs(1, Date.now() % 1e9) },
    );
  });
  it('ask no object of a caller for a text of itself', () => {
    const refusing = {
      toString() {
        throw new Error('asked');
      },
    };
    const tools = [{ type: 'provider', name: 'x', id: refusing }];
    const parts = [{ type: refusing }, { type: 'file', mediaType: refusing, data: refusing }];
    const given = { prompt: [{ role: 'assistant', content: parts }], tools };
    const { warnings } = wireRequest('acme/fast', {}, given as never);
    expect(warnings.list().map((warning) => 'feature' in warning && warning.feature)).toContain(
      'provider tool (object)',
    );
  });
  it('that are well-formed become messages that the gateway takes', () => {
    const text = fc.record({ type: fc.constant('text'), text: fc.string() });
    const base64 = fc.record({ type: fc.constant('data'), data: fc.base64String() });
    const file = fc.record({
      type: fc.constant('file'),
      mediaType: mediaType.filter((one) => one !== ''),
      data: base64,
    });
    const thought = fc.record({ type: fc.constant('reasoning'), text: fc.string() });
    const call = fc.record({
      type: fc.constant('tool-call'),
      toolCallId: fc.string(),
      toolName: fc.string(),
      input: fc.object(),
    });
    const sound = fc.oneof(
      fc.record({ role: fc.constant('system'), content: fc.string() }),
      fc.record({ role: fc.constant('user'), content: fc.array(fc.oneof(text, file), { minLength: 1 }) }),
      fc.record({
        role: fc.constant('assistant'),
        content: fc.array(fc.oneof(text, thought, call, file), { minLength: 1 }),
      }),
    );
    fc.assert(
      fc.property(fc.array(sound, { minLength: 1, maxLength: 5 }), (given) => {
        const { body } = wireRequest('acme/fast', {}, { prompt: given as never });
        if ((body.messages as unknown[]).length === 0) return;
        expect(chatRequestSchema().safeParse(JSON.parse(JSON.stringify(body))).error).toBeUndefined();
      }),
      { numRuns: runs(500, 8_000), seed: runs(1, Date.now() % 1e9) },
    );
  });
});
