import { describe, expect, it } from 'vitest';
import type { ThoughtPlace } from '../../../../src/dialects/openai-chat/quirks.ts';
import { encodeRequest } from '../../../../src/dialects/openai-chat/request.ts';
import { builtInProviders } from '../../../../src/providers/index.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';

function sent(fields: object, reasoningField?: ThoughtPlace | null) {
  const message = { role: 'assistant', content: 'Hi', ...fields };
  const { payload, dropped } = encodeRequest({
    request: { messages: [{ role: 'user', content: 'Hello' }, message] } as ChatRequest,
    upstreamModel: 'm',
    quirks: reasoningField === undefined ? {} : { reasoningField },
  });
  const { role: _role, content: _content, ...others } = (payload.messages as Record<string, unknown>[])[1] ?? {};
  return { others, dropped };
}

const details = [
  { type: 'reasoning.summary', summary: 'Short. ', index: 0 },
  { type: 'reasoning.text', text: 'Let me', index: 1, signature: 's' },
  { type: 'reasoning.text', text: ' think', index: 1 },
  { type: 'reasoning.text', text: null },
  { type: 'reasoning.encrypted', data: 'c2VjcmV0' },
];
const thought = 'Let me think';

describe('earlier reasoning of an assistant message', () => {
  it.each<[object, ThoughtPlace, unknown, string[]?]>([
    [{ reasoning_content: thought }, 'reasoning_content', thought],
    [{ reasoning: thought }, 'reasoning_content', thought],
    [{ reasoning_details: details }, 'reasoning_content', `Short. ${thought}`, ['messages[].reasoning_details']],
    [
      { reasoning: 'a', reasoning_content: 'a', reasoning_details: details },
      'reasoning_content',
      'a',
      ['messages[].reasoning_details'],
    ],
    [{ reasoning_content: '' }, 'reasoning_content', ''],
    [{ reasoning_content: null, reasoning: thought }, 'reasoning_content', thought],
    [{ reasoning_content: thought }, 'reasoning', thought],
    [{ reasoning_details: details }, 'reasoning', `Short. ${thought}`, ['messages[].reasoning_details']],
    [{ reasoning_details: details.slice(2, 4) }, 'reasoning', ' think'],
    [{ reasoning_details: details, reasoning: thought }, 'reasoning_details', details],
    [{ reasoning_content: thought }, 'reasoning_details', [{ type: 'reasoning.text', text: thought, index: 0 }]],
  ])(
    '%j goes back as %s; where signatures or encrypted parts do not, that is listed',
    (fields, target, ...expected) => {
      const [value, dropped = []] = expected;
      expect(sent(fields, target)).toEqual({ others: { [target]: value }, dropped });
    },
  );
  it.each<[object, ThoughtPlace | null | undefined, string[]]>([
    [{ reasoning: thought }, undefined, ['messages[].reasoning']],
    [
      { reasoning_content: thought, reasoning_details: details },
      null,
      ['messages[].reasoning_content', 'messages[].reasoning_details'],
    ],
    [{ reasoning_details: [details[4]] }, 'reasoning', ['messages[].reasoning_details']],
    [{ reasoning: 5 }, 'reasoning', ['messages[].reasoning']],
    [{ reasoning: null }, undefined, []],
  ])('%j is left out where the provider takes none or it holds no text (%s), and listed', (fields, target, dropped) => {
    expect(sent(fields, target)).toEqual({ others: {}, dropped });
  });
  it.each<[unknown, unknown[]]>([
    ['Hi', [{ type: 'text', text: 'Hi' }]],
    [null, []],
    [[{ type: 'text', text: 'Hi' }], [{ type: 'text', text: 'Hi' }]],
  ])('goes back before the content, as Mistral has it: %j', (content, parts) => {
    const request = {
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content, reasoning: thought },
      ],
    };
    const { payload } = encodeRequest({
      request: request as unknown as ChatRequest,
      upstreamModel: 'm',
      quirks: { reasoningField: 'content' },
    });
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: thought }] };
    expect((payload.messages as object[])[1]).toEqual({ role: 'assistant', content: [thinking, ...parts] });
  });
  it('is left alone in messages of other roles, and the request is not changed', () => {
    const message = { role: 'assistant', content: 'Hi', reasoning: thought };
    const request = { messages: [{ role: 'user', content: 'x', reasoning: 'mine' }, message] };
    const { payload } = encodeRequest({
      request: request as unknown as ChatRequest,
      upstreamModel: 'm',
      quirks: { reasoningField: 'reasoning_content' },
    });
    expect((payload.messages as object[])[0]).toEqual({ role: 'user', content: 'x', reasoning: 'mine' });
    expect(message).toEqual({ role: 'assistant', content: 'Hi', reasoning: thought });
  });
  it.each<[string, ThoughtPlace]>([
    ['deepseek', 'reasoning_content'],
    ['moonshotai', 'reasoning_content'],
    ['xiaomi', 'reasoning_content'],
    ['z-ai', 'reasoning_content'],
    ['fireworks', 'reasoning_content'],
    ['novita', 'reasoning_content'],
    ['cerebras', 'reasoning'],
    ['minimax', 'reasoning_details'],
  ])('goes back to %s as %s', (slug, field) => {
    expect(builtInProviders.find((provider) => provider.slug === slug)?.quirks).toMatchObject({
      reasoningField: field,
    });
  });
});
