import { describe, expect, it } from 'vitest';
import { awsEventStream } from '../../../../src/base/framing/aws-event-stream.ts';
import { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import { bedrockConverse } from '../../../../src/dialects/bedrock-converse/index.ts';
import type { Reading, StreamPart } from '../../../../src/dialects/dialect.ts';
import type { ChunkDelta } from '../../../../src/schema/chat/chunk.ts';
import { eventFrame, writeFrame } from '../../../support/converse-wire.ts';

type Event = readonly [name: string, payload: unknown];

const start: Event = ['messageStart', { role: 'assistant' }];
const text = (one: string, at = 0): Event => ['contentBlockDelta', { contentBlockIndex: at, delta: { text: one } }];
const input = (one: unknown, at = 0): Event => [
  'contentBlockDelta',
  { contentBlockIndex: at, delta: { toolUse: { input: one } } },
];
const tool = (name: unknown, id: unknown, at = 0, more = {}): Event => [
  'contentBlockStart',
  { contentBlockIndex: at, start: { toolUse: { name, toolUseId: id, ...more } } },
];
const thought = (one: object, at = 0): Event => [
  'contentBlockDelta',
  { contentBlockIndex: at, delta: { reasoningContent: one } },
];
const blockStop = (at = 0): Event => ['contentBlockStop', { contentBlockIndex: at }];
const stop = (stopReason: unknown = 'end_turn'): Event => ['messageStop', { stopReason }];
const usage: Event = ['metadata', { usage: { inputTokens: 3, outputTokens: 5, totalTokens: 8 }, metrics: {} }];

function decode(events: readonly Event[], reading?: Reading): StreamPart[] {
  const decoder = bedrockConverse.streamDecoder({}, reading);
  return events.flatMap(([name, payload]) =>
    decoder.decode(typeof payload === 'string' ? payload : JSON.stringify(payload), name),
  );
}

function deltas(parts: readonly StreamPart[]): ChunkDelta[] {
  return parts.flatMap((part) => (part.kind === 'chunk' ? part.chunk.choices.map(({ delta }) => delta) : []));
}

function contentOf(parts: readonly StreamPart[]): string {
  return deltas(parts)
    .map(({ content }) => content ?? '')
    .join('');
}

/** Fragments of tool calls, put together by index as clients do. */
function callsOf(parts: readonly StreamPart[]) {
  const calls: { id?: string | undefined; name: string; arguments: string }[] = [];
  for (const call of deltas(parts).flatMap((delta) => delta.tool_calls ?? [])) {
    calls[call.index] ??= { id: call.id, name: '', arguments: '' };
    const known = calls[call.index] as (typeof calls)[number];
    known.name += call.function?.name ?? '';
    known.arguments += call.function?.arguments ?? '';
  }
  return calls;
}

function finishOf(parts: readonly StreamPart[]) {
  return parts.flatMap((part) =>
    part.kind === 'chunk' ? part.chunk.choices.filter(({ finish_reason }) => finish_reason !== null) : [],
  )[0];
}

const kinds = (parts: readonly StreamPart[]) => parts.map(({ kind }) => kind);

describe('the end of a stream', () => {
  it('is there once both its end and its usage are, in whichever order', () => {
    expect(kinds(decode([start, text('a'), stop(), usage])).slice(2)).toEqual(['chunk', 'usage', 'done']);
    expect(kinds(decode([start, text('a'), usage, stop()])).slice(2)).toEqual(['usage', 'chunk', 'done']);
    expect(kinds(decode([start, text('a'), usage]))).not.toContain('done');
    expect(kinds(decode([start, text('a'), stop()]))).not.toContain('done');
  });

  it('is there too where the usage cannot be read', () => {
    expect(kinds(decode([text('a'), stop(), ['metadata', { usage: { inputTokens: -1 } }]]))).toEqual([
      'chunk',
      'chunk',
      'done',
    ]);
  });

  it.each(['malformed_tool_use', 'malformed_model_output'])('%s is an error, however complete it looks', (reason) => {
    const parts = decode([text('a'), stop(reason), usage]);
    expect(parts[1]).toMatchObject({ kind: 'error', isReported: true, error: { providerCode: reason } });
    expect(kinds(parts)).not.toContain('done');
  });

  it.each([undefined, null, 7, '', {}])('without a reason (%j) is no end', (reason) => {
    expect(() => decode([text('a'), ['messageStop', { stopReason: reason }]])).toThrow('without a stopReason');
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['guardrail_intervened', 'content_filter'],
    ['content_filtered', 'content_filter'],
    ['a_new_word', 'stop'],
    ['constructor', 'stop'],
  ])('%s is %s, and its own word is kept', (native, ours) => {
    expect(finishOf(decode([text('a'), stop(native)]))).toMatchObject({
      finish_reason: ours,
      native_finish_reason: native,
    });
  });

  it('tells the tier that served', () => {
    const parts = decode([text('a'), stop(), ['metadata', { serviceTier: { type: 'flex' } }]]);
    expect(parts[2]).toMatchObject({ kind: 'chunk', chunk: { service_tier: 'flex', choices: [] } });
  });
});

describe('tool calls of a stream', () => {
  it('keep their fragments apart when they come by turns', () => {
    const parts = decode([
      tool('look', 'a', 1),
      tool('see', 'b', 2),
      input('{"q"', 1),
      input('{"r"', 2),
      input(':1}', 1),
      input(':2}', 2),
      blockStop(2),
      blockStop(1),
      stop('tool_use'),
    ]);
    expect(callsOf(parts)).toEqual([
      { id: 'a', name: 'look', arguments: '{"q":1}' },
      { id: 'b', name: 'see', arguments: '{"r":2}' },
    ]);
    expect(finishOf(parts)?.finish_reason).toBe('tool_calls');
  });

  it.each([[[blockStop()]], [[]]])('without arguments have empty ones, which are JSON', (end) => {
    const parts = decode([tool('look', 'a'), input(''), ...end, stop('tool_use')]);
    expect(callsOf(parts)).toEqual([{ id: 'a', name: 'look', arguments: '{}' }]);
  });

  it('may be of tools with names of the prototype', () => {
    const parts = decode([tool('__proto__', 'constructor', 0), blockStop(), tool('constructor', '__proto__', 1)]);
    expect(callsOf(parts).map(({ id, name }) => [id, name])).toEqual([
      ['constructor', '__proto__'],
      ['__proto__', 'constructor'],
    ]);
  });

  it('get an id where the provider gives none, and no other call has it', () => {
    const parts = decode([tool('a', 'call_1', 0), tool('b', '', 1), tool('c', 7, 2), stop('tool_use')]);
    expect(new Set(callsOf(parts).map(({ id }) => id)).size).toBe(3);
  });

  it('that the provider has run itself are not those of the caller', () => {
    const parts = decode([
      tool('nova_grounding', 'x', 0, { type: 'server_tool_use' }),
      input('{"q":1}', 0),
      ['contentBlockStart', { contentBlockIndex: 1, start: { toolResult: { toolUseId: 'x' } } }],
      ['contentBlockDelta', { contentBlockIndex: 1, delta: { toolResult: [{ text: 'found' }] } }],
      blockStop(0),
      blockStop(1),
      text('Found.', 2),
      stop(),
    ]);
    expect([callsOf(parts), contentOf(parts), finishOf(parts)?.finish_reason]).toEqual([[], 'Found.', 'stop']);
  });

  it.each([
    ['a call without a name', tool(undefined, 'a')],
    ['arguments of no call', input('{}')],
  ])('%s is a bad response', (_, event) => {
    expect(() => decode([event])).toThrow(expect.objectContaining({ reason: 'bad_response', status: 502 }));
  });
});

describe('output by a tool', () => {
  const reading = { outputTool: 'structured_output' };

  it('is the content, as it comes; what the model tells beside it is not', () => {
    const parts = decode(
      [
        text('Here it is:'),
        blockStop(),
        tool('structured_output', 'a', 1),
        input('{"a":', 1),
        input('1}', 1),
        blockStop(1),
        text('Done.', 2),
        stop('tool_use'),
        usage,
      ],
      reading,
    );
    expect([contentOf(parts), callsOf(parts)]).toEqual(['{"a":1}', []]);
    expect(finishOf(parts)).toMatchObject({ finish_reason: 'stop', native_finish_reason: 'tool_use' });
  });

  it('is the first of several', () => {
    const events = [0, 1].flatMap((at) => [
      tool('structured_output', `${at}`, at),
      input(`{"a":${at}}`, at),
      blockStop(at),
    ]);
    expect(contentOf(decode([...events, stop('tool_use')], reading))).toBe('{"a":0}');
  });

  it.each([
    ['a text instead', [text('I '), text('cannot.'), stop()], 'I cannot.', 'stop', 0],
    ['a tool of the caller', [text('Wait.'), tool('look', 'a', 1), stop('tool_use')], 'Wait.', 'tool_calls', 1],
  ] as const)('may be %s', (_, events, content, finish, calls) => {
    const parts = decode(events, reading);
    expect([contentOf(parts), finishOf(parts)?.finish_reason, callsOf(parts).length]).toEqual([content, finish, calls]);
  });
});

describe('thoughts of a stream', () => {
  it('are text and details, with their signature, each block with an index of its own', () => {
    const parts = decode(
      [
        thought({ text: 'I ' }),
        thought({ text: 'think' }),
        thought({ signature: 'sig' }),
        blockStop(),
        thought({ redactedContent: btoa('secret') }, 1),
        thought({ text: 'again' }, 2),
      ],
      { reasoningFormat: 'anthropic-claude-v1' },
    );
    const format = 'anthropic-claude-v1';
    expect(deltas(parts)).toEqual([
      { reasoning: 'I ', reasoning_details: [{ type: 'reasoning.text', text: 'I ', format, index: 0 }] },
      { reasoning: 'think', reasoning_details: [{ type: 'reasoning.text', text: 'think', format, index: 0 }] },
      { reasoning_details: [{ type: 'reasoning.text', signature: 'sig', format, index: 0 }] },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'secret', format, index: 1 }] },
      { reasoning: 'again', reasoning_details: [{ type: 'reasoning.text', text: 'again', format, index: 2 }] },
    ]);
  });

  it('that are no text in base64 stay as they came', () => {
    for (const secret of ['not base64!', btoa('\x00\xff'), 'QQ'])
      expect(
        deltas(decode([thought({ redactedContent: secret })], { reasoningFormat: 'anthropic-claude-v1' })),
      ).toEqual([
        {
          reasoning_details: [
            { type: 'reasoning.encrypted', id: 'bedrock-converse', data: secret, format: 'unknown', index: 0 },
          ],
        },
      ]);
  });
});

