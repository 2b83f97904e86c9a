import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { isGatewayError } from '../../../../src/base/errors.ts';
import { wireRequest } from '../../../../src/formats/ai-sdk/request.ts';

type Prompt = LanguageModelV4CallOptions['prompt'];
type UserPart = Extract<Prompt[number], { role: 'user' }>['content'][number];
type AssistantPart = Extract<Prompt[number], { role: 'assistant' }>['content'][number];
type Output = Extract<AssistantPart, { type: 'tool-result' }>['output'];

function written(prompt: Prompt, options: Partial<LanguageModelV4CallOptions> = {}, settings = {}) {
  const { body, warnings } = wireRequest('acme/fast', settings, { prompt, ...options });
  return { body, messages: body.messages as Record<string, unknown>[], warnings: warnings.list() };
}

const user = (...content: UserPart[]): Prompt => [{ role: 'user', content }];
const assistant = (...content: AssistantPart[]): Prompt => [{ role: 'assistant', content }];
const bytes = new Uint8Array([137, 80, 78, 71]);
const png = 'iVBORw==';
const cache = { type: 'ephemeral' };

describe('a part of a user', () => {
  it.each<[string, UserPart, unknown]>([
    ['a text alone', { type: 'text', text: 'Hi' }, 'Hi'],
    [
      'a text that is marked',
      { type: 'text', text: 'Hi', providerOptions: { gateway: { cache_control: cache } } },
      [{ type: 'text', text: 'Hi', cache_control: cache }],
    ],
    [
      'a text that is marked for another provider',
      { type: 'text', text: 'Hi', providerOptions: { anthropic: { cacheControl: cache } } },
      [{ type: 'text', text: 'Hi', cache_control: cache }],
    ],
    [
      'bytes of an image',
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: bytes } },
      [{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }],
    ],
    [
      'base64 of an image without a subtype',
      { type: 'file', mediaType: 'image', data: { type: 'data', data: png } },
      [{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }],
    ],
    [
      'an address of an image, with its detail',
      {
        type: 'file',
        mediaType: 'image/*',
        data: { type: 'url', url: new URL('https://a.test/c.png') },
        providerOptions: { gateway: { imageDetail: 'low' } },
      },
      [{ type: 'image_url', image_url: { url: 'https://a.test/c.png', detail: 'low' } }],
    ],
    [
      'an address that must not be parsed',
      {
        type: 'file',
        mediaType: 'video/mp4',
        data: { type: 'url', url: new URL('gs://B/c.mp4'), originalUrl: 'gs://B/c.mp4' },
      },
      [{ type: 'video_url', video_url: { url: 'gs://B/c.mp4' } }],
    ],
    [
      'a data URL of a sound',
      { type: 'file', mediaType: 'audio/mpeg', data: { type: 'url', url: new URL('data:audio/mpeg;base64,AQID') } },
      [{ type: 'input_audio', input_audio: { data: 'AQID', format: 'mp3' } }],
    ],
    [
      'a sound',
      { type: 'file', mediaType: 'audio/wav', data: { type: 'data', data: 'AQID' } },
      [{ type: 'input_audio', input_audio: { data: 'AQID', format: 'wav' } }],
    ],
    [
      'a video',
      { type: 'file', mediaType: 'video/webm', data: { type: 'data', data: 'AQID' } },
      [{ type: 'video_url', video_url: { url: 'data:video/webm;base64,AQID' } }],
    ],
    [
      'a PDF with a name',
      { type: 'file', mediaType: 'application/pdf', filename: 'a.pdf', data: { type: 'data', data: 'AQID' } },
      [{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AQID' } }],
    ],
    [
      'a PDF without a name, by its address',
      { type: 'file', mediaType: 'application/pdf', data: { type: 'url', url: new URL('https://a.test/b.pdf') } },
      [{ type: 'file', file: { filename: 'file.pdf', file_data: 'https://a.test/b.pdf' } }],
    ],
    [
      'a text file',
      { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: 'words' } },
      [{ type: 'text', text: 'words' }],
    ],
    [
      'a reference',
      { type: 'file', mediaType: 'application/pdf', data: { type: 'reference', reference: { openai: 'file-1' } } },
      [{ type: 'file', file: { file_id: 'file-1' } }],
    ],
  ])('is written: %s', (_, part, content) => {
    expect(written(user(part))).toMatchObject({ messages: [{ role: 'user', content }], warnings: [] });
  });
  it.each<[string, UserPart, string]>([
    [
      'an address of a sound',
      { type: 'file', mediaType: 'audio/mpeg', data: { type: 'url', url: new URL('https://a.test/b.mp3') } },
      'prompt[0].content[0].data',
    ],
    [
      'several references',
      { type: 'file', mediaType: 'text/plain', data: { type: 'reference', reference: { a: '1', b: '2' } } },
      'prompt[0].content[0].data.reference',
    ],
    ['no data', { type: 'file', mediaType: 'text/plain' } as never, 'prompt[0].content[0].data'],
    ['no text', { type: 'text' } as never, 'prompt[0].content[0].text'],
  ])('is refused by its place: %s', (_, part, path) => {
    let error: unknown;
    try {
      written(user(part));
    } catch (thrown) {
      error = thrown;
    }
    expect(isGatewayError(error) && [error.status, error.metadata?.issues]).toEqual([
      400,
      [{ path, message: expect.any(String) }],
    ]);
  });
});

