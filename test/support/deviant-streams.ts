/**
 * One conversation, as servers that speak chat completions stream it, each in its own way. What arrives is the same.
 */

export const thought = 'The user wants two files.';
export const said = 'Läse beide 😀.';
export const usage = { prompt_tokens: 20, completion_tokens: 12, total_tokens: 32 };
export const calls = [
  { id: 'call_a', name: 'read', args: '{"path":"a \\"b\\".txt","deep":{"n":[1]}}' },
  { id: 'call_b', name: 'list', args: '{"dir":"/ü"}' },
] as const;

/** How a server streams. Everything that is not named is as OpenAI has it. */
interface Manner {
  /** Deltas of the thought, of the text, and of the calls, in their order. */
  thoughts?: (text: string) => object;
  texts?: (text: string) => object;
  calls?: () => object[];
  /** Changes the deltas. */
  delta?: (delta: object, at: number) => object | undefined;
  /** Changes a chunk, made of one delta. */
  chunk?: (chunk: object, at: number) => object;
  /** The reason for the end, and the chunks of the end. */
  reason?: string;
  end?: (chunk: (delta: object, reason?: string | null) => object) => object[];
  /** The last event. */
  done?: string;
  frame?: (event: string, at: number) => string;
  /** What comes before, as it is. */
  before?: string;
  body?: () => string;
}

/** A deviation, and where what is cut off may be missed by nobody. */
export interface Deviation {
  name: string;
  manner: Manner;
  /** The provider's ids do not arrive: it gives none, or not one for each call. */
  hasOwnIds?: false;
}

const cut = (text: string) => [text.slice(0, 3), text.slice(3)];
const fragment = (index: number | undefined, more: object) => ({ ...(index === undefined ? {} : { index }), ...more });
const straightCalls = (
  indexOf: (at: number) => number | undefined = (at) => at,
  first: (at: number) => object = () => ({}),
  later: (at: number) => { call?: object; called?: object } = () => ({}),
) =>
  calls.flatMap(({ id, name, args }, at) => [
    { tool_calls: [fragment(indexOf(at), { id, type: 'function', function: { name, arguments: '' }, ...first(at) })] },
    ...cut(args).map((piece) => ({
      tool_calls: [fragment(indexOf(at), { ...later(at).call, function: { ...later(at).called, arguments: piece } })],
    })),
  ]);
const whole = (at: number, args: unknown = calls[at]?.args) => ({
  id: calls[at]?.id,
  type: 'function',
  function: { name: calls[at]?.name, arguments: args },
});
const messageOf = () => ({
  role: 'assistant',
  content: said,
  reasoning_content: thought,
  tool_calls: calls.map((_, at) => whole(at)),
});
const plainText = (content: string) => ({ content });

export function bodyOf({ manner }: Deviation): string {
  if (manner.body) return manner.body();
  const chunk = (delta: object | undefined, reason: string | null = null) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'upstream-model',
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  const deltas = [
    { role: 'assistant', content: '' },
    ...cut(thought).map(manner.thoughts ?? ((text) => ({ reasoning_content: text }))),
    ...cut(said).map(manner.texts ?? plainText),
    ...(manner.calls ?? straightCalls)(),
  ];
  const chunks = deltas.map((delta, at) => chunk(manner.delta ? manner.delta(delta, at) : delta));
  const ends = manner.end?.(chunk) ?? [chunk({}, manner.reason ?? 'tool_calls'), { ...chunk({}), choices: [], usage }];
  const events = [...chunks, ...ends].map((one, at) => JSON.stringify(manner.chunk ? manner.chunk(one, at) : one));
  const done = manner.done ?? '[DONE]';
  const frame = manner.frame ?? ((event: string) => `data: ${event}\n\n`);
  return (manner.before ?? '') + [...events, ...(done === '' ? [] : [done])].map(frame).join('');
}

const choiceOf = (chunk: object) => (chunk as { choices: Record<string, unknown>[] }).choices[0] ?? {};
const withChoice = (chunk: object, more: object) =>
  (chunk as { choices: object[] }).choices.length === 0
    ? chunk
    : { ...chunk, choices: [{ ...choiceOf(chunk), ...more }] };
const json = (value: object) => `${JSON.stringify(value)}`;

export const straight: Deviation = { name: 'as OpenAI', manner: {} };

const beginsEmpty = (at: number) => ({ function: { name: calls[at]?.name, arguments: '{}' } });

