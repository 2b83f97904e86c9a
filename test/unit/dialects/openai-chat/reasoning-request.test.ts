import { describe, expect, it } from 'vitest';
import type { ChatQuirks, ReasoningStyle } from '../../../../src/dialects/openai-chat/quirks.ts';
import { encodeRequest } from '../../../../src/dialects/openai-chat/request.ts';
import { builtInProviders } from '../../../../src/providers/index.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';

function sent(fields: object, quirks: ChatQuirks) {
  const request = { messages: [{ role: 'user', content: 'Hello' }], ...fields } as ChatRequest;
  const { payload, dropped } = encodeRequest({ request, upstreamModel: 'm', quirks });
  const { model: _model, messages: _messages, max_tokens: _max, ...body } = payload;
  return { body, dropped };
}

const high = { reasoning: { effort: 'high' } };
const budget = { reasoning: { max_tokens: 2_000 }, max_tokens: 8_000 };
const on = { reasoning: { enabled: true } };
const off = { reasoning: { enabled: false } };

describe('how much to reason', () => {
  it.each<[ReasoningStyle, object, object, string[]]>([
    ['effort', high, { reasoning_effort: 'high' }, []],
    ['effort', { reasoning_effort: 'low' }, { reasoning_effort: 'low' }, []],
    ['effort', budget, { reasoning_effort: 'medium' }, []],
    ['effort', { reasoning: { max_tokens: 3_000 } }, { reasoning_effort: 'minimal' }, []],
    ['effort', { reasoning: { max_tokens: 900_000 } }, { reasoning_effort: 'xhigh' }, []],
    ['effort', on, { reasoning_effort: 'medium' }, []],
    ['effort', off, { reasoning_effort: 'none' }, []],
    ['object', high, { reasoning: { effort: 'high' } }, []],
    ['object', { reasoning_effort: 'low' }, { reasoning: { effort: 'low' } }, []],
    ['object', budget, { reasoning: { max_tokens: 2_000 } }, []],
    ['object', off, { reasoning: { effort: 'none' } }, []],
    [
      'object',
      { reasoning: { effort: 'low', summary: 'auto', exclude: true, x: 1 } },
      { reasoning: { effort: 'low', summary: 'auto', x: 1 } },
      [],
    ],
    ['object', { reasoning: { summary: 'auto' } }, { reasoning: { summary: 'auto' } }, []],
    ['object_effort', high, { reasoning: { effort: 'high' } }, []],
    ['object_effort', budget, { reasoning: { effort: 'medium' } }, []],
    ['enabled', high, { reasoning: { enabled: true }, reasoning_effort: 'high' }, []],
    ['enabled', off, { reasoning: { enabled: false } }, []],
    ['thinking', high, { thinking: { type: 'enabled' }, reasoning_effort: 'high' }, []],
    ['thinking', budget, { thinking: { type: 'enabled' }, reasoning_effort: 'medium' }, []],
    ['thinking', off, { thinking: { type: 'disabled' } }, []],
    ['thinking_budget', high, { reasoning_effort: 'high' }, []],
    ['thinking_budget', budget, { thinking: { type: 'enabled', budget_tokens: 2_000 } }, []],
    ['thinking_budget', { reasoning: { max_tokens: 10 } }, { thinking: { type: 'enabled', budget_tokens: 1_024 } }, []],
    ['thinking_budget', off, { reasoning_effort: 'none' }, []],
    ['enable_thinking', on, { enable_thinking: true }, []],
    ['enable_thinking', off, { enable_thinking: false }, []],
    ['enable_thinking', high, { enable_thinking: true }, ['reasoning.effort']],
    ['enable_thinking', budget, { enable_thinking: true }, ['reasoning.max_tokens']],
    ['enable_thinking', { reasoning_effort: 'none' }, { enable_thinking: false }, []],
    ['enable_thinking_budget', budget, { enable_thinking: true, thinking_budget: 2_000 }, []],
    ['enable_thinking_budget', { ...high, max_tokens: 1_000 }, { enable_thinking: true, thinking_budget: 800 }, []],
    ['enable_thinking_budget', high, { enable_thinking: true, thinking_budget: 26_214 }, []],
    ['enable_thinking_budget', off, { enable_thinking: false }, []],
    ['chat_template', on, { chat_template_kwargs: { enable_thinking: true } }, []],
    ['chat_template', high, { chat_template_kwargs: { enable_thinking: true } }, ['reasoning.effort']],
    [
      'chat_template',
      { ...off, chat_template_kwargs: { custom: 1 } },
      { chat_template_kwargs: { custom: 1, enable_thinking: false } },
      [],
    ],
  ])('is said as %s: %j', (reasoningStyle, fields, body, dropped) => {
    expect(sent(fields, { reasoningStyle })).toEqual({ body, dropped });
  });
  it.each<[object, ChatQuirks, object, string[]]>([
    [{ reasoning: { summary: 'auto' } }, {}, {}, ['reasoning.summary']],
    [{ reasoning: { effort: 'low', summary: 'auto' } }, {}, { reasoning_effort: 'low' }, ['reasoning.summary']],
    [{ reasoning: { effort: 'low', max_tokens: 9 } }, {}, { reasoning_effort: 'low' }, ['reasoning.max_tokens']],
    [{ reasoning: { effort: 'low', enabled: false } }, {}, { reasoning_effort: 'none' }, ['reasoning.effort']],
    [{ reasoning: { effort: 'low', x_own: 1, y_own: 2 } }, {}, { reasoning_effort: 'low' }, ['reasoning']],
    [high, { dropParams: ['reasoning_effort'] }, {}, ['reasoning.effort']],
    [{ reasoning_effort: 'low' }, { dropParams: ['reasoning_effort'] }, {}, ['reasoning_effort']],
    [high, { dropParams: ['thinking'], reasoningStyle: 'thinking' }, {}, ['reasoning.effort']],
    [
      { ...high, enable_thinking: false },
      { reasoningStyle: 'enable_thinking_budget' },
      { enable_thinking: false },
      ['reasoning.effort'],
    ],
  ])('is listed where it is not heard: %j', (fields, quirks, body, dropped) => {
    expect(sent(fields, quirks)).toEqual({ body, dropped });
  });
  it.each<object>([
    {},
    { reasoning: {} },
    { reasoning: { exclude: true } },
    { reasoning: { effort: null, max_tokens: null }, reasoning_effort: null },
    { reasoning: { effort: 'low', enabled: true }, reasoning_effort: 'low' },
  ])('is not listed where nothing is left out: %j', (fields) => {
    for (const reasoningStyle of ['effort', 'object', 'thinking', 'enable_thinking_budget'] as const)
      expect(sent(fields, { reasoningStyle }).dropped).toEqual([]);
  });
  it.each([
    ['deepseek', 'thinking'],
    ['moonshotai', 'thinking'],
    ['z-ai', 'thinking'],
    ['xiaomi', 'thinking'],
    ['alibaba', 'enable_thinking_budget'],
    ['siliconflow', 'enable_thinking_budget'],
    ['novita', 'enable_thinking'],
    ['fireworks', 'thinking_budget'],
    ['digitalocean', 'object'],
    ['together', 'enabled'],
    ['friendli', 'chat_template'],
    ['openai', undefined],
  ])('is said to %s as %s', (slug, style) => {
    const quirks = builtInProviders.find((provider) => provider.slug === slug)?.quirks as ChatQuirks;
    expect(quirks.reasoningStyle).toBe(style);
  });
});