describe('earlier responses', () => {
  it('go back with their thoughts, refusals, annotations, images, sounds and calls', () => {
    const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 's', index: 0 }];
    const more = [{ type: 'reasoning.encrypted', data: 'x', index: 1 }];
    const annotations = [{ type: 'file', file: { hash: 'h', name: 'a.pdf', content: [] } }];
    const { messages, warnings } = written(
      assistant(
        { type: 'reasoning', text: 'Hm.', providerOptions: { gateway: { reasoning_details: details } } },
        { type: 'text', text: 'One', providerOptions: { gateway: { annotations } } },
        { type: 'text', text: ' and two' },
        { type: 'text', text: 'No.', providerOptions: { gateway: { refusal: true } } },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: png } },
        {
          type: 'file',
          mediaType: 'audio/wav',
          data: { type: 'data', data: 'AQID' },
          providerOptions: { gateway: { audio: { id: 'a-1' } } },
        },
        {
          type: 'tool-call',
          toolCallId: 'c0',
          toolName: 'f',
          input: { a: 1 },
          providerOptions: { gateway: { reasoning_details: more } },
        },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'f', input: '{"no' },
      ),
    );
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: 'One and two',
        refusal: 'No.',
        reasoning: 'Hm.',
        reasoning_details: [...details, ...more],
        annotations,
        images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }],
        audio: { id: 'a-1' },
        tool_calls: [
          { id: 'c0', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
          { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"no' } },
        ],
      },
    ]);
    expect(warnings).toEqual([]);
  });
  it('lose what a request has no place for, which is told', () => {
    const { messages, warnings } = written([
      ...assistant(
        { type: 'custom', kind: 'openai.compaction' },
        { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: png } },
        { type: 'tool-call', toolCallId: 'c0', toolName: 'search', input: {}, providerExecuted: true },
        { type: 'tool-result', toolCallId: 'c0', toolName: 'search', output: { type: 'text', value: '' } },
      ),
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'a', approved: true }] },
    ]);
    expect(messages).toEqual([]);
    expect(warnings.map((one) => 'feature' in one && one.feature)).toEqual([
      'prompt part custom',
      'prompt part reasoning-file',
      'prompt part tool-call of a tool that the provider ran',
      'prompt part tool-result',
      'prompt part tool-approval-response',
    ]);
  });
  it.each<[Output, unknown]>([
    [{ type: 'text', value: 'warm' }, 'warm'],
    [{ type: 'json', value: { warm: [true, null] } }, '{"warm":[true,null]}'],
    [{ type: 'error-text', value: 'no such city' }, 'no such city'],
    [{ type: 'error-json', value: { code: 4 } }, '{"code":4}'],
    [{ type: 'execution-denied', reason: 'Not today' }, 'Not today'],
    [{ type: 'execution-denied' }, 'Tool execution denied.'],
    [
      {
        type: 'content',
        value: [
          { type: 'text', text: 'A map:' },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: png } },
        ],
      },
      [
        { type: 'text', text: 'A map:' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
      ],
    ],
  ])('have the result of a tool: %j', (output, content) => {
    const prompt: Prompt = [
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c0', toolName: 'f', output }] },
    ];
    expect(written(prompt).messages).toEqual([{ role: 'tool', tool_call_id: 'c0', content }]);
  });
});

