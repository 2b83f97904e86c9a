import { describe, expect, it } from 'vitest';
import { eventsPerStream } from '../../bench/dialects/response.ts';
import { type BenchStream, dialectNames, streamOf } from '../../bench/dialects/streams.ts';
import { passThrough, type Translated, translate } from '../../bench/dialects/translate.ts';
import type { Dialect, StreamPart } from '../../src/dialects/dialect.ts';
import { chunkFolder } from '../../src/formats/chunks.ts';
import type { ChatChunk } from '../../src/schema/chat/chunk.ts';
import { type DialectName, dialects } from '../support/dialects.ts';

/** The stream as its dialect alone reads it. */
function decode({ dialect: name, chunks }: BenchStream): { parts: StreamPart[]; frames: number } {
  const dialect: Dialect = dialects[name];
  const framer = dialect.framing.framer(100_000);
  const decoder = dialect.streamDecoder({});
  const parts: StreamPart[] = [];
  let frames = 0;
  for (const chunk of chunks) {
    framer.push(chunk);
    while (framer.next()) {
      frames++;
      const event = framer.read();
      if (event) parts.push(...decoder.decode(event.data, event.name));
    }
  }
  return { parts, frames };
}

/** The message that the bytes for the client add up to. */
function messageIn(run: (take: (bytes: Uint8Array) => void) => Translated) {
  const text = new TextDecoder();
  let written = '';
  const translated = run((bytes) => {
    written += text.decode(bytes);
  });
  const folder = chunkFolder();
  const events = written.split('\n\n').slice(0, -1);
  for (const event of events) folder.add(JSON.parse(event.slice('data: '.length)) as ChatChunk);
  return { ...translated, choice: folder.result()?.choices[0] };
}

/** What the client has to get. */
function expectedOf({ response }: BenchStream) {
  const { texts, thoughts, call } = response;
  return {
    message: {
      content: texts.join(''),
      reasoning: thoughts.join(''),
      tool_calls: [{ type: 'function', id: call.id, function: { name: call.name } }],
    },
    finish_reason: 'tool_calls',
  };
}

describe('the streams of the dialects', () => {
  it('are there for every dialect', () => {
    expect(dialectNames).toEqual(Object.keys(dialects));
    expect(dialectNames).toContain('openai-chat' satisfies DialectName);
  });
  it.each(dialectNames)('are as long as the results say, and are mostly text: %s', (name) => {
    const stream = streamOf(name);
    expect(decode(stream).frames).toBe(eventsPerStream);
    expect(stream.response.texts.length).toBeGreaterThan(eventsPerStream * 0.65);
    expect(stream.chunks.length).toBeLessThan(eventsPerStream / 2);
  });
  it.each(dialectNames)('say their end as the provider does: %s', (name) => {
    const { parts } = decode(streamOf(name));
    const kinds = parts.map(({ kind }) => kind);
    expect(kinds).not.toContain('error');
    expect(kinds.filter((kind) => kind === 'done')).toHaveLength(name === 'google-generate-content' ? 0 : 1);
    // Google ends a candidate, and then the connection.
    const finished = parts.filter((part) => part.kind === 'chunk' && part.chunk.choices[0]?.finish_reason);
    expect(finished).toHaveLength(1);
  });
  it.each(dialectNames)('are translated to the same text, one tool call, and the usage: %s', (name) => {
    const stream = streamOf(name);
    const { choice, end, meter, decoded } = messageIn((take) => translate(stream, take));
    expect(choice).toMatchObject(expectedOf(stream));
    expect(choice?.message.tool_calls?.map((call) => JSON.parse(call.function.arguments))).toEqual([
      JSON.parse(stream.response.call.arguments.join('')),
    ]);
    expect(end).toEqual({ kind: 'complete' });
    expect(meter.usage).toMatchObject({ prompt_tokens: 412, prompt_tokens_details: { cached_tokens: 128 } });
    expect(decoded).toBe(eventsPerStream);
  });
  it('pass through where the events are chunks of chat completions', () => {
    const stream = streamOf('openai-chat');
    const { choice, end, decoded } = messageIn((take) => passThrough(stream, take));
    expect(choice).toMatchObject(expectedOf(stream));
    expect(end).toEqual({ kind: 'complete' });
    // The tool call, the first events of each kind, and the end.
    expect(decoded).toBeLessThan(stream.response.call.arguments.length + 10);
    expect(dialectNames.filter((name) => dialects[name].format === 'chat')).toEqual(['openai-chat']);
  });
});
