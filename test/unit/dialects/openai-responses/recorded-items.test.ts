import { expect, it } from 'vitest';
import { type OutputItem, outputDeltasOf, outputItemOf } from '../../../../src/call/output-item.ts';
import type { StreamPart } from '../../../../src/dialects/dialect.ts';
import { openaiResponses } from '../../../../src/dialects/openai-responses/index.ts';
import type { ChunkDelta } from '../../../../src/schema/chat/chunk.ts';
import { loadRecordings, payloadsOf } from '../../../support/recordings.ts';
import { describeWithShared } from '../../../support/reference.ts';

type Json = Record<string, unknown>;
interface Step {
  delta: ChunkDelta;
  item: OutputItem | null;
}

const reading = { outputItems: true };
const decoder = new TextDecoder();
const list = (value: unknown) => (Array.isArray(value) ? value : []) as Json[];

/** What the deltas of a response say of its items, in their order, joined as a client would join them. */
function itemsOf(steps: readonly Step[]): Json[] {
  const items: { item: Json; text: string; thoughts: Map<unknown, string>; encrypted?: unknown; done: number }[] = [];
  for (const { delta, item: of } of steps) {
    if (of === null) continue;
    items[of.index] ??= { item: {}, text: '', thoughts: new Map(), done: 0 };
    const known = items[of.index] as (typeof items)[number];
    expect(known.done).toBe(0);
    known.item = { ...of.item };
    if (of.isDone) known.done++;
    if (of.isOpaque) continue;
    known.text += (delta.content ?? '') + (delta.refusal ?? '');
    for (const call of delta.tool_calls ?? []) known.text += call.function?.arguments ?? '';
    for (const detail of delta.reasoning_details ?? []) {
      if (detail.type === 'reasoning.encrypted') known.encrypted = detail.data;
      else {
        const { type, index } = detail;
        const text = type === 'reasoning.summary' ? detail.summary : (detail.text ?? '');
        const key = `${type} ${index}`;
        known.thoughts.set(key, (known.thoughts.get(key) ?? '') + text);
      }
    }
  }
  expect(items.every(({ done }) => done === 1)).toBe(true);
  return items.map(({ item, text, thoughts, encrypted }) => ({
    ...item,
    text,
    thoughts: [...thoughts.values()],
    ...(encrypted === undefined ? {} : { encrypted }),
  }));
}

const passed = ['message', 'reasoning', 'function_call', 'custom_tool_call'];

/** The same of the items as their provider wrote them. */
function expectedOf(item: Json): Json {
  if (!passed.includes(item.type as string)) return { ...item, text: '', thoughts: [] };
  const { content, summary, encrypted_content: encrypted, arguments: args, input, ...rest } = item;
  const said = item.type === 'reasoning' ? [] : list(content).map(({ text, refusal }) => text ?? refusal ?? '');
  const thoughts = item.type === 'reasoning' ? [...list(summary), ...list(content)].map(({ text }) => text) : [];
  return {
    ...rest,
    text: [...said, args ?? '', input ?? ''].join('') || (item.type === 'function_call' ? '{}' : ''),
    thoughts: thoughts.filter((text) => text !== ''),
    ...(encrypted ? { encrypted } : {}),
  };
}

function stepsOf(parts: readonly StreamPart[]): Step[] {
  return parts.flatMap((part) =>
    part.kind === 'chunk' ? part.chunk.choices.map(({ delta }) => ({ delta, item: outputItemOf(delta) })) : [],
  );
}

function decode(body: Uint8Array, size: number): StreamPart[] {
  const framer = openaiResponses.framing.framer(10_000_000);
  const stream = openaiResponses.streamDecoder({}, reading);
  const parts: StreamPart[] = [];
  for (let at = 0; at < body.length; at += size) {
    framer.push(body.slice(at, at + size));
    while (framer.next()) {
      const event = framer.read();
      if (event) parts.push(...stream.decode(event.data, event.name));
    }
  }
  return parts;
}

describeWithShared('recorded responses, item by item', () => {
  const recordings = loadRecordings('openai-responses', (lines) => {
    const streams: string[] = [];
    for (const data of lines) {
      if ((JSON.parse(data) as Json).type === 'response.created') streams.push('');
      streams.push(`${streams.pop() ?? ''}data: ${data}\n\n`);
    }
    return streams;
  });
  const streams = recordings.filter(({ isStream }) => isStream).map((one) => [one.name, one.body] as const);
  const results = recordings.flatMap(({ name, body, isStream }) => {
    const response = isStream ? {} : (JSON.parse(decoder.decode(body)) as Json);
    return Array.isArray(response.output) ? [[name, response] as const] : [];
  });

  it('are all there', () => {
    expect([streams.length, results.length]).toEqual([23, 32]);
  });

  it.each(streams)('%s: every item, with its id, its phase and its text', (_, body) => {
    const events = payloadsOf(decoder.decode(body)).map((data) => JSON.parse(data) as Json);
    const eventsOf = (name: string) => events.filter(({ type }) => type === `response.output_item.${name}`);
    // One server gives an item another id in each event: the announced one stays.
    const ids = new Map(eventsOf('added').map(({ output_index: at, item }) => [at, (item as Json).id]));
    const theirs = eventsOf('done').map(({ output_index: at, item }) =>
      expectedOf({ ...(item as Json), id: ids.get(at) }),
    );
    expect(itemsOf(stepsOf(decode(body, body.length)))).toEqual(theirs);
  });

  it.each(streams)('%s: the same, cut at every byte', (_, body) => {
    const whole = decode(body, body.length);
    for (const size of [1, 7]) {
      const cut = decode(body, size);
      expect(cut).toEqual(whole);
      expect(stepsOf(cut)).toEqual(stepsOf(whole));
    }
  });

  it.each(results)('%s: every item, with its id, its phase and its text', (_, response) => {
    const { message } = openaiResponses.decodeResult(response, {}, reading).result.choices[0] as { message: object };
    const steps = (outputDeltasOf(message) ?? []).map(({ delta }) => ({ delta, item: outputItemOf(delta) }));
    expect(itemsOf(steps)).toEqual(list(response.output).map(expectedOf));
  });
});