const ofCalls: Deviation[] = [
  { name: '{} before the arguments', manner: { calls: () => straightCalls(undefined, beginsEmpty) } },
  { name: '{} before the arguments, all at index 0', manner: { calls: () => straightCalls(() => 0, beginsEmpty) } },
  {
    name: '{} before the arguments, id and name in every fragment',
    manner: {
      calls: () =>
        straightCalls(undefined, beginsEmpty, (at) => ({
          call: { id: calls[at]?.id },
          called: { name: calls[at]?.name },
        })),
    },
  },
  {
    name: '{} for both calls, and then the arguments of each',
    manner: {
      calls: () => [
        { tool_calls: calls.map((_, at) => ({ ...whole(at, '{}'), index: at })) },
        ...calls.map(({ args }, at) => ({ tool_calls: [fragment(at, { function: { arguments: args } })] })),
      ],
    },
  },
  { name: 'all calls at index 0', manner: { calls: () => straightCalls(() => 0, undefined, undefined) } },
  {
    name: 'id and name in every fragment',
    manner: {
      calls: () =>
        straightCalls(undefined, undefined, (at) => ({
          call: { id: calls[at]?.id, type: 'function' },
          called: { name: calls[at]?.name },
        })),
    },
  },
  {
    name: 'id and name in every fragment, all at index 0',
    manner: {
      calls: () =>
        straightCalls(
          () => 0,
          undefined,
          (at) => ({ call: { id: calls[at]?.id }, called: { name: calls[at]?.name } }),
        ),
    },
  },
  { name: 'no index', manner: { calls: () => straightCalls(() => undefined) } },
  { name: 'indexes from 1', manner: { calls: () => straightCalls((at) => at + 1) } },
  { name: 'indexes as texts', manner: { calls: () => straightCalls((at) => String(at) as unknown as number) } },
  {
    name: 'another id for each fragment (vLLM)',
    manner: {
      calls: () => {
        let made = 0;
        return straightCalls(undefined, undefined, () => ({ call: { id: `chatcmpl-tool-${made++}` } }));
      },
    },
  },
  {
    name: 'empty ids and names in later fragments',
    manner: { calls: () => straightCalls(undefined, undefined, () => ({ call: { id: '' }, called: { name: '' } })) },
  },
  {
    name: 'null ids, types and names in later fragments',
    manner: {
      calls: () =>
        straightCalls(undefined, undefined, () => ({ call: { id: null, type: null }, called: { name: null } })),
    },
  },
  {
    name: 'each call whole',
    manner: { calls: () => calls.map((_, at) => ({ tool_calls: [{ index: at, ...whole(at) }] })) },
  },
  {
    name: 'each call whole, at index 0',
    manner: { calls: () => calls.map((_, at) => ({ tool_calls: [{ index: 0, ...whole(at) }] })) },
  },
  {
    name: 'all calls in one delta',
    manner: { calls: () => [{ tool_calls: calls.map((_, at) => ({ index: at, ...whole(at) })) }] },
  },
  {
    name: 'all calls in one delta, without indexes',
    manner: { calls: () => [{ tool_calls: calls.map((_, at) => whole(at)) }] },
  },
  {
    name: 'arguments as objects',
    manner: {
      calls: () =>
        calls.map((_, at) => ({ tool_calls: [{ index: at, ...whole(at, JSON.parse(calls[at]?.args as string)) }] })),
    },
  },
  {
    name: 'calls without the object around name and arguments',
    manner: {
      calls: () => calls.map(({ id, name, args }, index) => ({ tool_calls: [{ index, id, name, arguments: args }] })),
    },
  },
  {
    name: 'the call once more, whole, at its end',
    manner: {
      calls: () => [...straightCalls(), { tool_calls: calls.map((_, at) => ({ index: at, ...whole(at) })) }],
    },
  },
  {
    name: 'fragments of calls in turns, with nothing but ids',
    manner: {
      calls: () => {
        const [a, b] = calls.map(({ id, name, args }, at) => {
          const pieces = cut(args);
          return [
            { id, function: { name, arguments: pieces[0] } },
            { id, function: { arguments: pieces[1] } },
          ].map((call) => ({ tool_calls: [call] as object[], at }));
        }) as { tool_calls: object[] }[][];
        return [a?.[0], b?.[0], a?.[1], b?.[1]].map((one) => ({ tool_calls: one?.tool_calls }));
      },
    },
  },
  {
    name: 'the name behind the id',
    manner: {
      calls: () =>
        straightCalls(undefined, () => ({ function: { arguments: '' } })).flatMap((delta, at) =>
          at % 3 === 0
            ? [delta, { tool_calls: [{ index: at / 3, function: { name: calls[at / 3]?.name } }] }]
            : [delta],
        ),
    },
  },
  {
    name: 'no ids',
    hasOwnIds: false,
    manner: { calls: () => straightCalls(undefined, (at) => ({ id: undefined, function: { name: calls[at]?.name } })) },
  },
  {
    name: 'no ids, and all at index 0, each whole',
    hasOwnIds: false,
    manner: { calls: () => calls.map((_, at) => ({ tool_calls: [{ index: 0, ...whole(at), id: null }] })) },
  },
  {
    name: 'one id for all',
    hasOwnIds: false,
    manner: { calls: () => straightCalls(undefined, () => ({ id: 'call' })) },
  },
];

