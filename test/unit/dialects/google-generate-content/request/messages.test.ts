import { describe, expect, it } from 'vitest';
import type { GoogleQuirks } from '../../../../../src/dialects/google-generate-content/quirks.ts';
import { ask, encode, encodeAsSent, failure, partsOf, refusal } from '../encode.ts';

describe('google-generate-content, media', () => {
  const withPart = (part: object, quirks: GoogleQuirks = {}) =>
    partsOf(encode({ messages: [{ role: 'user', content: [part] }] } as never, undefined, quirks), 0);
  const image = (url: string) => ({ type: 'image_url', image_url: { url } });

  it('tells the type of what is at an address', () => {
    expect(withPart(image('https://a.test/x.PNG?size=1'))).toEqual([
      { fileData: { fileUri: 'https://a.test/x.PNG?size=1', mimeType: 'image/png' } },
    ]);
    expect(withPart({ type: 'video_url', video_url: { url: 'https://www.youtube.com/watch?v=9hE5-98ZeCg' } })).toEqual([
      { fileData: { fileUri: 'https://www.youtube.com/watch?v=9hE5-98ZeCg', mimeType: 'video/mp4' } },
    ]);
    expect(withPart({ type: 'file', file: { file_data: 'https://a.test/x', filename: 'notes.txt' } })).toEqual([
      { fileData: { fileUri: 'https://a.test/x', mimeType: 'text/plain' } },
    ]);
    expect(withPart({ type: 'input_audio', input_audio: { data: 'AA==', format: 'toString' } })).toEqual([
      { inlineData: { mimeType: 'audio/tostring', data: 'AA==' } },
    ]);
  });

  it('refuses what Google cannot be given', () => {
    const expected = 'a base64 data URL or an address that begins with https://';
    for (const url of ['gs://bucket/a.png', 'file:///etc/passwd', 'data:text/plain,hi'])
      expect(failure(() => withPart(image(url)))).toEqual(
        refusal(`messages[0].content[0].image_url.url: expected ${expected}`),
      );
    expect(failure(() => withPart({ type: 'file', file: { file_id: 'f' } }))).toEqual(
      refusal('messages[0].content[0].file: expected file_data: files of a provider cannot be referred to'),
    );
    expect(withPart(image('gs://bucket/a.png'), { cloudStorage: true })).toEqual([
      { fileData: { fileUri: 'gs://bucket/a.png', mimeType: 'image/png' } },
    ]);
  });

  it('puts media into the result of a tool from Gemini 3 on', () => {
    const encoded = encode(
      {
        messages: [
          ask,
          {
            role: 'assistant',
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '' } }],
          },
          {
            role: 'tool',
            tool_call_id: 'c',
            content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }],
          },
        ],
      },
      'gemini-3-pro-preview',
    );
    const parts = [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }];
    expect(partsOf(encoded, 2)).toEqual([
      { functionResponse: { id: 'c', name: 'look', response: { output: '' }, parts } },
    ]);
  });

  it('refuses the result of a call that nobody made', () => {
    const messages = [ask, { role: 'tool' as const, tool_call_id: 'c', content: 'x' }];
    expect(failure(() => encode({ messages }))).toEqual(
      refusal('messages[1].tool_call_id: expected the id of a call in an earlier message'),
    );
  });
});

