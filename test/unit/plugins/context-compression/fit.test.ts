import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../../src/call/model.ts';
import { type Fitting, fitted } from '../../../../src/plugins/context-compression/fit.ts';
import { estimatePrompt } from '../../../../src/pricing/estimate.ts';
import type { ChatMessage, ChatRequest } from '../../../../src/schema/chat/chat.ts';
import { runs } from '../../../support/runs.ts';

const fitting: Fitting = { outputTokens: 1_024 };
const endpointOf = (contextLength: number, more: Partial<Endpoint> = {}) =>
  ({ contextLength, maxCompletionTokens: null, ...more }) as Endpoint;
const requestOf = (messages: readonly ChatMessage[], more: object = {}) =>
  ({ model: 'acme/fast', messages, ...more }) as ChatRequest;
const user = (content: string): ChatMessage => ({ role: 'user', content });
const words = (count: number, word = 'word') => Array.from({ length: count }, (_, at) => `${word}${at % 7}`).join(' ');

const text = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.constant(''),
  fc.nat({ max: 900 }).map((count) => words(count)),
  fc.nat({ max: 900 }).map((count) => words(count, 'слово')),
  fc.nat({ max: 300 }).map((count) => '漢字😀'.repeat(count)),
);
const image = { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AAAA' } };
const content = fc.oneof(
  { weight: 4, arbitrary: text },
  fc.array(
    fc.oneof(
      text.map((one) => ({ type: 'text' as const, text: one })),
      fc.constant(image),
    ),
    { maxLength: 4 },
  ),
);
/** One to three messages: calls of tools have ids that come back in later turns, and results may be missing. */
const turn = fc.oneof(
  content.map((one) => [{ role: 'user', content: one }]),
  text.map((one) => [{ role: 'assistant', content: one }]),
  text.map((one) => [{ role: 'system', content: one.slice(0, 200) }]),
  text.map((one) => [{ role: 'developer', content: one.slice(0, 200) }]),
  fc
    .record({
      calls: fc.integer({ min: 1, max: 8 }),
      results: fc.array(content, { maxLength: 9 }),
      said: text,
      given: fc.nat({ max: 120 }),
      reasoning: fc.option(text, { nil: undefined }),
    })
    .map(({ calls, results, said, given, reasoning }) => [
      {
        role: 'assistant',
        content: said,
        ...(reasoning === undefined ? {} : { reasoning }),
        tool_calls: Array.from({ length: calls }, (_, at) => ({
          id: `call_${at}`,
          type: 'function',
          function: { name: 'f', arguments: JSON.stringify({ a: words(given) }) },
        })),
      },
      ...results.map((one, at) => ({ role: 'tool', tool_call_id: `call_${at}`, content: one })),
    ]),
);
/** Every message knows its place. */
const conversation = fc
  .array(turn, { minLength: 1, maxLength: 24 })
  .map((turns) => turns.flat().map((one, place) => ({ ...one, place }) as ChatMessage));
const story = fc.record({
  messages: conversation,
  context: fc.integer({ min: 200, max: 6_000 }),
  maxTokens: fc.option(fc.integer({ min: 1, max: 2_000 }), { nil: undefined }),
  tools: fc.option(fc.nat({ max: 400 }), { nil: undefined }),
});
const toolOf = (size: number) => ({ type: 'function', function: { name: 'f', description: words(size) } });

/** The message that calls, of the result of a tool: the last before it with this call; null: none. */
function callerOf(messages: readonly ChatMessage[], at: number): ChatMessage | null {
  const result = messages[at] as ChatMessage & { tool_call_id: string };
  const before = messages.slice(0, at);
  return (
    before.findLast(
      (one) => one.role === 'assistant' && one.tool_calls?.some(({ id }) => id === result.tool_call_id) === true,
    ) ?? null
  );
}

const textsOf = ({ content: of }: ChatMessage): string[] =>
  typeof of === 'string' ? [of] : (of ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));
const withoutTexts = ({ content: of, ...rest }: ChatMessage) => ({
  ...rest,
  content: typeof of === 'string' ? '' : of?.map((part) => (part.type === 'text' ? { ...part, text: '' } : part)),
});

const callsOf = (message: ChatMessage) => (message.role === 'assistant' ? (message.tool_calls ?? []) : []);

/**
 * Whether a message is another with less text: of each text a beginning and an end. It may have fewer of several calls,
 * and nothing else is different.
 */
