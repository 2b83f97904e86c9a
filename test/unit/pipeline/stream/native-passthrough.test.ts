import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../../src/base/secrets.ts';
import { anthropicMessages } from '../../../../src/dialects/anthropic-messages/index.ts';
import { messagesEncoder } from '../../../../src/formats/messages/encoder/index.ts';
import { OpenSecrets } from '../../../../src/pipeline/secrets/open-secrets.ts';
import type { ChunkOutput, Forwarding } from '../../../../src/pipeline/stream/chunk-output.ts';
import { ChoiceWatch, type EventReader } from '../../../../src/pipeline/stream/events.ts';
import { NativePassthrough } from '../../../../src/pipeline/stream/native-passthrough.ts';
import { StreamProgress } from '../../../../src/pipeline/stream/progress.ts';
import { StreamReader } from '../../../../src/pipeline/stream/reader.ts';
import { defineProvider } from '../../../../src/providers/provider.ts';
import { runs } from '../../../support/runs.ts';
import { recut } from '../../../support/upstream.ts';

const secret = 'sk-secret-0123456789-abcdefgh';
const redactor = createRedactor([secret]);
const head = { id: 'gen-1', created: 1, model: 'acme/own', provider: 'Up' };
const provider = defineProvider({ slug: 'up', baseUrl: 'https://up.test/v1', dialect: anthropicMessages });

interface Read {
  text: string;
  end: unknown;
  meter: unknown;
  /** The number of events that were decoded. */
  decoded: number;
}

/** Reads a stream as the pipeline does. @param forwards  false: every event is decoded */
function read(pieces: readonly Uint8Array[], forwards: boolean): Read {
  const encoder = messagesEncoder({ brand: 'service', showsThoughts: true, estimate: () => 1 });
  encoder.untouched?.();
  const secrets = new OpenSecrets(redactor);
  const lane = new NativePassthrough(head, encoder, redactor, secrets);
  const out: ChunkOutput & Pick<Forwarding, 'begin' | 'take'> = forwards
    ? lane
    : {
        chunk: (chunk) => lane.chunk(chunk),
        forward: () => -1,
        learn: () => undefined,
        begin: (size) => lane.begin(size),
        take: () => lane.take(),
      };
  const decoder = anthropicMessages.streamDecoder({}, { nativeEvents: true });
  let decoded = 0;
  const events: EventReader = {
    source: { read: async () => null, cancel: () => undefined },
    framer: anthropicMessages.framing.framer(100_000),
    decoder: {
      decode(data, name) {
        decoded++;
        return decoder.decode(data, name);
      },
    },
    provider,
  };
  const progress = new StreamProgress(new ChoiceWatch(1));
  const reader = new StreamReader(events, redactor, secrets, progress);
  const decode = new TextDecoder();
  let text = '';
  const take = () => {
    text += decode.decode(out.take(), { stream: true });
  };
  for (const piece of pieces) {
    out.begin(piece.length);
    if (progress.end === null) reader.push(piece, out);
    take();
  }
  out.begin(0);
  reader.flush(out);
  progress.sourceEnded();
  take();
  return { text, end: progress.end, meter: reader.meter, decoded };
}

type Json = Record<string, unknown>;

function wireOf(
  events: readonly Json[],
  newline = '\n',
  write: (value: unknown) => string = JSON.stringify,
): Uint8Array {
  const text = events.map((event) => `event: ${event.type}\ndata: ${write(event)}\n\n`).join('');
  return new TextEncoder().encode(text.replaceAll('\n', newline));
}

const start = { type: 'message_start', message: { role: 'assistant', model: 'claude', content: [], usage: {} } };
const begin = (index: number, block: Json): Json => ({ type: 'content_block_start', index, content_block: block });
const more = (index: number, delta: Json): Json => ({ type: 'content_block_delta', index, delta });
const stop = (index: number): Json => ({ type: 'content_block_stop', index });
const ends: readonly Json[] = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { input_tokens: 3, output_tokens: 9 } },
  { type: 'message_stop' },
];
const text = (index: number, said: string) => more(index, { type: 'text_delta', text: said });

const said = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
  { weight: 2, arbitrary: fc.nat({ max: secret.length }).map((at) => secret.slice(0, at)) },
  { weight: 2, arbitrary: fc.nat({ max: secret.length }).map((at) => secret.slice(at)) },
  fc.constantFrom(
    '',
    '"',
    '\\',
    '"text":"',
    '","text":"x',
    '"}}\n\nevent: message_stop\ndata: {}\n\n',
    '日本',
    '\u2028',
    secret,
  ),
);
const index = fc.nat({ max: 2 });
const event = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(index, said).map(([at, one]) => text(at, one)) },
  {
    weight: 4,
    arbitrary: fc.tuple(index, said).map(([at, thinking]) => more(at, { type: 'thinking_delta', thinking })),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(index, said).map(([at, partial_json]) => more(at, { type: 'input_json_delta', partial_json })),
  },
  { weight: 1, arbitrary: index.map((at) => begin(at, { type: 'text', text: '' })) },
  { weight: 1, arbitrary: fc.tuple(index, said).map(([at, one]) => begin(at, { type: 'text', text: one })) },
  { weight: 1, arbitrary: index.map((at) => begin(at, { type: 'thinking', thinking: '', signature: '' })) },
  { weight: 1, arbitrary: index.map((at) => begin(at, { type: 'tool_use', id: `t${at}`, name: 'f', input: {} })) },
  { weight: 1, arbitrary: index.map((at) => begin(at, { type: 'server_tool_use', id: 's', name: 'g', input: {} })) },
  { weight: 3, arbitrary: index.map(stop) },
  { weight: 1, arbitrary: said.map((signature) => more(0, { type: 'signature_delta', signature })) },
  { weight: 1, arbitrary: said.map((other) => ({ ...text(0, 'x'), other })) },
  { weight: 1, arbitrary: said.map((one) => ({ ...text(0, 'x'), text: one })) },
  { weight: 1, arbitrary: fc.constant<Json>({ type: 'ping' }) },
  {
    weight: 1,
    arbitrary: fc.nat({ max: 9 }).map((n): Json => ({ type: 'message_delta', delta: {}, usage: { output_tokens: n } })),
  },
);
/** The same event many times, as streams have it. */
const run = fc.tuple(event, fc.array(said, { maxLength: 6 })).map(([one, texts]): Json[] => {
  const { delta } = one as { delta?: Json };
  const name = delta === undefined ? undefined : ['text', 'thinking', 'partial_json'].find((field) => field in delta);
  return [one, ...(name === undefined ? [] : texts.map((other) => ({ ...one, delta: { ...delta, [name]: other } })))];
});