describe('citations of a stream', () => {
  const cite = (citation: object, at = 0): Event => [
    'contentBlockDelta',
    { contentBlockIndex: at, delta: { citation } },
  ];

  it('come behind the text that they support, with its place', () => {
    const parts = decode([
      text('Hello. '),
      blockStop(),
      text('Paris is warm.', 1),
      cite(
        { title: 'Weather', location: { web: { url: 'https://a.example/x' } }, sourceContent: [{ text: 'warm' }] },
        1,
      ),
      cite({ title: 'a.pdf', location: { documentPage: { documentIndex: 2, start: 1, end: 2 } } }, 1),
      cite({ location: 7 }, 1),
      blockStop(1),
      stop(),
    ]);
    expect(deltas(parts).flatMap(({ annotations }) => annotations ?? [])).toEqual([
      {
        type: 'url_citation',
        url_citation: { url: 'https://a.example/x', title: 'Weather', content: 'warm', start_index: 7, end_index: 21 },
      },
      { type: 'file', file: { hash: 'document 2', name: 'a.pdf', content: [] } },
    ]);
  });
});

describe('errors of a stream', () => {
  it.each([
    ['throttlingException', { message: 'Too many tokens, slow down' }, 429, 'transient', 'rate_limit_exceeded'],
    [
      'validationException',
      { message: 'Input is too long for requested model.' },
      400,
      'caller',
      'context_length_exceeded',
    ],
    ['modelStreamErrorException', { message: 'x', originalStatusCode: 400 }, 424, 'transient', 'provider_unavailable'],
    ['serviceUnavailableException', {}, 503, 'transient', 'provider_overloaded'],
    [
      'internalServerException',
      { message: 7, originalMessage: { toString: 1 } },
      500,
      'transient',
      'provider_unavailable',
    ],
    ['someNewException', { message: 'x' }, 500, 'transient', 'provider_unavailable'],
  ])('%s: %o', (name, payload, status, fault, errorType) => {
    const [part] = decode([[name, payload]]);
    expect(part).toMatchObject({
      kind: 'error',
      error: { status, fault, errorType, providerCode: name },
    });
  });

  it('arrive as frames of exceptions and of errors', () => {
    const frames = [
      eventFrame('throttlingException', { message: 'Slow down' }, 'exception'),
      writeFrame({
        headers: { ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'Broken' },
        payload: '',
      }),
    ];
    const framer = awsEventStream.framer(1e6);
    framer.push(new Uint8Array(Buffer.concat(frames)));
    const errors: unknown[] = [];
    while (framer.next()) {
      const event = framer.read();
      for (const part of bedrockConverse.streamDecoder({}).decode(event?.data ?? '', event?.name ?? ''))
        errors.push(part);
    }
    expect(errors).toMatchObject([
      { kind: 'error', error: { status: 429, message: 'Slow down' } },
      { kind: 'error', error: { status: 500, message: 'Broken' } },
    ]);
  });
});