function isCutOf(before: ChatMessage, after: ChatMessage): boolean {
  const calls = callsOf(after);
  if (callsOf(before).length > 0 && calls.length === 0) return false;
  if (calls.some((call) => !callsOf(before).includes(call))) return false;
  const expected = calls.length === 0 ? before : { ...before, tool_calls: calls };
  if (JSON.stringify(withoutTexts(expected as ChatMessage)) !== JSON.stringify(withoutTexts(after))) return false;
  const now = textsOf(after);
  return textsOf(before).every((one, at) => {
    const cut = now[at] as string;
    if (cut === one) return true;
    return [...cut.matchAll(/ … /g)].some(
      ({ index }) => one.startsWith(cut.slice(0, index)) && one.endsWith(cut.slice(index + 3)),
    );
  });
}

/** About the tokens of what always stays, with its texts cut as far as they can be. */
function leastOf(request: ChatRequest): number {
  const { messages } = request;
  const short = (message: ChatMessage) =>
    ({
      ...message,
      content:
        typeof message.content === 'string'
          ? message.content.slice(0, 64)
          : message.content?.map((part) => (part.type === 'text' ? { ...part, text: part.text.slice(0, 64) } : part)),
    }) as ChatMessage;
  const isInstruction = ({ role }: ChatMessage) => role === 'system' || role === 'developer';
  const rest = messages.filter((one) => !isInstruction(one));
  const last = rest.at(-1);
  const staying = new Set([rest.findLast(({ role }) => role === 'user'), last]);
  if (last?.role === 'tool') {
    const caller = callerOf(messages, messages.lastIndexOf(last));
    if (caller !== null) staying.add(caller);
    for (const [at, one] of messages.entries())
      if (one.role === 'tool' && one.tool_call_id === last.tool_call_id && callerOf(messages, at) === caller)
        staying.add(one);
  }
  const kept = [...staying].flatMap((one) => (one === undefined ? [] : [short(one)]));
  return estimatePrompt({ ...request, messages: [...messages.filter(isInstruction), ...kept] });
}

