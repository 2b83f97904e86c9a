import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/schema/chat/chat.ts';
import type { ChatChunk } from '../../src/schema/chat/chunk.ts';
import { streamResponses } from '../support/ask-responses.ts';
import {
  bodyOf,
  calls,
  type Deviation,
  deviations,
  said,
  straight,
  thought,
  usage,
} from '../support/deviant-streams.ts';
import { testGateway } from '../support/gateway.ts';
import { payloadsOf } from '../support/recordings.ts';
import { runs } from '../support/runs.ts';

const test = testGateway({ retry: { maxAttempts: 1 } });
const ask = { model: 'acme/free', messages: [{ role: 'user', content: 'Read both.' }] };
const html = { 'content-type': 'text/event-stream' };

type Body = string | readonly Uint8Array[];
const answerWith = (body: Body) =>
  test.upstream.answer({ headers: html, body: typeof body === 'string' ? [body] : [...body] });

async function chunksOf(body: Body): Promise<ChatChunk[]> {
  answerWith(body);
  return (await test.post({ ...ask, stream: true })).chunks;
}

async function messageOf(body: Body): Promise<{ status: number; choice: unknown; usage: unknown }> {
  answerWith(body);
  const { status, json } = await test.post(ask);
  return { status, choice: json.choices?.[0], usage: countsIn(json.usage) };
}

async function itemsOf(body: Body): Promise<unknown> {
  answerWith(body);
  const { text } = await streamResponses(test, { model: 'acme/free' });
  const events = payloadsOf(text)
    .filter((payload) => payload !== '[DONE]')
    .map((payload) => JSON.parse(payload));
  const { response } = events.at(-1);
  return {
    types: events.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1]),
    status: response.status,
    items: response.output.map(({ id: _, ...item }: { id: string }) => item),
  };
}

function countsIn(reported: unknown) {
  const { prompt_tokens, completion_tokens, total_tokens, estimated } = (reported ?? {}) as Record<string, unknown>;
  return { prompt_tokens, completion_tokens, total_tokens, estimated };
}

/** What chunks say, in order, however texts are cut. */
function storyOf(chunks: readonly ChatChunk[]): unknown[][] {
  const story: unknown[][] = [];
  const add = (kind: string, text: string, index?: number) => {
    const last = story.at(-1);
    if (text === '') return;
    if (last?.[0] === kind && last[2] === index) last[1] += text;
    else story.push([kind, text, index]);
  };
  for (const { choices, usage: reported, error } of chunks) {
    if (error) story.push(['error']);
    if (reported) story.push(['usage', countsIn(reported)]);
    for (const { delta, finish_reason } of choices) {
      const { role, content, reasoning, tool_calls: fragments, reasoning_details: _details, ...others } = delta;
      if (role !== undefined) story.push(['role', role]);
      add('thought', reasoning ?? '');
      add('text', content ?? '');
      for (const { index, id, function: called, type } of fragments ?? []) {
        if (id !== undefined || called?.name !== undefined) story.push(['call', index, id, type, called?.name]);
        add('arguments', called?.arguments ?? '', index);
      }
      for (const key in others) if (key !== 'refusal') story.push(['other', key, others[key]]);
      if (finish_reason !== null) story.push(['finish', finish_reason]);
    }
  }
  return story;
}

/** Ids that the provider did not give are ours; that each call has its own is checked apart. */
function withoutIds<T>(value: T, { hasOwnIds }: Deviation): T {
  if (hasOwnIds !== false) return value;
  return JSON.parse(JSON.stringify(value).replace(/"(?:call_[ab01]|call)"/g, '"an id"'));
}

const expected: unknown[][] = [
  ['role', 'assistant'],
  ['thought', thought, undefined],
  ['text', said, undefined],
  ...calls.flatMap(({ id, name, args }, at) => [
    ['call', at, id, 'function', name],
    ['arguments', args, at],
  ]),
  ['finish', 'tool_calls'],
  ['usage', { ...usage, estimated: undefined }],
];