const styles: ((value: unknown) => string)[] = [
  JSON.stringify,
  (value) => JSON.stringify(value, null, 1).replace(/\n\s*/g, ' '),
  (value) => JSON.stringify(value, null, 1).replaceAll('\n', '\ndata: '),
  (value) =>
    JSON.stringify(value).replace(/[\u007f-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
];

describe('a stream of Messages that goes on as it came', () => {
  it('says the same, is counted the same and ends the same, copied or decoded, wherever it is cut', () => {
    fc.assert(
      fc.property(
        fc.record({
          events: fc.array(run, { maxLength: 8 }),
          style: fc.constantFrom(...styles),
          newline: fc.constantFrom('\n', '\r\n'),
          size: fc.constantFrom(1, 3, 50, 200, 100_000),
          isWhole: fc.boolean(),
        }),
        ({ events, style, newline, size, isWhole }) => {
          const all = [start, begin(0, { type: 'text', text: '' }), ...events.flat(), ...(isWhole ? ends : [])];
          const pieces = recut(new TextDecoder().decode(wireOf(all, newline, style)), size);
          const { decoded: _, ...copied } = read(pieces, true);
          const { decoded: __, ...decoded } = read(pieces, false);
          expect(copied).toEqual(decoded);
          expect(copied.text).not.toContain(secret);
        },
      ),
      { numRuns: runs(400, 2000) },
    );
  });
  it('is copied, but for the first event of each block and what stands between', () => {
    const words = Array.from({ length: 50 }, (_, at) => ` word ${at}`);
    const block = (at: number) => [
      begin(at, { type: 'text', text: '' }),
      ...words.map((one) => text(at, one)),
      stop(at),
    ];
    const wire = wireOf([start, ...block(0), ...block(1), ...ends]);
    const { text: given, decoded, end } = read([wire], true);
    expect(given).toContain(new TextDecoder().decode(wireOf(block(1))));
    // The end waits for the settlement.
    expect(given).not.toContain('message_stop');
    expect(end).toEqual({ kind: 'complete' });
    expect(decoded).toBe(9);
  });
  it('checks the arguments of a call against the calls that are open, and the next of a block that has ended', () => {
    const call = begin(1, { type: 'tool_use', id: 't', name: 'f', input: {} });
    const piece = more(1, { type: 'input_json_delta', partial_json: '{' });
    const { end, text: given } = read([wireOf([start, call, piece, piece, stop(1), piece, ...ends])], true);
    expect(end).toMatchObject({ kind: 'failed', error: { reason: 'bad_response' } });
    expect(given.match(/partial_json/g)).toHaveLength(2);
  });
  it.each([
    ['text', { type: 'text', text: '' }, 'text_delta', 'text'],
    ['call', { type: 'tool_use', id: 't', name: 'f', input: {} }, 'input_json_delta', 'partial_json'],
    ['search', { type: 'server_tool_use', id: 's', name: 'g', input: {} }, 'input_json_delta', 'partial_json'],
  ])('loses nothing of a %s that begins like a key, and keeps its place before the end of the block', (...given) => {
    const [, block, type, name] = given;
    const said = `A key begins with ${secret.slice(0, 14)}`;
    const { text: out } = read(
      [wireOf([start, begin(0, block), more(0, { type, [name]: said }), stop(0), ...ends])],
      true,
    );
    const told = [...out.matchAll(new RegExp(`"${type}","${name}":"([^"]*)"`, 'g'))].map(([, one]) => one);
    expect(told.join('')).toBe(said);
    expect(out.lastIndexOf(type)).toBeLessThan(out.indexOf('content_block_stop'));
  });
  it.each([
    ['text', { type: 'text', text: '' }, 'text_delta', 'text'],
    ['thought', { type: 'thinking', thinking: '', signature: '' }, 'thinking_delta', 'thinking'],
    ['call', { type: 'tool_use', id: 't', name: 'f', input: {} }, 'input_json_delta', 'partial_json'],
    ['search', { type: 'server_tool_use', id: 's', name: 'g', input: {} }, 'input_json_delta', 'partial_json'],
  ])('shows a key in the pieces of a %s as redacted, and what stands around it', (_, block, type, name) => {
    const deltas = ['"see ', secret.slice(0, 5), secret.slice(5, 20), `${secret.slice(20)} there"`].map((one) =>
      more(0, { type, [name]: one }),
    );
    const { text: given } = read([wireOf([start, begin(0, block), ...deltas, stop(0), ...ends])], true);
    const frames = given.split('\n\n').filter((frame) => frame.includes(type));
    const told = frames.map((frame) => JSON.parse(frame.slice(frame.indexOf('data: ') + 6)).delta[name]);
    expect(told.join('')).toBe('"see sk-se[redacted] there"');
  });
});
