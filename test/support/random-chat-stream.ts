import type { CallForm } from '../../src/call/native.ts';
import { withOutputItem } from '../../src/call/output-item.ts';
import type { ReasoningDetail } from '../../src/schema/chat/chat.ts';
import type { ChunkDelta } from '../../src/schema/chat/chunk.ts';
import { seeded } from './routing.ts';

/** Random chat streams: any mixture of what a model can say, cut anywhere, also while something else goes on. */

export const randomForms: Readonly<Record<string, CallForm>> = {
  patch: { kind: 'custom', name: 'apply_patch' },
  files_read: { kind: 'function', name: 'read', namespace: 'files' },
  local_shell: { kind: 'local_shell', name: 'local_shell' },
  find_tools: { kind: 'tool_search', name: 'tool_search' },
};

const words = ['a', 'Hello ', '\n\n', '"', '\\', '\\n', '{', '}', '😀', 'é', '\u2028', '\u0000', ' wörld', '*** End'];

export function randomStream(seed: number): ChunkDelta[] {
  const random = seeded(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const text = () => Array.from({ length: 1 + below(4) }, () => words[below(words.length)] as string).join('');
  const style = below(4);
  const deltas: ChunkDelta[] = below(2) === 0 ? [{ role: 'assistant', content: '' }] : [];
  let calls = 0;
  let place = 0;
  let length = 0;
  const steps = below(9);
  let segment: ChunkDelta[] = [];
  /** What was said last may still go on while something else begins. */
  const say = (next: ChunkDelta[]) => {
    if (below(3) === 0) segment = inTurns([segment, next], below);
    else {
      deltas.push(...segment);
      segment = next;
    }
  };
  for (let step = 0; step < steps; step++) {
    const kind = below(7);
    if (kind <= 1) {
      const said = text();
      length += said.length;
      say(cut(said, below).map((content) => ({ content })));
    } else if (kind === 2) say(thought(text(), style, place++, below));
    else if (kind === 3) say(cut(text(), below).map((refusal) => ({ refusal })));
    else if (kind === 4) say([{ annotations: [citation(step, length, below)] }]);
    else if (kind === 5) {
      const count = 1 + below(3);
      say(callsOf(calls, count, below, text));
      calls += count;
    } else say([{ images: [{ image_url: { url: `data:image/png;base64,AAA${step}` } }] }]);
  }
  return [...deltas, ...segment];
}

/**
 * A random stream in the order of a chat message: thoughts, then a text, then calls, each of which begins after the one
 * before and goes on when it likes. The same message as JSON has the same items.
 */
export function orderedStream(seed: number): ChunkDelta[] {
  const random = seeded(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const text = () => Array.from({ length: 1 + below(4) }, () => words[below(words.length)] as string).join('');
  const thoughts = below(2) === 0 ? thought(text(), below(4), 0, below) : [];
  const said = below(3) === 0 ? [] : cut(text(), below).map((content) => ({ content }));
  return [...thoughts, ...said, ...callsOf(0, below(5), below, text, true)];
}

/**
 * Random items of a provider that speaks Responses, each as its deltas: the last is the end of the item, which some
 * providers leave out.
 */
export function nativeItems(seed: number): ChunkDelta[][] {
  const random = seeded(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const text = () => Array.from({ length: 1 + below(4) }, () => words[below(words.length)] as string).join('');
  return Array.from({ length: 1 + below(5) }, (_, index) => {
    const type = nativeTypes[below(nativeTypes.length)] as string;
    const item = {
      type,
      id: `${type}_${index}`,
      ...(type === 'function_call' ? { call_id: `call_${index}`, name: 'f' } : {}),
    };
    const isOpaque = type === 'mcp_call';
    const end = below(4) === 0 ? [] : [withOutputItem<ChunkDelta>({}, { index, item, isOpaque, isDone: true })];
    const said = cut(text(), below).map((piece) =>
      withOutputItem(nativeDelta(type, index, piece), { index, item, isOpaque }),
    );
    return [...said, ...end];
  });
}

const nativeTypes = ['message', 'reasoning', 'function_call', 'mcp_call'];

function nativeDelta(type: string, index: number, text: string): ChunkDelta {
  if (type === 'message') return { content: text };
  if (type === 'function_call') return { tool_calls: [{ index, function: { arguments: text } }] };
  if (type !== 'reasoning') return {};
  return { reasoning_details: [{ type: 'reasoning.text', text, format: 'openai-responses-v1', index }] };
}

/** The deltas of several items, each of which begins after the one before and goes on when it likes. */
export function mixed(items: readonly ChunkDelta[][], seed: number): ChunkDelta[] {
  const random = seeded(seed);
  const [first = [], ...rest] = items;
  return rest.reduce((all, [begin, ...more], at) => {
    // What has begun first stays first.
    const opened = all.slice(0, at + 1);
    const late = inTurns([all.slice(at + 1), more], (limit) => Math.floor(random() * limit));
    return begin === undefined ? all : [...opened, begin, ...late];
  }, first);
}

/** Several lists as one, each in its own order. */
function inTurns<T>(lists: readonly T[][], below: Below): T[] {
  const queues = lists.map((list) => [...list]);
  const all: T[] = [];
  while (queues.some((queue) => queue.length > 0)) {
    const next = queues[below(queues.length)]?.shift();
    if (next !== undefined) all.push(next);
  }
  return all;
}

type Below = (limit: number) => number;

/** Pieces of a text, cut between any two code units. */
function cut(text: string, below: Below): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = at + 1 + below(below(3) === 0 ? 12 : 3);
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

/** @param style  0: text alone; 1: with signed details; 2: with summaries and an encrypted part; 3: text and encrypted */
function thought(text: string, style: number, index: number, below: Below): ChunkDelta[] {
  const pieces = cut(text, below);
  if (style === 0) return pieces.map((reasoning) => ({ reasoning }));
  if (style === 3) {
    const sealed: ReasoningDetail = { type: 'reasoning.encrypted', data: `sealed ${index}`, index };
    return [...pieces.map((reasoning) => ({ reasoning })), { reasoning_details: [sealed] }];
  }
  if (style === 1) {
    const format = 'anthropic-claude-v1';
    return [
      ...pieces.map((piece) => ({
        reasoning: piece,
        reasoning_details: [{ type: 'reasoning.text' as const, text: piece, format, index }],
      })),
      { reasoning_details: [{ type: 'reasoning.text', signature: `signed ${index}`, format, index }] },
    ];
  }
  const own = { id: `rs_${index}`, format: 'openai-responses-v1' };
  return [
    ...pieces.map((summary) => ({
      reasoning: summary,
      reasoning_details: [{ type: 'reasoning.summary' as const, summary, ...own, index: 2 * index }],
    })),
    { reasoning_details: [{ type: 'reasoning.encrypted', data: `sealed ${index}`, ...own, index: 2 * index + 1 }] },
  ];
}

function citation(step: number, length: number, below: Below) {
  const start = below(length + 1);
  const places = below(3) === 0 ? {} : { start_index: start, end_index: start + below(5) };
  const url = `https://a.example/${step}`;
  return { type: 'url_citation', url_citation: { url, title: `No ${step}`, ...places } };
}

/**
 * Several calls whose fragments take turns.
 * @param inOrder  true: each begins after the one before
 */
function callsOf(first: number, count: number, below: Below, text: () => string, inOrder = false): ChunkDelta[] {
  const queues = Array.from({ length: count }, (_, at) => {
    const index = first + at;
    const [name, body] = callOf(below, text);
    const opening = { index, id: `call_${index}_x`, type: 'function' as const };
    const begin =
      below(2) === 0
        ? [{ ...opening, function: { name, arguments: '' } }]
        : [
            { ...opening, function: { name: name.slice(0, 2) } },
            { index, function: { name: name.slice(2) } },
          ];
    return [...begin, ...cut(body, below).map((piece) => ({ index, function: { arguments: piece } }))];
  });
  const deltas: ChunkDelta[] = [];
  let begun = 0;
  while (queues.some((queue) => queue.length > 0)) {
    const at = below(inOrder ? Math.min(begun + 1, count) : count);
    const fragment = queues[at]?.shift();
    if (fragment === undefined) continue;
    begun = Math.max(begun, at + 1);
    deltas.push({ tool_calls: [fragment] });
  }
  return deltas;
}

function callOf(below: Below, text: () => string): [string, string] {
  switch (below(7)) {
    case 6:
      return ['get_time', below(2) === 0 ? '{}' : ' {\n} '];
    case 0:
      return ['patch', JSON.stringify({ input: text() + text() })];
    case 1:
      return ['patch', below(2) === 0 ? text() : `{"other":1,"input":${JSON.stringify(text())}}`];
    case 2:
      return ['files_read', JSON.stringify({ path: text() })];
    case 3:
      return ['local_shell', below(4) === 0 ? text() : JSON.stringify({ command: ['ls', text()] })];
    case 4:
      return ['find_tools', JSON.stringify({ query: text() })];
    default:
      return ['get_weather', below(4) === 0 ? text() : JSON.stringify({ city: text() })];
  }
}