describe('google-generate-content, earlier responses', () => {
  const format = 'google-gemini-v1';
  const call = { id: 'c', type: 'function' as const, function: { name: 'look', arguments: '{}' } };

  it('puts signatures back onto the parts they came on', () => {
    const encoded = encode({
      messages: [
        ask,
        {
          role: 'assistant',
          content: 'Hello there.',
          reasoning: 'Hm.',
          reasoning_details: [
            { type: 'reasoning.text', text: 'Hm.', signature: 's1', format, index: 0 },
            { type: 'reasoning.encrypted', id: 'text:5-5', data: 's3', format, index: 1 },
            { type: 'reasoning.encrypted', id: 'text:0-5', data: 's2', format, index: 2 },
            { type: 'reasoning.encrypted', id: 'image:0', data: 's4', format, index: 3 },
            { type: 'reasoning.encrypted', id: 'c', data: 's5', format, index: 4 },
          ],
          images: [{ image_url: { url: 'data:image/png;base64,AA==' } }],
          tool_calls: [call],
        },
      ],
    });
    expect(partsOf(encoded, 1)).toEqual([
      { text: 'Hm.', thought: true, thoughtSignature: 's1' },
      { text: 'Hello', thoughtSignature: 's2' },
      { text: '', thoughtSignature: 's3' },
      { text: ' there.' },
      { inlineData: { mimeType: 'image/png', data: 'AA==' }, thoughtSignature: 's4' },
      { functionCall: { id: 'c', name: 'look', args: {} }, thoughtSignature: 's5' },
    ]);
    expect(encoded.dropped).toEqual([]);
  });

  it('leaves out signatures of text that was changed, and says so', () => {
    const encoded = encode({
      messages: [
        ask,
        {
          role: 'assistant',
          content: 'Hi.',
          reasoning_details: [{ type: 'reasoning.encrypted', id: 'text:0-12', data: 's', format, index: 0 }],
        },
      ],
    });
    expect(partsOf(encoded, 1)).toEqual([{ text: 'Hi.' }]);
    expect(encoded.dropped).toEqual(['messages[].reasoning_details']);
  });

  it('tells Gemini 3 that another model made a call', () => {
    const messages = [ask, { role: 'assistant' as const, content: null, tool_calls: [call, { ...call, id: 'd' }] }];
    expect(partsOf(encode({ messages }, 'gemini-3-pro-preview'), 1)).toEqual([
      {
        functionCall: { id: 'c', name: 'look', args: {} },
        thoughtSignature: 'skip_thought_signature_validator',
      },
      { functionCall: { id: 'd', name: 'look', args: {} } },
    ]);
  });

  it('has its calls answered in their order, where the provider takes no ids', () => {
    const calls = ['a', 'b'].map((id) => ({ ...call, id }));
    const results = ['b', 'a'].map((id) => ({ role: 'tool' as const, tool_call_id: id, content: `of ${id}` }));
    const messages = [ask, { role: 'assistant' as const, tool_calls: calls }, ...results];
    const encoded = encodeAsSent({ messages }, undefined, { callIds: false });
    const plain = { functionCall: { name: 'look', args: {} } };
    expect(partsOf(encoded, 1)).toEqual([plain, plain]);
    expect(partsOf(encoded, 2)).toEqual(
      ['a', 'b'].map((id) => ({ functionResponse: { name: 'look', response: { output: `of ${id}` } } })),
    );
  });

  it('lists fields that Google does not know, wherever they stand', () => {
    const encoded = encode({
      messages: [{ role: 'user', name: 'A', content: [{ type: 'text', text: 'Hi', mood: 'good' }] }],
      tools: [{ type: 'function', eager: true, function: { name: 'f', examples: [] } }],
    });
    expect(encoded.payload).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
    });
    expect(encoded.dropped).toEqual([
      'tools[].eager',
      'tools[].function.examples',
      'messages[].name',
      'messages[].content[].mood',
    ]);
  });

  it('lists what else an earlier response held', () => {
    const encoded = encode({
      messages: [
        {
          role: 'assistant',
          refusal: 'No.',
          name: 'A',
          reasoning_content: 'Hm.',
          audio: { id: 'audio_1' },
          annotations: [],
          images: [{ image_url: { url: 'https://a.test/a.png' } }],
        },
      ],
    });
    expect(partsOf(encoded, 0)).toEqual([{ text: 'No.' }]);
    expect([...encoded.dropped].sort()).toEqual([
      'messages[].annotations',
      'messages[].audio',
      'messages[].images',
      'messages[].name',
      'messages[].reasoning_content',
    ]);
  });
});