describe('a request', () => {
  it('has all options of a call', () => {
    const schema = { type: 'object' as const };
    const { body, warnings } = written(
      [
        { role: 'system', content: 'Be brief.', providerOptions: { gateway: { cacheControl: cache } } },
        ...user({ type: 'text', text: 'Hi' }),
      ],
      {
        maxOutputTokens: 9,
        temperature: 0,
        topP: 0.5,
        topK: 3,
        presencePenalty: 1,
        frequencyPenalty: -1,
        stopSequences: ['END'],
        seed: 7,
        reasoning: 'high',
        responseFormat: { type: 'json', schema, name: 'city', description: 'A city' },
        tools: [
          {
            type: 'function',
            name: 'f',
            description: 'F',
            inputSchema: schema,
            strict: true,
            inputExamples: [{ input: {} }],
          },
          { type: 'provider', id: 'gateway.web_search', name: 'web', args: { max_results: 3 } },
        ],
        toolChoice: { type: 'tool', toolName: 'web' },
        providerOptions: {
          gateway: { models: ['a/b'], provider: { order: ['up'] }, reasoning: { summary: 'auto' }, min_p: 0.1, own: 1 },
        },
      },
    );
    expect(body).toEqual({
      model: 'acme/fast',
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.', cache_control: cache }] },
        { role: 'user', content: 'Hi' },
      ],
      max_completion_tokens: 9,
      temperature: 0,
      top_p: 0.5,
      top_k: 3,
      presence_penalty: 1,
      frequency_penalty: -1,
      stop: ['END'],
      seed: 7,
      reasoning: { effort: 'high', summary: 'auto' },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'city', description: 'A city', schema, strict: true },
      },
      tools: [
        { type: 'function', function: { name: 'f', description: 'F', parameters: schema, strict: true } },
        { type: 'service:web_search', parameters: { max_results: 3 } },
      ],
      tool_choice: { type: 'service:web_search' },
      models: ['a/b'],
      provider: { order: ['up'] },
      min_p: 0.1,
      own: 1,
    });
    expect(warnings).toEqual([{ type: 'unsupported', feature: 'inputExamples of a tool' }]);
  });
  it('has the settings of its model, over which options win, over which those for the gateway win', () => {
    const settings = {
      temperature: 1,
      seed: 1,
      user: 'u',
      max_tokens: 5,
      reasoning_effort: 'low',
      strictJsonSchema: false,
    };
    const gateway = { seed: 3, reasoning_effort: 'high' };
    const format = { type: 'json' as const, schema: { type: 'object' as const } };
    const { body } = written(
      user({ type: 'text', text: 'Hi' }),
      {
        temperature: 0.5,
        seed: 2,
        maxOutputTokens: 9,
        reasoning: 'medium',
        responseFormat: format,
        providerOptions: { gateway },
      },
      settings,
    );
    expect(body).toMatchObject({
      temperature: 0.5,
      seed: 3,
      user: 'u',
      max_completion_tokens: 9,
      reasoning_effort: 'high',
    });
    expect(body.response_format).toMatchObject({ json_schema: { name: 'response', strict: false } });
    for (const name of ['max_tokens', 'reasoning', 'strictJsonSchema']) expect(body).not.toHaveProperty(name);
  });
  it.each<[Partial<LanguageModelV4CallOptions>, object]>([
    [{ responseFormat: { type: 'json' } }, { response_format: { type: 'json_object' } }],
    [{ responseFormat: { type: 'text' } }, { response_format: undefined }],
    [{ reasoning: 'provider-default' }, { reasoning: undefined }],
    [{ reasoning: 'none' }, { reasoning: { effort: 'none' } }],
    [{ toolChoice: { type: 'auto' } }, { tool_choice: undefined }],
    [{ toolChoice: { type: 'required' } }, { tool_choice: 'required' }],
  ])('of %j has %j', (options, expected) => {
    const { model: _model, messages: _messages, ...fields } = written(user({ type: 'text', text: 'Hi' }), options).body;
    expect(fields).toEqual(expected);
  });
});
