import { describe, expect, it } from 'vitest';
import { ask, encode, lookTool } from './encode.ts';

const shown = { type: 'adaptive', display: 'summarized' };
const budget = (tokens: number) => ({ type: 'enabled', budget_tokens: tokens });

describe('reasoning', () => {
  it.each<[string, object, object | undefined, string | undefined]>([
    ['claude-3-7-sonnet-20250219', { reasoning: { effort: 'low' }, max_tokens: 20_000 }, budget(4_000), undefined],
    ['claude-opus-4-20250514', { reasoning: { effort: 'high' }, max_tokens: 20_000 }, budget(16_000), undefined],
    ['claude-opus-4-5-20251101', { reasoning_effort: 'medium', max_tokens: 20_000 }, budget(10_000), undefined],
    ['claude-sonnet-4-6', { reasoning_effort: 'medium' }, { type: 'adaptive' }, 'medium'],
    ['claude-sonnet-4-6', { reasoning_effort: 'xhigh' }, { type: 'adaptive' }, 'max'],
    ['claude-sonnet-4-6', { reasoning: { max_tokens: 2_000 }, max_tokens: 9_000 }, budget(2_000), undefined],
    ['claude-opus-4-8', { reasoning_effort: 'xhigh' }, shown, 'xhigh'],
    ['claude-opus-4-8', { reasoning_effort: 'minimal' }, shown, 'low'],
    ['claude-opus-4-8', { reasoning: { max_tokens: 2_000 }, max_tokens: 10_000 }, shown, 'low'],
    ['claude-opus-4-8', { reasoning: { enabled: true } }, shown, 'medium'],
    ['anthropic.claude-opus-5-5-v1:0', { reasoning_effort: 'max' }, shown, 'max'],
    ['claude-opus-4-8@default', { reasoning_effort: 'high' }, shown, 'high'],
    ['claude-quartet-7', { reasoning_effort: 'high' }, shown, 'high'],
    ['some-other-model', { reasoning_effort: 'high', max_tokens: 5_000 }, budget(4_000), undefined],
    ['claude-haiku-5-5', { reasoning_effort: 'none' }, { type: 'disabled' }, undefined],
    ['claude-sonnet-5-5', { reasoning: { enabled: false } }, { type: 'between_tools' }, undefined],
    ['claude-3-5-sonnet-20241022', { reasoning_effort: 'none' }, undefined, undefined],
    ['claude-opus-4-8', {}, undefined, undefined],
    ['claude-opus-4-8', { verbosity: 'low' }, undefined, 'low'],
  ])('%s, asked for %j', (model, request, thinking, effort) => {
    const { payload, dropped } = encode(request, model);
    expect(payload.thinking).toEqual(thinking);
    expect((payload.output_config as { effort?: string } | undefined)?.effort).toBe(effort);
    expect(dropped).toEqual([]);
  });

  it.each<[string, string, object, string[]]>([
    ['a model that does not think', 'claude-3-5-haiku-20241022', { reasoning_effort: 'high' }, ['reasoning_effort']],
    [
      'a largest output with no room for it',
      'claude-sonnet-4-5',
      { reasoning: { effort: 'high' }, max_tokens: 1_024 },
      ['reasoning'],
    ],
    [
      'a tool that must be called, with a budget',
      'claude-sonnet-4-5',
      { reasoning: { effort: 'high' }, tools: [lookTool], tool_choice: 'required' },
      ['reasoning'],
    ],
    [
      'a message to be continued',
      'claude-sonnet-4-5',
      { reasoning: { effort: 'high' }, messages: [ask, { role: 'assistant', content: 'It is' }] },
      ['reasoning'],
    ],
    [
      'calls of another model, whose results are here',
      'claude-sonnet-4-5',
      {
        reasoning: { effort: 'high' },
        tools: [lookTool],
        messages: [
          ask,
          { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '' } }] },
          { role: 'tool', tool_call_id: 'a', content: 'A cat' },
        ],
      },
      ['reasoning'],
    ],
  ])('is left out and listed for %s', (_, model, request, dropped) => {
    const encoded = encode(request, model);
    expect(encoded.payload).not.toHaveProperty('thinking');
    expect(encoded.dropped).toEqual(dropped);
  });

  it('that a model cannot leave out is as little as it can, and listed', () => {
    const { payload, dropped } = encode({ reasoning_effort: 'none' }, 'claude-opus-5-5');
    expect(payload.output_config).toEqual({ effort: 'low' });
    expect(payload).not.toHaveProperty('thinking');
    expect(dropped).toEqual(['reasoning_effort']);
  });

  it('never takes more than the largest output, and leaves room where that is ours', () => {
    for (const tokens of [1, 1_024, 1_025, 4_000, 64_000]) {
      for (const reasoning of [{ effort: 'max' }, { max_tokens: 100_000 }]) {
        const { payload } = encode({ reasoning, max_tokens: tokens });
        expect(payload.max_tokens).toBe(tokens);
        const { budget_tokens: size = 0 } = (payload.thinking ?? {}) as { budget_tokens?: number };
        expect(size).toBeLessThan(tokens);
      }
    }
    expect(encode({ reasoning: { max_tokens: 100_000 } }).payload.thinking).toEqual(budget(25_600));
  });

  it('rules out sampling, as far as the model thinks', () => {
    const sampling = { temperature: 0.3, top_p: 0.5, top_k: 5 };
    const model = 'claude-opus-4-20250514';
    expect(encode({ ...sampling, reasoning_effort: 'high' }, model).dropped).toEqual(['temperature', 'top_k', 'top_p']);
    const open = encode({ temperature: 1, top_p: 0.96, reasoning_effort: 'high' }, model);
    expect(open.payload).toMatchObject({ temperature: 1, top_p: 0.96 });
    expect(encode({ ...sampling, reasoning_effort: 'none' }, model).payload).toMatchObject(sampling);
    expect(encode(sampling, 'claude-opus-4-8').dropped).toEqual(['temperature', 'top_k', 'top_p']);
  });

  it('is what a quirk says, whatever the model is called', () => {
    expect(encode({ reasoning_effort: 'high' }, 'm', { thinking: 'adaptive' }).payload).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    });
    expect(encode({ reasoning_effort: 'high' }, 'claude-opus-4-8', { thinking: 'none' }).dropped).toEqual([
      'reasoning_effort',
    ]);
  });

  it('lists a summary, for which there is no word', () => {
    expect(encode({ reasoning: { effort: 'high', summary: 'concise' } }).dropped).toEqual(['reasoning.summary']);
  });
});
