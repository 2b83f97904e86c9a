import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { askOf, revised, withRequest } from '../../../src/call/ask.ts';
import type { Native, NativeObject } from '../../../src/call/native.ts';
import type { ChatMessage, ChatRequest, ChatTool } from '../../../src/schema/chat/chat.ts';
import { askMadeOf, type Made } from '../../support/native.ts';

const user = (content: string): ChatMessage => ({ role: 'user', content });
const item = (text: string): NativeObject => ({ type: 'message', role: 'user', content: text });
const tool = (name: string): ChatTool => ({ type: 'function', function: { name } });
const madeOf = (...texts: string[]) => askMadeOf({ messages: texts.map((text): Made => [user(text), [item(text)]]) });

/** The texts of the items that each message is known to be made of; null: nothing is known. */
function itemsAfter(before: ReturnType<typeof madeOf>, messages: ChatMessage[]) {
  const { native } = withRequest(before, { ...before.request, messages });
  return native?.items.map((items) => items?.map(({ content }) => content).join() ?? null);
}

describe('an ask with another request', () => {
  it('is the same where the request is', () => {
    const ask = madeOf('a');
    expect(withRequest(ask, ask.request)).toBe(ask);
  });
  it('keeps what the client said where only fields of the request change', () => {
    const ask = madeOf('a', 'b');
    const { native, request } = withRequest(ask, { ...ask.request, temperature: 0 });
    expect([native === ask.native, request.temperature]).toEqual([true, 0]);
  });
  it('knows a message wherever it stands now', () => {
    const ask = madeOf('a', 'b', 'c');
    const [a, b, c] = ask.request.messages as [ChatMessage, ChatMessage, ChatMessage];
    expect(itemsAfter(ask, [user('new'), c, a])).toEqual([null, 'c', 'a']);
    expect(itemsAfter(ask, [a, b])).toEqual(['a', 'b']);
  });
  it('knows copies of all messages, and loses only what was changed', () => {
    const ask = madeOf('a', 'b', 'c', 'd');
    const copies = structuredClone(ask.request.messages);
    expect(itemsAfter(ask, copies)).toEqual(['a', 'b', 'c', 'd']);
    expect(itemsAfter(ask, copies.with(1, user('***')))).toEqual(['a', null, 'c', 'd']);
    expect(itemsAfter(ask, [user('first'), ...copies])).toEqual([null, 'a', 'b', 'c', 'd']);
  });
  it('knows nothing of a message that is said again', () => {
    const ask = madeOf('a');
    const [a] = ask.request.messages as [ChatMessage];
    expect(itemsAfter(ask, [a, { ...a }])).toEqual(['a', null]);
  });
  it('knows its instructions, and tools, in their new places', () => {
    const tools = [
      [tool('f'), { type: 'function', name: 'f' }],
      [tool('g'), { type: 'function', name: 'g' }],
    ] as const;
    const ask = askMadeOf({ messages: [[user('Be brief.'), []], [user('a')]], hasInstructions: true, tools });
    const { messages } = ask.request;
    const changed = { ...ask.request, messages: [user('x'), ...messages], tools: [tool('h'), tool('g')] };
    const { native } = withRequest(ask, changed);
    expect([native?.instructionsAt, native?.tools]).toEqual([1, [null, tools[1][1]]]);
    const without = withRequest(ask, { ...ask.request, messages: messages.slice(1) });
    expect(without.native?.instructionsAt).toBeNull();
  });
  it('of a chat request has nothing to pair', () => {
    expect(withRequest(askOf({ messages: [] }), { messages: [user('a')] }).native).toBeNull();
  });
  it('never gives a message the items of another one, whatever a plugin does', () => {
    const text = fc.constantFrom('a', 'b', 'c');
    const change = fc.record({ take: fc.nat(7), isCopy: fc.boolean(), text: fc.option(text, { nil: null }) });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 6 }), fc.array(change, { maxLength: 8 }), (texts, changes) => {
        const ask = madeOf(...texts);
        const messages = changes.flatMap(({ take, isCopy, text: said }) => {
          const from = ask.request.messages[take];
          if (said !== null || from === undefined) return [user(said ?? 'new')];
          return [isCopy ? structuredClone(from) : from];
        });
        const { native } = withRequest(ask, { ...ask.request, messages });
        expect(native?.items).toHaveLength(messages.length);
        const uses = new Set<unknown>();
        for (const [at, items] of native?.items.entries() ?? []) {
          if (items === null) continue;
          expect(items[0]?.content).toBe(messages[at]?.content);
          uses.add(items);
        }
        // What an identical object was made of is known, and no items are sent twice.
        expect(uses.size).toBe(native?.items.filter((items) => items !== null).length);
        const first = new Map(messages.map((message, at) => [message, at] as const).reverse());
        for (const message of ask.request.messages)
          if (first.has(message)) expect(native?.items[first.get(message) as number]).not.toBeNull();
      }),
      { numRuns: 500, seed: 7 },
    );
  });
});

describe('a revision', () => {
  it('says what the chat request cannot, and leaves the rest as it was', () => {
    const ask = { ...madeOf('a'), headers: { a: '1' } };
    const request: ChatRequest = { messages: [user('b')] };
    const native: Native = { ...ask.native, dropped: ['x'] };
    expect(revised(ask, { request, native, searchesNatively: true })).toEqual({
      ...ask,
      request,
      native,
      searchesNatively: true,
    });
    expect(revised(ask, { request, native: null }).native).toBeNull();
  });
  it('without a word of `native` is paired, as a chat request is', () => {
    const ask = madeOf('a');
    const request = structuredClone(ask.request);
    expect(revised(ask, { request, maxToolCalls: 2 })).toMatchObject({ native: ask.native, maxToolCalls: 2 });
    expect(revised(ask, request).native).toEqual(ask.native);
  });
});
