import { describe, expect, it } from 'vitest';
import { encodeRequest } from '../../../../src/dialects/openai-chat/request.ts';
import { decodeResult } from '../../../../src/dialects/openai-chat/result.ts';
import { streamDecoder } from '../../../../src/dialects/openai-chat/stream.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';

/** @see https://docs.mistral.ai/capabilities/reasoning */
const content = [
  { type: 'thinking', thinking: [{ type: 'text', text: 'Two and ' }] },
  {
    type: 'thinking',
    thinking: [
      { type: 'text', text: 'two.' },
      { type: 'reference', reference_ids: [1] },
    ],
  },
  { type: 'text', text: 'Four.' },
];

describe('a content of parts', () => {
  const whole = (message: object) =>
    decodeResult({ choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }] }, {})
      .result.choices[0]?.message;
  const streamed = (delta: object) => {
    const event = JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] });
    const [part] = streamDecoder({}).decode(event, '');
    return part?.kind === 'chunk' ? part.chunk.choices[0]?.delta : null;
  };
  it.each([
    ['JSON', whole],
    ['a stream', streamed],
  ])('in %s becomes text and reasoning', (_, read) => {
    expect(read({ content })).toMatchObject({ content: 'Four.', reasoning: 'Two and two.' });
    expect(read({ content: [{ type: 'text', text: 'Four.' }] })).not.toHaveProperty('reasoning');
    expect(read({ content, reasoning: 'Said elsewhere.' })).toMatchObject({ reasoning: 'Said elsewhere.' });
    expect(read({ content: [5, null, { type: 'thinking', thinking: 7 }, { type: 'text', text: {} }] })).toMatchObject({
      content: '',
      reasoning: '',
    });
  });
});

describe('the seed', () => {
  const request = { messages: [{ role: 'user', content: 'Hi' }], seed: 7 } as ChatRequest;
  it('is sent in the field of the provider', () => {
    const { payload, dropped } = encodeRequest({ request, upstreamModel: 'm', quirks: { seedField: 'random_seed' } });
    expect(payload).toMatchObject({ random_seed: 7 });
    expect([payload.seed, dropped]).toEqual([undefined, []]);
    expect(encodeRequest({ request, upstreamModel: 'm', quirks: {} }).payload).toMatchObject({ seed: 7 });
  });
  it('is left out where the provider refuses it, under whichever name', () => {
    const quirks = { seedField: 'random_seed', dropParams: ['seed'] };
    const { payload, dropped } = encodeRequest({ request, upstreamModel: 'm', quirks });
    expect([payload.seed, payload.random_seed, dropped]).toEqual([undefined, undefined, ['seed']]);
  });
});