describe('a hostile stream', () => {
  it.each(['', '[DONE]', 'null', '7', '"text"', '[]', '{', `${'['.repeat(100)}${']'.repeat(100)}`])(
    'with the event %j is a bad response',
    (data) => {
      expect(() => decode([['contentBlockDelta', data]])).toThrow(
        expect.objectContaining({ reason: 'bad_response', status: 502 }),
      );
    },
  );

  it('with events or fields of a later version is read on', () => {
    const later: Event[] = [
      ['somethingNew', { a: 1 }],
      ['contentBlockDelta', { contentBlockIndex: 0, delta: { hologram: {} }, p: 'abc' }],
      ['contentBlockStart', { contentBlockIndex: 0, start: { hologram: {} } }],
    ];
    expect(contentOf(decode([...later, text('a'), ...later, stop(), usage]))).toBe('a');
  });

  it('with other types than expected throws nothing but upstream errors', () => {
    const values = [
      null,
      7,
      'x',
      [],
      {},
      [null],
      { text: {} },
      { toolUse: [] },
      { reasoningContent: { text: 1, signature: [] } },
    ];
    const fields = [
      'delta',
      'start',
      'contentBlockIndex',
      'stopReason',
      'usage',
      'serviceTier',
      'citation',
      'toolUse',
      'image',
    ];
    const names = [
      'messageStart',
      'contentBlockStart',
      'contentBlockDelta',
      'contentBlockStop',
      'messageStop',
      'metadata',
      '',
    ];
    let tried = 0;
    for (const name of names)
      for (const field of fields)
        for (const value of values)
          for (const payload of [{ [field]: value }, { delta: { [field]: value } }, { start: { [field]: value } }]) {
            tried++;
            try {
              decode([
                [name, payload],
                [name, payload],
              ]);
            } catch (error) {
              expect(error).toBeInstanceOf(UpstreamError);
            }
          }
    expect(tried).toBe(names.length * fields.length * values.length * 3);
  });

  it('in odd order loses nothing that can be kept', () => {
    const parts = decode([blockStop(5), text('b', 9), usage, start, text('c', 2), stop(), blockStop(9)]);
    expect([contentOf(parts), kinds(parts).at(-1)]).toEqual(['bc', 'done']);
  });

  it('of long texts takes time by its length', () => {
    const long = 'ü'.repeat(100_000);
    const parts = decode([text(long), tool('look', 'a', 1), input(JSON.stringify({ long }), 1), stop('tool_use')]);
    expect([contentOf(parts), JSON.parse(callsOf(parts)[0]?.arguments ?? '').long]).toEqual([long, long]);
  });
});
