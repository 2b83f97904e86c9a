import fc from 'fast-check';
import type { ChatRequest } from '../../../src/schema/chat/chat.ts';

/** What the model must be told, by marks that stand in the texts. */
export interface Told {
  request: ChatRequest;
  /** Marks of what is said and called, in order; those of instructions apart. */
  said: string[];
  instructions: string[];
  /** The mark of each call, with that of its result where it has one, and the caller's name of the tool. */
  calls: { mark: string; name: string; result: string | null }[];
}

const ids = [
  'call_0',
  'call_0',
  'call_1',
  'functions.look:0',
  'x'.repeat(80),
  `${'x'.repeat(79)}y`,
  'ü',
  'aB3dE6gH9',
  '',
];
const names = ['look', 'a.b', 'a:b', '2fa', 'get weather', 'x'.repeat(70), 'get-weather', 'ä'];
const png = (mark: string) => `data:image/png;base64,${btoa(`${mark}----`).replaceAll('=', '')}`;
const jpg = (mark: string) => png(mark).replace('image/png', 'image/jpg');

type Content = 'text' | 'parts' | 'empty' | 'blank' | 'none' | 'picture' | 'jpg';
type Arguments = 'object' | 'numbers' | 'broken' | 'empty' | 'list';
interface Call {
  id: number;
  name: number;
  arguments: Arguments;
  result: 'text' | 'empty' | 'parts' | 'picture' | 'late' | null;
}
type Step =
  | { kind: 'system' | 'developer' | 'user'; content: Content }
  | { kind: 'assistant'; content: 'text' | 'empty' | 'null'; calls: Call[]; isReversed: boolean; between: boolean }
  | { kind: 'orphan' };

const call: fc.Arbitrary<Call> = fc.record({
  id: fc.nat(ids.length - 1),
  name: fc.nat(names.length - 1),
  arguments: fc.constantFrom('object', 'numbers', 'broken', 'empty', 'list'),
  result: fc.constantFrom('text', 'text', 'empty', 'parts', 'picture', 'late', null),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('system' as const, 'developer' as const),
    content: fc.constantFrom<Content[]>('text', 'parts', 'empty', 'none'),
  }),
  fc.record({
    kind: fc.constant('user' as const),
    content: fc.constantFrom<Content[]>('text', 'text', 'parts', 'empty', 'blank', 'none', 'picture', 'jpg'),
  }),
  fc.record({
    kind: fc.constant('assistant' as const),
    content: fc.constantFrom('text' as const, 'empty' as const, 'null' as const),
    calls: fc.array(call, { maxLength: 3 }),
    isReversed: fc.boolean(),
    between: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('orphan' as const) }),
);
const tools = fc.constantFrom('all', 'all', 'all', 'none', 'empty');
const choice = fc.constantFrom(undefined, 'auto', 'required', 'none', 'named');
const schema = fc.constantFrom<object | undefined>(
  undefined,
  {},
  { type: 'object' },
  { $schema: 'http://json-schema.org/draft-07/schema#', properties: { q: { type: 'array' } } },
  { type: 'object', properties: null, required: null },
  { type: 'object', properties: { q: { anyOf: [{ type: 'array', items: null }, { type: 'string' }] } } },
  { type: 'object', properties: { q: { type: 'array', items: {} } } },
);
const stop = fc.constantFrom(undefined, undefined, [], '', 'END', ['END'], ['\n\n', 'END'], [' ', '']);

/**
 * Random conversations: roles in any order, parallel calls, repeated ids, empty and broken parts, pictures, schemas and
 * stop texts that lack something.
 */
export const conversations: fc.Arbitrary<Told> = fc
  .record({ steps: fc.array(step, { maxLength: 9 }), tools, schema, choice, parallel: fc.boolean(), stop })
  .map(({ steps, tools: given, schema: parameters, choice: chosen, parallel, stop: stops }) => {
    const told: Told = { request: { messages: [] }, said: [], instructions: [], calls: [] };
    const messages = told.request.messages as object[];
    let marks = 0;
    const mark = () => `mark${marks++}.`;
    for (const one of steps) addStep(one, messages, told, mark);
    const last = mark();
    messages.push({ role: 'user', content: last });
    told.said.push(last);
    if (given === 'all')
      told.request.tools = names.map((name) => ({
        type: 'function',
        function: { name, ...(parameters === undefined ? {} : { parameters: structuredClone(parameters) }) },
      })) as NonNullable<ChatRequest['tools']>;
    if (stops !== undefined) told.request.stop = stops;
    if (given === 'empty') told.request.tools = [];
    if (parallel) told.request.parallel_tool_calls = true;
    if (chosen === 'named') told.request.tool_choice = { type: 'function', function: { name: names[1] as string } };
    else if (chosen !== undefined) told.request.tool_choice = chosen as 'auto';
    return told;
  });