/** Fragments of several calls come in turns. */
const inOrder = (story: unknown[][]): unknown[][] => {
  const ofCalls = story.filter((one) => ['call', 'arguments'].includes((one as string[])[0] as string));
  const joined = calls.flatMap((_, at) => {
    const of = ofCalls.filter(
      (one) => (one as unknown[])[(one as unknown[])[0] === 'call' ? 1 : 2] === at,
    ) as unknown[][];
    const texts = of.filter(([kind]) => kind === 'arguments').map(([, text]) => text);
    return [...of.filter(([kind]) => kind === 'call'), ['arguments', texts.join(''), at]];
  });
  const first = story.findIndex((one) => (one as string[])[0] === 'call');
  const others = story.filter((one) => !ofCalls.includes(one));
  return [...others.slice(0, first), ...joined, ...others.slice(first)];
};

const all: readonly Deviation[] = [straight, ...deviations];
const named = all.map((one): [string, Deviation] => [one.name, one]);

const straightMessage = {
  index: 0,
  message: {
    role: 'assistant',
    content: said,
    refusal: null,
    reasoning: thought,
    tool_calls: calls.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: args } })),
  },
  finish_reason: 'tool_calls',
  logprobs: null,
};

describe('a stream of a server with manners of its own', () => {
  it('has enough of them, each with a name', () => {
    expect(deviations.length).toBeGreaterThan(60);
    expect(new Set(named.map(([name]) => name)).size).toBe(all.length);
  });
  it.each(named)('gives the same chunks: %s', async (_, one) => {
    const chunks = await chunksOf(bodyOf(one));
    expect(withoutIds(inOrder(storyOf(chunks)), one)).toEqual(withoutIds(expected, one));
    const given = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []).flatMap(({ id }) => id ?? []);
    expect(new Set(given).size).toBe(calls.length);
    for (const { choices } of chunks)
      expect(choices.filter(({ finish_reason }, at) => finish_reason !== null && at > 0)).toEqual([]);
  });
  it.each(named)('gives the same complete message: %s', async (_, one) => {
    const { status, choice, usage: reported } = await messageOf(bodyOf(one));
    expect(status).toBe(200);
    const {
      native_finish_reason: _native,
      message,
      ...rest
    } = choice as { native_finish_reason: string; message: ChatMessage };
    expect(withoutIds({ ...rest, message }, one)).toEqual(withoutIds(straightMessage, one));
    expect(reported).toEqual({ ...usage, estimated: undefined });
  });
  it.each(named)('gives the same items of Responses: %s', async (_, one) => {
    const items = await itemsOf(bodyOf(one));
    const known = await itemsOf(bodyOf(straight));
    expect(withoutIds((items as { items: unknown }).items, one)).toEqual(
      withoutIds((known as { items: unknown }).items, one),
    );
    expect((items as { status: string }).status).toBe('completed');
  });
  it.each(named)('gives the same, wherever its bytes are cut: %s', async (_, one) => {
    const bytes = new TextEncoder().encode(bodyOf(one));
    for (const size of runs([1], [1, 2, 3, 7, 64])) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (__, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      const story = inOrder(storyOf(await chunksOf(pieces)));
      expect(withoutIds(story, one)).toEqual(withoutIds(expected, one));
    }
  });
});

describe('a stream of such a server that is cut', () => {
  /** Up to where something of the response is missing. */
  const lastFinish = (body: string) => body.lastIndexOf('"finish_reason":"');
  const events = named.filter(([, one]) => bodyOf(one).startsWith('data'));
  it.each(events)('at any place never looks whole: %s', async (name, one) => {
    const body = bodyOf(one);
    const ends: number[] = [];
    for (let at = body.indexOf('data', 1); at >= 0; at = body.indexOf('data', at + 1)) ends.push(at);
    const places = [
      ...ends,
      ...runs(
        [97, 401, 1009],
        Array.from({ length: 60 }, (_, at) => at * 53 + 1),
      ),
    ];
    for (const at of places.filter((place) => place > 0 && place < body.length)) {
      const chunks = await chunksOf(body.slice(0, at));
      const story = storyOf(chunks);
      const isWhole = story.some(([kind]) => kind === 'finish') && !story.some(([kind]) => kind === 'error');
      if (!isWhole) continue;
      // A stream that says its end before all is said cannot be told from one that is whole.
      const saysEndEarly = name.includes('(Dynamo)');
      if (!saysEndEarly) expect([at, at > lastFinish(body) - 1 || name.includes('several times')]).toEqual([at, true]);
      const arrived = withoutIds(inOrder(story), one).filter(([kind]) => kind !== 'usage');
      if (!saysEndEarly) expect(arrived).toEqual(withoutIds(expected, one).filter(([kind]) => kind !== 'usage'));
    }
  });
});