const ofTexts: Deviation[] = [
  { name: 'thoughts in reasoning', manner: { thoughts: (reasoning) => ({ reasoning }) } },
  { name: 'thoughts in both fields', manner: { thoughts: (text) => ({ reasoning: text, reasoning_content: text }) } },
  {
    name: 'thoughts in one field, the other empty',
    manner: { thoughts: (text) => ({ reasoning: '', reasoning_content: text }) },
  },
  { name: 'thoughts in thinking', manner: { thoughts: (thinking) => ({ thinking }) } },
  { name: 'thoughts in reasoning_text', manner: { thoughts: (text) => ({ reasoning_text: text }) } },
  { name: 'thoughts in an object', manner: { thoughts: (text) => ({ reasoning: { content: text } }) } },
  {
    name: 'thoughts in parts of the content (Mistral)',
    manner: {
      thoughts: (text) => ({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] }),
      texts: (text) => ({ content: [{ type: 'text', text }] }),
    },
  },
  { name: 'content as a list of texts', manner: { texts: (text) => ({ content: [text] }) } },
  { name: 'content as one part', manner: { texts: (text) => ({ content: { type: 'text', text } }) } },
  { name: 'the role in every delta', manner: { delta: (delta) => ({ role: 'assistant', ...delta }) } },
  { name: 'no role', manner: { delta: (delta, at) => (at === 0 ? { content: '' } : delta) } },
  { name: 'another role', manner: { delta: (delta, at) => (at === 0 ? { role: 'model' } : delta) } },
  {
    name: 'null for all that is not said',
    manner: {
      delta: (delta) => ({
        role: null,
        content: null,
        reasoning_content: null,
        refusal: null,
        tool_calls: null,
        function_call: null,
        audio: null,
        annotations: null,
        images: null,
        reasoning_details: null,
        ...delta,
      }),
      chunk: (chunk) => ({
        usage: null,
        error: null,
        system_fingerprint: null,
        ...withChoice(chunk, { logprobs: null }),
      }),
    },
  },
  { name: 'empty texts beside all', manner: { delta: (delta) => ({ content: '', reasoning_content: '', ...delta }) } },
  { name: 'an empty list of calls', manner: { delta: (delta) => ({ tool_calls: [], ...delta }) } },
];