function addStep(one: Step, messages: object[], told: Told, mark: () => string): void {
  if (one.kind === 'orphan') {
    const own = mark();
    told.said.push(own);
    messages.push({ role: 'tool', tool_call_id: 'nobody', content: own });
  } else if (one.kind === 'assistant') addAssistant(one, messages, told, mark);
  else {
    const own = mark();
    const saysNothing = ['empty', 'blank', 'none'].includes(one.content);
    const isSaid = !saysNothing && one.content !== 'picture' && one.content !== 'jpg';
    if (isSaid) (one.kind === 'user' ? told.said : told.instructions).push(own);
    messages.push({ role: one.kind, content: contentOf(one.content, own) });
  }
}

function contentOf(kind: Content, mark: string): unknown {
  switch (kind) {
    case 'text':
      return mark;
    case 'parts':
      return [
        { type: 'text', text: '' },
        { type: 'text', text: mark },
      ];
    case 'empty':
      return '';
    case 'blank':
      return [{ type: 'text', text: '' }];
    case 'none':
      return [];
    case 'picture':
      return [{ type: 'image_url', image_url: { url: png(mark) } }];
    case 'jpg':
      return [{ type: 'image_url', image_url: { url: jpg(mark) } }];
  }
}

const argumentsOf: Readonly<Record<Arguments, (mark: string) => string>> = {
  object: (mark) => `{"q": "${mark}"}`,
  numbers: (mark) => `{"q":"${mark}","n":12345678901234567890,"f":1.0}`,
  broken: (mark) => `{"q":"${mark}`,
  empty: () => '',
  list: (mark) => `["${mark}"]`,
};

function addAssistant(
  { content, calls, isReversed, between }: Extract<Step, { kind: 'assistant' }>,
  messages: object[],
  told: Told,
  mark: () => string,
): void {
  const own = mark();
  if (content === 'text') told.said.push(own);
  const results: object[] = [];
  const late: object[] = [];
  const idsHere = new Set(calls.map(({ id }) => ids[id]));
  // Of two calls with one id, nobody knows which result is whose but by their order.
  const isPlain = idsHere.size === calls.length;
  const asked = calls.map((one) =>
    isPlain || (one.result !== null && one.result !== 'late') ? one : { ...one, result: 'text' as const },
  );
  const sent = asked.map((one) => {
    const id = ids[one.id] as string;
    const input = mark();
    if (one.arguments !== 'empty') told.said.push(input);
    const answer = one.result === null ? null : mark();
    const name = names[one.name] as string;
    told.calls.push({
      mark: one.arguments === 'empty' ? '' : input,
      name,
      result: one.result === null || one.result === 'empty' ? null : answer,
    });
    if (answer !== null) {
      const result = { role: 'tool', tool_call_id: id, content: resultOf(one.result, answer) };
      (one.result === 'late' ? late : results).push(result);
    }
    return { id, type: 'function', function: { name, arguments: argumentsOf[one.arguments](input) } };
  });
  messages.push({
    role: 'assistant',
    content: content === 'text' ? own : content === 'empty' ? '' : null,
    ...(sent.length > 0 || content === 'empty' ? { tool_calls: sent } : {}),
  });
  messages.push(...(isReversed && isPlain ? results.reverse() : results));
  if (between && isPlain) {
    const word = mark();
    told.said.push(word);
    messages.push({ role: 'user', content: word });
  }
  messages.push(...late);
}

function resultOf(kind: Call['result'], mark: string): unknown {
  if (kind === 'empty') return '';
  if (kind === 'parts') return contentOf('parts', mark);
  if (kind !== 'picture') return mark;
  return [
    { type: 'text', text: mark },
    { type: 'image_url', image_url: { url: jpg(mark) } },
  ];
}
