import { describe, expect, it } from 'vitest';
import { decodeError } from '../../../../src/dialects/bedrock-converse/errors.ts';
import { encodeRequest } from '../../../../src/dialects/bedrock-converse/request.ts';
import { decodeResult } from '../../../../src/dialects/bedrock-converse/result.ts';
import { streamDecoder } from '../../../../src/dialects/bedrock-converse/stream.ts';
import type { ThoughtDropReason } from '../../../../src/schema/chat/envelope.ts';

const opus = 'eu.anthropic.claude-opus-5-5-v1:0';
const fable = 'anthropic.claude-fable-5-1';
const thought = (text: string) => ({ reasoningContent: { reasoningText: { text, signature: `sig-${text}` } } });
const blocks = [thought('a'), { text: 'One.' }, { text: 'Two.' }, thought('b'), { text: 'Three.' }];
const body = { output: { message: { role: 'assistant', content: blocks } }, stopReason: 'end_turn' };

function encoded(model: string, history: object[], why: ThoughtDropReason | null = null, more: object = {}) {
  const messages = [{ role: 'user', content: 'Hi' }, ...history, { role: 'user', content: 'On' }];
  const request = { messages, ...more } as never;
  return encodeRequest({ request, upstreamModel: model, quirks: {}, whyDropThoughts: () => why });
}

describe('thoughts of Claude at Bedrock that are bound to their conversation', () => {
  const { reading } = encoded(opus, []);
  const { result } = decodeResult(body, {}, reading);
  const said = result.choices[0]?.message as object;

  it('go back among the texts as they stood', () => {
    const { payload, thoughts } = encoded(opus, [said]);
    expect((payload.messages as { content: object[] }[])[1]?.content).toEqual(blocks);
    expect(thoughts?.dropReason).toBeNull();
    expect(payload.additionalModelRequestFields).toBeUndefined();
  });

  it('are those that fit, where it may be that some do not', () => {
    const own = { anthropic_beta: ['context-1m'], thinking: { type: 'adaptive', display: 'summarized' } };
    const { payload } = encoded(opus, [said], 'prompt_changed', { additionalModelRequestFields: own });
    expect(payload.additionalModelRequestFields).toEqual({
      thinking: { ...own.thinking, block_binding: { prefix_mismatch_behavior: 'drop_block' } },
      anthropic_beta: ['context-1m', 'thinking-binding-controls-2026-08-01'],
    });
    expect(payload.additionalModelResponseFieldPaths).toEqual(['/input_transformations']);
  });

  it('stay away from a model that cannot read them', () => {
    const signed = decodeResult(body, {}, encoded(fable, []).reading).result.choices[0]?.message as object;
    const { payload, dropped, thoughts } = encoded(opus, [signed], 'prompt_changed');
    expect(JSON.stringify(payload)).not.toContain('reasoningContent');
    expect(dropped).toContain('messages[].reasoning_details');
    expect(thoughts).toBeUndefined();
  });

  it('are not controlled at a model that binds none', () => {
    const { payload, thoughts } = encoded('anthropic.claude-opus-4-8', [said], 'prompt_changed');
    expect(thoughts).toBeUndefined();
    expect(payload.additionalModelRequestFields).toBeUndefined();
  });

  it('are kept by instructions that come later: those stay at their place', () => {
    const { payload } = encoded(opus, [said, { role: 'developer', content: 'Be brief.' }]);
    expect(payload.system).toBeUndefined();
    expect((payload.messages as { content: object[] }[])[2]?.content).toEqual([{ text: 'Be brief.' }, { text: 'On' }]);
  });

  it.each([false, true])('are reported where the provider has left some out (stream: %j)', (isStream) => {
    const { reading: own, thoughts } = encoded(opus, [said], 'provider_refused');
    const left = { type: 'thinking_dropped', reason: 'prefix_binding_mismatch', path: 'messages.1.content.0' };
    const additionalModelResponseFields = { input_transformations: [left, left, 'none'] };
    if (isStream)
      streamDecoder({}, own).decode(
        JSON.stringify({ stopReason: 'end_turn', additionalModelResponseFields }),
        'messageStop',
      );
    else decodeResult({ ...body, additionalModelResponseFields }, {}, own);
    expect(thoughts?.reported).toEqual({ count: 3, shown: [left, left] });
  });

  it('are known by the words of a refusal', () => {
    const text = 'messages.1.content.0: The block is bound to a different conversation';
    const headers = { 'x-amzn-errortype': 'ValidationException' };
    expect(decodeError(400, headers, JSON.stringify({ message: text }), 0).isThoughtMismatch).toBe(true);
    expect(decodeError(400, headers, JSON.stringify({ message: 'Other' }), 0).isThoughtMismatch).toBe(false);
  });

  it('do not stop it from thinking where a tool is to be called, which it cannot be made to', () => {
    const tools = [{ type: 'function', function: { name: 'a' } }];
    const more = { tools, tool_choice: 'required', reasoning: { effort: 'high' } };
    const { payload, dropped } = encoded(opus, [], null, more);
    expect(dropped).toEqual(['tool_choice']);
    expect(payload.additionalModelRequestFields).toMatchObject({ thinking: { type: 'adaptive' } });
  });

  it('are no beginning of a response: a model that continues none is not asked to', () => {
    const messages = [{ role: 'user', content: 'Hi' }, said];
    const ask = (upstreamModel: string) => encodeRequest({ request: { messages } as never, upstreamModel, quirks: {} });
    expect(() => ask(opus)).toThrow('messages[1]');
    expect(() => ask('anthropic.claude-sonnet-4-5')).not.toThrow();
  });
});
