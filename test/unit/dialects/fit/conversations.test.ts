import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../../../src/dialects/dialect.ts';
import { encodeFitted, fitRequest } from '../../../../src/dialects/fit/index.ts';
import { dialects } from '../../../../src/dialects/index.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';
import * as chat from '../../../support/fit/chat.ts';
import { conversations } from '../../../support/fit/conversations.ts';
import * as others from '../../../support/fit/others.ts';
import type { Validator } from '../../../support/fit/seen.ts';

interface Case {
  dialect: Dialect;
  model: string;
  quirks: object;
  validate: Validator;
}
const of = (name: keyof typeof dialects, validate: Validator, model = 'm', quirks: object = {}): Case => ({
  dialect: dialects[name] as Dialect,
  model,
  quirks,
  validate,
});

/** Each profile, with the rules of who it is for. */
const cases: Record<string, Case> = {
  'any OpenAI-like server': of('openai-chat', chat.anyServer),
  'any OpenAI-like server, by the looser rules': of('openai-chat', chat.openai),
  OpenAI: of('openai-chat', chat.openai, 'gpt-5', { messageOrder: 'any' }),
  Mistral: of('openai-chat', chat.mistral, 'm', { messageOrder: 'bridged_turns', callIds: 'nine' }),
  'a model of Mistral elsewhere': of('openai-chat', chat.mistral, 'mistralai/Devstral-Small'),
  'OpenAI, Responses': of('openai-responses', others.responses, 'gpt-5'),
  Anthropic: of('anthropic-messages', others.anthropic, 'claude-sonnet-4-5'),
  'the newest Claude': of('anthropic-messages', others.anthropic, 'claude-sonnet-4-6'),
  Bedrock: of('bedrock-converse', others.bedrock, 'anthropic.claude-sonnet-4-5-20250929-v1:0'),
  'a model of Mistral at Bedrock': of('bedrock-converse', others.bedrockOfOthers, 'mistral.mistral-large-2407-v1:0'),
  Gemini: of('google-generate-content', others.google, 'gemini-2.5-flash'),
  'Gemini 3': of('google-generate-content', others.google, 'gemini-3-pro'),
  Cohere: of('cohere-chat', others.cohere, 'command-a'),
  'a model of the AI SDK': of('ai-sdk', others.aiSdk),
};

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
