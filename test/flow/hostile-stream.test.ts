import { describe, expect, it } from 'vitest';
import { checkChunks } from '../support/check-chunks.ts';
import { chunkOf, done, event, stop, text, throughBothLanes, usageEvent, usual } from '../support/hostile.ts';
import { payloadsOf } from '../support/recordings.ts';

/** Streams that are odd, but whole: what they must read as. */
const odd: [name: string, stream: string, content: string, finish: string][] = [
  [
    'chunks without id, object, created, model',
    event({ choices: [{ index: 0, delta: { content: 'Hi' } }] }) +
      event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    'Hi',
    'stop',
  ],
  [
    'choices without an index',
    event({ choices: [{ delta: { content: 'Hi' } }] }) + event({ choices: [{ finish_reason: 'stop' }] }),
    'Hi',
    'stop',
  ],
  [
    'negative, fractional and textual indexes',
    event({ choices: [{ index: -1, delta: { content: 'H' } }] }) +
      event({ choices: [{ index: 0.5, delta: { content: 'i' } }] }) +
      event({ choices: [{ index: '0', delta: {}, finish_reason: 'stop' }] }),
    'Hi',
    'stop',
  ],
  [
    'choices null, absent and no list',
    event({ choices: null }) +
      text('Hi') +
      event({}) +
      event({ choices: 'none' }) +
      event({ choices: { 0: 'x' } }) +
      stop,
    'Hi',
    'stop',
  ],
  [
    'choices that are no objects',
    text('Hi') + event({ choices: [null] }) + event({ choices: ['x', 7] }).replace('7', '"y"') + stop,
    'Hi',
    'stop',
  ],
  [
    'delta null, absent and no object',
    event({ choices: [{ index: 0, delta: null }] }) +
      text('Hi') +
      event({ choices: [{ index: 0 }] }) +
      event({ choices: [{ index: 0, delta: 'x' }] }) +
      stop,
    'Hi',
    'stop',
  ],
  [
    'fields of a delta that are of another kind',
    text('Hi') +
      event(
        chunkOf({
          content: 7,
          reasoning: {},
          refusal: [],
          tool_calls: 'x',
          audio: 'x',
          images: 'x',
          annotations: {},
          reasoning_details: 'x',
          role: 'robot',
        }),
      ) +
      stop,
    'Hi',
    'stop',
  ],
  ['tool calls that are no objects', text('Hi') + event(chunkOf({ tool_calls: [null, 'x'] })) + stop, 'Hi', 'stop'],
  [
    'events after the sentinel',
    text('Hi') + stop + done + text(' there') + event({ error: { message: 'late' } }) + done,
    'Hi',
    'stop',
  ],
  ['text after the finish_reason', text('Hi') + stop + event(chunkOf({ content: '' })) + done, 'Hi', 'stop'],
  [
    'a finish_reason named like a method of objects',
    text('Hi') + event(chunkOf({}, { finish_reason: 'constructor' })) + done,
    'Hi',
    'stop',
  ],
  [
    'a finish_reason named like the prototype',
    text('Hi') + event(chunkOf({}, { finish_reason: '__proto__' })) + done,
    'Hi',
    'stop',
  ],
  [
    'an empty finish_reason until the end',
    event(chunkOf({ content: 'Hi' }, { finish_reason: '' })) + stop + done,
    'Hi',
    'stop',
  ],
  [
    'a bare name, an id and a retry without data',
    `event: ping\n\nid: 1\n\nretry: 5\n\n:\n\n${text('Hi')}${stop}${done}`,
    'Hi',
    'stop',
  ],
  ['empty data', `data:\n\ndata: \n\n${text('Hi')}${stop}${done}`, 'Hi', 'stop'],
  [
    'a payload on several data lines',
    event(JSON.stringify(chunkOf({ content: 'Hi' }), null, 1))
      .replaceAll('\n ', '\ndata:  ')
      .replace(/\n\}/, '\ndata: }') +
      stop +
      done,
    'Hi',
    'stop',
  ],
  ['a byte-order mark', `\ufeff${text('Hi')}${stop}${done}`, 'Hi', 'stop'],
  ['lone surrogates', text('H\ud800i') + text('\udc00') + stop + done, 'H\ud800i\udc00', 'stop'],
  ['a surrogate pair in two events', text('\ud83d') + text('\ude00') + stop + done, '\u{1f600}', 'stop'],
  [
    'escapes of every kind',
    text('a') +
      text('\u0000\u001f\\"\u2028\u2029/\b') +
      event(JSON.stringify(chunkOf({ content: 'X' })).replace('"X"', '"\\u0041\\/\\ud83d\\ude00"')) +
      stop +
      done,
    'a\u0000\u001f\\"\u2028\u2029/\bA/\u{1f600}',
    'stop',
  ],
  ['10,000 events in one piece', `${text('ab').repeat(10_000)}${stop}${done}`, 'ab'.repeat(10_000), 'stop'],
];