const ofEnds: Deviation[] = [
  ...['stop', 'tool_use', 'function_call', 'TOOL_CALLS', 'tool-calls', 'end_turn', 'eos'].map((reason) => ({
    name: `finish_reason ${reason}`,
    manner: { reason },
  })),
  {
    name: 'an empty finish_reason until the end',
    manner: { chunk: (chunk) => withChoice(chunk, { finish_reason: choiceOf(chunk).finish_reason ?? '' }) },
  },
  {
    name: 'a finish_reason "null" until the end',
    manner: { chunk: (chunk) => withChoice(chunk, { finish_reason: choiceOf(chunk).finish_reason ?? 'null' }) },
  },
  {
    name: 'the finish_reason several times',
    manner: { end: (chunk) => [chunk({}, 'stop'), chunk({}, 'tool_calls'), { ...chunk({}, 'tool_calls'), usage }] },
  },
  {
    name: 'the finish_reason before the last call (Dynamo)',
    manner: {
      calls: () => straightCalls().slice(0, -1),
      end: (chunk) => [
        chunk({}, 'tool_calls'),
        chunk(straightCalls().at(-1) as object, 'tool_calls'),
        { ...chunk({}), choices: [], usage },
      ],
    },
  },
  {
    name: 'the finish_reason in the last delta',
    manner: {
      calls: () => straightCalls().slice(0, -1),
      end: (chunk) => [{ ...chunk(straightCalls().at(-1) as object, 'tool_calls'), usage }],
    },
  },
  { name: 'no [DONE]', manner: { done: '' } },
  { name: 'usage beside the finish_reason', manner: { end: (chunk) => [{ ...chunk({}, 'tool_calls'), usage }] } },
  {
    name: 'usage in the choice (Moonshot)',
    manner: { end: (chunk) => [withChoice(chunk({}, 'tool_calls'), { usage })] },
  },
  { name: 'usage in x_groq', manner: { end: (chunk) => [{ ...chunk({}, 'tool_calls'), x_groq: { id: 'r', usage } }] } },
  {
    name: 'usage that counts up in every chunk',
    manner: {
      chunk: (chunk, at) => ({
        usage: { prompt_tokens: 20, completion_tokens: Math.min(at, 12), total_tokens: 20 + Math.min(at, 12) },
        ...chunk,
      }),
    },
  },
  {
    name: 'usage before the finish_reason',
    manner: { end: (chunk) => [{ ...chunk({}), choices: [], usage }, chunk({}, 'tool_calls')] },
  },
  {
    name: 'usage in the words of Anthropic',
    manner: {
      end: (chunk) => [
        chunk({}, 'tool_calls'),
        { ...chunk({}), choices: [], usage: { input_tokens: 20, output_tokens: 12 } },
      ],
    },
  },
];

const ofFrames: Deviation[] = [
  { name: 'no space behind data:', manner: { frame: (event) => `data:${event}\n\n` } },
  { name: 'lines that end with CRLF', manner: { frame: (event) => `data: ${event}\r\n\r\n` } },
  { name: 'lines that end with CR', manner: { frame: (event) => `data: ${event}\r\r` } },
  { name: 'comments between', manner: { frame: (event) => `: ping\n\ndata: ${event}\n\n` } },
  {
    name: 'comments and names within',
    manner: { frame: (event, at) => `id: ${at}\nevent: message\n: x\ndata: ${event}\nretry: 5\n\n` },
  },
  { name: 'empty events between', manner: { frame: (event) => `data:\n\nevent: ping\n\ndata: ${event}\n\n` } },
  { name: 'a mark of the byte order', manner: { before: '\uFEFF' } },
  {
    name: 'data over several lines',
    manner: { frame: (event) => `data: ${event.replace('"choices":', '"choices":\ndata: ')}\n\n` },
  },
  {
    name: 'empty choices first (Azure)',
    manner: { before: `data: ${json({ id: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] })}\n\n` },
  },
  { name: 'no index of the choice', manner: { chunk: (chunk) => withChoice(chunk, { index: undefined }) } },
  { name: 'other fields', manner: { chunk: (chunk) => ({ obfuscation: 'x', p: 'abc', ...chunk }) } },
  {
    name: 'no id, object, created and model',
    manner: {
      chunk: (chunk) => ({
        choices: (chunk as { choices: object[] }).choices,
        usage: (chunk as { usage?: object }).usage,
      }),
    },
  },
];

const ofBodies: Deviation[] = [
  {
    name: 'all in one event',
    manner: {
      body: () =>
        `data: ${json({ choices: [{ index: 0, delta: messageOf(), finish_reason: 'tool_calls' }], usage })}\n\ndata: [DONE]\n\n`,
    },
  },
  {
    name: 'all in one event, as a message',
    manner: {
      body: () =>
        `data: ${json({ choices: [{ index: 0, message: messageOf(), finish_reason: 'tool_calls' }], usage })}\n\n`,
    },
  },
  {
    name: 'the message beside each delta',
    manner: { chunk: (chunk) => withChoice(chunk, { message: messageOf() }) },
  },
  {
    name: 'the message at the end, without a delta',
    manner: {
      end: (chunk) => [
        { ...chunk({}), choices: [{ index: 0, message: messageOf(), finish_reason: 'tool_calls' }], usage },
      ],
    },
  },
  {
    name: 'JSON',
    manner: { body: () => json({ choices: [{ index: 0, message: messageOf(), finish_reason: 'tool_calls' }], usage }) },
  },
];

export const deviations: readonly Deviation[] = [...ofCalls, ...ofTexts, ...ofEnds, ...ofFrames, ...ofBodies];
