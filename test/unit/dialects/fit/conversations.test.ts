import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFitted, fitRequest } from '../../../../src/dialects/fit/index.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';
import { type Case, cases } from '../../../support/fit/cases.ts';
import { conversations } from '../../../support/fit/conversations.ts';

/** Cohere's plan of what tools are for comes before the calls, wherever it stands in the object. */
function inOrder(body: string): string {
  const { messages, ...others } = JSON.parse(body);
  if (!Array.isArray(messages)) return body;
  return JSON.stringify({ ...others, messages: messages.map(({ tool_plan, ...rest }) => ({ tool_plan, ...rest })) });
}

const send = ({ dialect, model, quirks }: Case, request: ChatRequest) =>
  encodeFitted(dialect, { request, upstreamModel: model, quirks });

describe.each(Object.keys(cases))('a conversation of any form, for %s,', (name) => {
  const one = cases[name] as Case;
  it('is one that the provider accepts, and says the same', () => {
    fc.assert(
      fc.property(conversations, ({ request, said, instructions, calls }) => {
        const before = structuredClone(request);
        const { body, reading } = send(one, request);
        expect(request).toEqual(before);
        const { faults, calls: sent, results } = one.validate(body);
        expect(faults).toEqual([]);
        // All that was said, in its order; instructions may come before it.
        const text = name === 'Cohere' ? inOrder(body) : body;
        const places = said.map((mark) => text.indexOf(mark));
        expect(places).toEqual([...places].sort((a, b) => a - b));
        expect(Math.min(...places)).toBeGreaterThanOrEqual(0);
        for (const mark of instructions) expect(body).toContain(mark);
        for (const { mark, result } of calls)
          if (mark !== '' || result !== null) expect(body).toContain(result ?? mark);
        if (sent.length === 0) return;
        expect(sent).toHaveLength(calls.length);
        calls.forEach(({ mark, result, name: own }, at) => {
          const { id, name: theirs, input } = sent[at] as (typeof sent)[number];
          expect(input).toContain(mark);
          expect(reading?.ownNames?.get(theirs) ?? theirs).toBe(own);
          if (result !== null) expect(results.find((given) => given.id === id)?.text).toContain(result);
        });
      }),
      { numRuns: 150 },
    );
  });
  it('would be refused without that', () => {
    let refused = 0;
    const count = ({ request }: { request: ChatRequest }) => {
      try {
        const { dialect, model, quirks, validate } = one;
        const { body } = dialect.encodeRequest({ request, upstreamModel: model, quirks });
        if (validate(body).faults.length > 0) refused++;
      } catch {
        refused++;
      }
    };
    fc.assert(fc.property(conversations, count), { numRuns: 100 });
    expect(refused).toBeGreaterThan(30);
  });
  it('is fitted in the same way in the next turn, whatever the order of the tools', () => {
    fc.assert(
      fc.property(conversations, fc.nat(9), ({ request }, left) => {
        const earlier = { ...request, messages: request.messages.slice(0, request.messages.length - left) };
        if (earlier.messages.length === 0 || earlier.messages.at(-1)?.role === 'assistant') return;
        const asked: ChatRequest = { ...earlier, tools: request.tools?.toReversed() ?? [] };
        if (request.tools === undefined) delete asked.tools;
        const { calls } = one.validate(send(one, request).body);
        const { calls: before } = one.validate(send(one, { ...asked, messages: [...asked.messages, end] }).body);
        expect(before).toEqual(calls.slice(0, before.length));
      }),
      { numRuns: 50 },
    );
  });
  it('is not touched once it fits', () => {
    fc.assert(
      fc.property(conversations, ({ request }) => {
        const profile = one.dialect.profile?.(one.quirks, one.model);
        if (profile === undefined) throw new Error('without a profile');
        const { request: fitted } = fitRequest(request, null, profile);
        expect(fitRequest(fitted, null, profile).request).toBe(fitted);
      }),
      { numRuns: 100 },
    );
  });
});

const end = { role: 'user' as const, content: 'The end.' };