describe('a stream with', () => {
  it.each(odd)('%s is read as what it says', async (_, stream, content, finish) => {
    for (const { lane, status, text: body, said } of await throughBothLanes(stream)) {
      expect([lane, status], body).toEqual([lane, 200]);
      expect([lane, said.error, said.isDone, said.usageCount]).toEqual([lane, null, true, 1]);
      expect([lane, Object.keys(said.choices)]).toEqual([lane, ['0']]);
      expect([lane, said.choices[0]?.content]).toEqual([lane, content]);
      expect([lane, said.choices[0]?.finish]).toEqual([lane, finish]);
      checkChunks(body);
    }
  });
});

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const broken: [name: string, event: string][] = [
  ['an event that is no JSON', event('{"choices":[{"index":0,"delta":{"content":"x"')],
  ['NaN', event('{"choices":[],"usage":{"prompt_tokens":NaN}}')],
  ['an event that is no object', event('"text"')],
  ['an event that is a list', event('[1]')],
  ['an event nested 10,000 levels deep', event(`{"choices":[],"x":${deep(10_000)}}`)],
  ['an event nested a million levels deep', event(deep(1_000_000))],
  ['an event of a million opening brackets', event('['.repeat(1_000_000))],
  [
    'a delta nested deep',
    event(`{"choices":[{"index":0,"delta":{"content":"x","more":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}}]}`),
  ],
  ['an error event', event({ error: { message: 'Out of GPUs', code: 'no_gpu' } })],
  ['an error event without an object', event({ error: 'Out of GPUs' })],
  ['a bare JSON error', '{"error":{"message":"Out of GPUs"}}\n\n'],
  ['finish_reason error', event(chunkOf({}, { finish_reason: 'error' }))],
  ['an answer that was aborted', event(chunkOf({}, { finish_reason: 'abort' }))],
  ['a cut in the middle of an event', text('unfinished').slice(0, 60)],
  ['nothing more', ''],
  ['a sentinel too early', done],
];

describe('a stream that breaks by', () => {
  it.each(broken)('%s is a 502 before the first token', async (_, bad) => {
    for (const { lane, status, text: body, replay } of await throughBothLanes(
      event(chunkOf({ role: 'assistant', content: '' })) + bad,
    )) {
      expect([lane, status], body.slice(0, 300)).toEqual([lane, 502]);
      expect(JSON.parse(body).error).toMatchObject({ code: 502, message: expect.stringMatching(/^.{1,500}$/) });
      expect([lane, replay.letGo(), replay.lastRecord().outcome]).toEqual([lane, true, 'failed']);
    }
  });

  it.each(broken)('%s says so after it, and does not end as a whole one', async (_, bad) => {
    for (const { lane, status, text: body, said, replay } of await throughBothLanes(
      text('Hello') + text(' there') + bad,
    )) {
      expect([lane, status]).toEqual([lane, 200]);
      expect([lane, said.error], body).toEqual([lane, expect.stringMatching(/^.{1,500}$/)]);
      expect([lane, said.choices[0]?.finish]).toEqual([lane, 'error']);
      expect(said.choices[0]?.content).toBe('Hello there');
      const last = JSON.parse(payloadsOf(body).at(-2) as string);
      expect(last).toMatchObject({
        error: { code: 502, metadata: { error_type: expect.any(String) } },
        choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
      });
      expect([lane, replay.letGo(), replay.lastRecord().outcome]).toEqual([lane, true, 'cut']);
      checkChunks(body);
    }
  });

  it.each(broken.filter(([name]) => !/finish_reason|aborted/.test(name)))(
    '%s after every finish_reason is whole all the same',
    async (_, bad) => {
      for (const { lane, said } of await throughBothLanes(text('Hello') + stop + usageEvent(usual) + bad)) {
        expect([lane, said.error, said.choices[0]?.finish, said.usageCount]).toEqual([lane, null, 'stop', 1]);
        expect([lane, said.usage]).toEqual([lane, { prompt_tokens: 10, total_tokens: 15 }]);
      }
    },
  );
});