describe('a prompt that is too long for its endpoint', () => {
  it('fits afterwards, and has lost nothing but what may go', () => {
    const seen = { shortened: 0, cut: 0, removed: 0, kept: 0, stuck: 0, fewerCalls: 0 };
    fc.assert(
      fc.property(story, ({ messages, context, maxTokens, tools }) => {
        const endpoint = endpointOf(context);
        const more = {
          ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
          ...(tools === undefined ? {} : { tools: [toolOf(tools)] }),
        };
        const request = requestOf(messages, more);
        const before = structuredClone(messages);
        const shortened = fitted(request, endpoint, fitting);
        expect(messages).toEqual(before);
        const output = maxTokens ?? Math.min(1_024, Math.floor(context / 8));
        const fits = estimatePrompt(request) <= context - output;
        if (shortened === null) {
          expect(fits).toBe(true);
          seen.kept++;
          return;
        }
        if (shortened.request === request) {
          seen.stuck++;
          expect(Number(/about (\d+) more than/.exec(shortened.stage.summary ?? '')?.[1])).toBeGreaterThan(0);
          // Nothing that may go is left: instructions, the question, and one call with its result are too long by themselves.
          expect(leastOf(request)).toBeGreaterThan((context - output) * 0.7);
          return;
        }
        expect(fits).toBe(false);
        seen.shortened++;
        const left = shortened.request.messages;
        expect(estimatePrompt(shortened.request)).toBeLessThanOrEqual(context - output);
        expect(fitted(shortened.request, endpoint, fitting)).toBeNull();
        expect(fitted(requestOf(messages, more), endpoint, fitting)?.request.messages).toEqual(left);
        const places = left.map((one) => (one as unknown as { place: number }).place);
        expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
        for (const [at, one] of left.entries()) {
          const was = messages[places[at] as number] as ChatMessage;
          expect(one === was || isCutOf(was, one)).toBe(true);
        }
        for (const [at, one] of messages.entries()) {
          const isLeft = places.includes(at);
          if (one.role === 'system' || one.role === 'developer') expect(left).toContain(one);
          else if (one.role === 'tool') {
            const caller = callerOf(messages, at);
            if (caller === null) continue;
            const kept = left[places.indexOf(messages.indexOf(caller))];
            expect(kept !== undefined && callsOf(kept).some(({ id }) => id === one.tool_call_id)).toBe(isLeft);
          }
        }
        const lastOf = (role: (one: ChatMessage) => boolean) => messages.findLastIndex(role);
        const question = lastOf(({ role }) => role === 'user');
        if (question >= 0) expect(places).toContain(question);
        expect(places).toContain(lastOf(({ role }) => role !== 'system' && role !== 'developer'));
        const fewer = (one: ChatMessage, at: number) =>
          callsOf(one).length < callsOf(messages[places[at] as number] as ChatMessage).length;
        if (left.some(fewer)) seen.fewerCalls++;
        if (left.length < messages.length) seen.removed++;
        if (left.some((one) => !messages.includes(one))) seen.cut++;
        expect(shortened.stage.data).toEqual({
          engine: 'middle-out',
          input_type: 'messages',
          original_count: messages.length,
          compressed_count: left.length,
        });
      }),
      { seed: 7, numRuns: runs(1_200, 8_000) },
    );
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(20);
  }, 600_000);
  it('loses its middle: a beginning and an end stay', () => {
    const messages = Array.from({ length: 41 }, (_, at) => user(`${at} ${words(100)}`));
    const left = fitted(requestOf(messages, { max_tokens: 100 }), endpointOf(4_000), fitting)?.request.messages ?? [];
    const numbers = left.map(({ content: of }) => Number.parseInt(of as string, 10));
    const gap = numbers.findIndex((one, at) => at > 0 && one > (numbers[at - 1] as number) + 1);
    expect(numbers.slice(0, gap)).toEqual(Array.from({ length: gap }, (_, at) => at));
    expect(numbers.slice(gap)).toEqual(
      Array.from({ length: numbers.length - gap }, (_, at) => 41 - (numbers.length - gap) + at),
    );
    expect(Math.abs(numbers.length - 2 * gap)).toBeLessThan(4);
  });
  it('is one text: its middle goes, and no character is torn', () => {
    for (const long of ['beginning '.repeat(2_000) + 'end '.repeat(2_000), '😀漢'.repeat(4_000)]) {
      const [one] =
        fitted(requestOf([user(long)], { max_tokens: 100 }), endpointOf(1_000), fitting)?.request.messages ?? [];
      const cut = one?.content as string;
      expect(cut.isWellFormed()).toBe(true);
      const [head = '', tail = ''] = cut.split(' … ');
      expect(long.startsWith(head) && long.endsWith(tail) && head.length > 100 && tail.length > 100).toBe(true);
    }
  });
  it('is one text of which a part is only estimated: it fits as it is counted in the end', () => {
    const one = user(`first ${'word '.repeat(160_000)}last`);
    const endpoint = { ...endpointOf(131_072), maxCompletionTokens: 4_096 };
    const left = fitted(requestOf([one], { max_tokens: 100_000 }), endpoint, fitting);
    const cut = left?.request.messages[0]?.content as string;
    expect(cut).toMatch(/^first word .* last$/s);
    expect(estimatePrompt(requestOf([user(cut)]))).toBeLessThan(131_072 - 4_096);
  });
  it('stays as it is where instructions, tools or pictures alone are too long', () => {
    const endpoint = endpointOf(1_000);
    const tool = { type: 'function', function: { name: 'f', description: words(2_000) } };
    const images = Array.from({ length: 3 }, () => image);
    for (const request of [
      requestOf([{ role: 'system', content: words(2_000) }, user('Hi')]),
      requestOf([user('Hi')], { tools: [tool] }),
      requestOf([{ role: 'user', content: [...images, { type: 'text', text: words(500) }] }]),
    ]) {
      const shortened = fitted(request, endpoint, fitting);
      expect(shortened?.request).toBe(request);
      expect(shortened?.stage.summary).toMatch(/^not shortened: of about \d+ tokens, .* about \d+ more than/);
    }
    expect(fitted(requestOf([]), endpoint, fitting)).toBeNull();
  });
  it('has results of calls made at once: each is cut, and where that is not enough, the oldest go with their calls', () => {
    const turn = (count: number, result: string): ChatMessage[] => [
      user('What is the weather?'),
      {
        role: 'assistant',
        content: null,
        tool_calls: Array.from({ length: count }, (_, at) => ({
          id: `call_${at}`,
          type: 'function' as const,
          function: { name: 'weather', arguments: JSON.stringify({ city: `city ${at}`, note: words(10) }) },
        })),
      },
      ...Array.from({ length: count }, (_, at) => ({
        role: 'tool' as const,
        tool_call_id: `call_${at}`,
        content: `${at} ${result}`,
      })),
    ];
    const tools = [toolOf(200)];
    const cut = fitted(requestOf(turn(8, words(1_000)), { tools, max_tokens: 100 }), endpointOf(4_000), fitting);
    expect(cut?.request.messages).toHaveLength(10);
    const fewer = fitted(requestOf(turn(100, words(50)), { tools, max_tokens: 100 }), endpointOf(2_000), fitting);
    const left = fewer?.request.messages ?? [];
    const ids = callsOf(left[1] as ChatMessage).map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(5);
    expect(ids).toEqual(Array.from({ length: ids.length }, (_, at) => `call_${100 - ids.length + at}`));
    expect(left.slice(2).map((one) => (one.role === 'tool' ? one.tool_call_id : null))).toEqual(ids);
    expect(estimatePrompt(fewer?.request as ChatRequest)).toBeLessThanOrEqual(1_900);
  });
  it('is shortened beside many tools, also where it is so long that its end is only estimated', () => {
    const messages = [...Array.from({ length: 400 }, () => user(words(200))), user('The question')];
    const request = requestOf(messages, { tools: Array.from({ length: 30 }, () => toolOf(100)), max_tokens: 100 });
    const shortened = fitted(request, endpointOf(10_000), fitting);
    expect(shortened?.request).not.toBe(request);
    expect(shortened?.request.messages.at(-1)?.content).toBe('The question');
  });
  it('leaves the room that the largest output needs, or a part of the context', () => {
    const messages = Array.from({ length: 100 }, () => user(words(100)));
    const tokensAfter = (more: object, endpoint: Endpoint) => {
      const shortened = fitted(requestOf(messages, more), endpoint, fitting);
      return shortened === null ? null : estimatePrompt(shortened.request);
    };
    expect(tokensAfter({ max_tokens: 3_000 }, endpointOf(8_000))).toBeLessThanOrEqual(5_000);
    expect(tokensAfter({ max_completion_tokens: 100 }, endpointOf(8_000))).toBeGreaterThan(6_500);
    expect(tokensAfter({}, endpointOf(8_000))).toBeLessThanOrEqual(6_000);
    expect(tokensAfter({ max_tokens: 3_000 }, endpointOf(8_000, { maxCompletionTokens: 500 }))).toBeGreaterThan(6_000);
    expect(tokensAfter({}, endpointOf(8_000, { maxPromptTokens: 1_000 }))).toBeLessThanOrEqual(1_000);
    expect(tokensAfter({}, { ...endpointOf(1), contextLength: null })).toBeNull();
    // Nothing is taken away where the prompt fits beside the least output.
    const total = estimatePrompt(requestOf(messages));
    expect(tokensAfter({}, endpointOf(total + 1_024))).toBeNull();
    expect(tokensAfter({}, endpointOf(total + 1_000))).not.toBeNull();
  });
  it('is counted by a counter of the host app', () => {
    const countTokens = (of: string) => of.length;
    const messages = [user('a'.repeat(300)), user('b'.repeat(300)), user('c'.repeat(300))];
    const shortened = fitted(requestOf(messages, { max_tokens: 10 }), endpointOf(500), { ...fitting, countTokens });
    const chars = shortened?.request.messages.reduce((sum, { content: of }) => sum + (of as string).length, 0) ?? 0;
    expect(chars).toBeGreaterThan(300);
    expect(chars).toBeLessThanOrEqual(490);
  });
  it('takes work that grows with its length, not with the square of it', () => {
    let counted = 0;
    const countTokens = (of: string) => {
      counted += of.length + 1;
      return Math.ceil(of.length / 4);
    };
    const workOf = (length: number) => {
      counted = 0;
      const messages = Array.from(
        { length },
        (_, at): ChatMessage =>
          at % 3 === 0
            ? user('12345678')
            : at % 3 === 1
              ? {
                  role: 'assistant',
                  content: null,
                  tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
                }
              : { role: 'tool', tool_call_id: 'c', content: '12345678' },
      );
      expect(fitted(requestOf(messages), endpointOf(8_192), { ...fitting, countTokens })).not.toBeNull();
      return counted;
    };
    expect(workOf(100_000)).toBeLessThan(workOf(10_000) * 12);
  });
});