describe('the passthrough lane', () => {
  it('replaces bytes that are no UTF-8, as the decoded lane does', async () => {
    const bad: number[][] = [
      [0xff],
      [0xc3],
      [0xe2, 0x82],
      [0xf0, 0x9f, 0x98],
      [0x80],
      [0xc0, 0xaf],
      [0xed, 0xa0, 0x80],
      [0xf5, 0x80, 0x80, 0x80],
      [0xe0, 0x80, 0x80],
      [0xf0, 0x80, 0x80, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
    ];
    for (const sequence of bad) {
      const stream = Buffer.concat([
        Buffer.from(text('a') + text('b') + text('cXd').replace('X', '\u0001')).map((byte) => byte),
        Buffer.from(stop + done),
      ]);
      const at = stream.indexOf(1);
      const hostile = Buffer.concat([stream.subarray(0, at), Buffer.from(sequence), stream.subarray(at + 1)]);
      const [passthrough, decoded] = await throughBothLanes(hostile);
      expect(passthrough?.said.choices).toEqual(decoded?.said.choices);
      expect(passthrough?.said.choices[0]?.content).toContain('\ufffd');
    }
  });

  it('takes a text only from where text is', async () => {
    const twice = (one: string) => event({ ...chunkOf({ reasoning_content: one }), note: { content: `note ${one}` } });
    const [passthrough, decoded] = await throughBothLanes(
      twice('a') + twice('b') + twice('c') + stop + usageEvent(usual) + done,
    );
    expect(passthrough?.text).toBe(decoded?.text);
    expect(passthrough?.text).toContain('note c');
  });

  it('keeps apart choices that take turns', async () => {
    const of = (index: number, content: string) =>
      event({ id: 'x', choices: [{ index, delta: { content }, finish_reason: null }] });
    const end = (index: number) => event({ id: 'x', choices: [{ index, delta: {}, finish_reason: 'stop' }] });
    const stream =
      Array.from({ length: 30 }, (_, at) => of(at % 4, `${at} `)).join('') + [0, 1, 2, 3].map(end).join('') + done;
    const [passthrough, decoded] = await throughBothLanes(stream);
    expect(passthrough?.said.choices).toEqual(decoded?.said.choices);
    expect(passthrough?.said.choices[3]?.content).toBe('3 7 11 15 19 23 27 ');
  });
});

describe('tool calls in a stream', () => {
  it('keep very long arguments', async () => {
    const long = JSON.stringify({ text: 'é"\\'.repeat(200_000) });
    const call = (index: number, rest: object) => event(chunkOf({ tool_calls: [{ index, ...rest }] }));
    const stream =
      call(0, { id: 'call_1', type: 'function', function: { name: 'write', arguments: '' } }) +
      [...(long.match(/.{1,100000}/gs) ?? [])].map((part) => call(0, { function: { arguments: part } })).join('') +
      event(chunkOf({}, { finish_reason: 'tool_calls' })) +
      done;
    for (const { said } of await throughBothLanes(stream))
      expect(said.choices[0]?.calls).toEqual([{ id: 'call_1', name: 'write', arguments: long }]);
  });

  it('get an index where they have none, or one that is none', async () => {
    const bad = [
      { id: 'call_1', function: { name: 'a', arguments: '{' } },
      { function: { arguments: '}' } },
      { index: -3, id: 'call_2', function: { name: 'b', arguments: '{}' } },
    ];
    const stream =
      bad.map((call) => event(chunkOf({ tool_calls: [call] }))).join('') +
      event(chunkOf({}, { finish_reason: 'stop' })) +
      done;
    for (const { said, text: body } of await throughBothLanes(stream)) {
      expect(said.choices[0]?.calls).toEqual([
        { id: 'call_1', name: 'a', arguments: '{}' },
        { id: 'call_2', name: 'b', arguments: '{}' },
      ]);
      expect(said.choices[0]?.finish).toBe('tool_calls');
      checkChunks(body);
    }
  });
});
