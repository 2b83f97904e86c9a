import { describe, expect, it } from 'vitest';
import type { EncodedRequest } from '../../../../../src/dialects/dialect.ts';
import { googleGenerateContent } from '../../../../../src/dialects/google-generate-content/index.ts';
import type { ChatRequest } from '../../../../../src/schema/chat/chat.ts';
import { ask, encode, failure, refusal } from '../encode.ts';

const tool = { type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } };
const schema = { type: 'json_schema' as const, json_schema: { name: 'a', schema: { type: 'object' } } };
const config = ({ payload }: EncodedRequest) => payload.generationConfig as Record<string, unknown> | undefined;

describe('google-generate-content, how much a model thinks', () => {
  it.each([
    ['gemini-3-pro-preview', 'medium', { includeThoughts: true, thinkingLevel: 'HIGH' }],
    ['gemini-3.1-pro-preview', 'medium', { includeThoughts: true, thinkingLevel: 'MEDIUM' }],
    ['gemini-3.1-pro-preview', 'minimal', { includeThoughts: true, thinkingLevel: 'LOW' }],
    ['gemini-3-flash-preview', 'minimal', { includeThoughts: true, thinkingLevel: 'MINIMAL' }],
    ['gemini-3-flash-preview', 'none', { thinkingLevel: 'MINIMAL' }],
    ['models/gemini-flash-latest', 'max', { includeThoughts: true, thinkingLevel: 'HIGH' }],
    ['gemini-2.5-pro', 'high', { includeThoughts: true, thinkingBudget: 32_768 }],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }],
    ['gemini-2.5-flash-lite', 'none', { thinkingBudget: 0 }],
    ['gemini-3-pro-image-preview', 'low', { includeThoughts: true }],
    ['gemini-2.5-flash-image', 'low', undefined],
    ['gemini-2.0-flash', 'high', undefined],
    ['gemini-2.0-flash', 'none', undefined],
    ['gemma-3-27b-it', 'high', undefined],
  ] as const)('%s with %s effort', (model, effort, expected) => {
    expect(config(encode({ reasoning: { effort } }, model))?.thinkingConfig).toEqual(expected);
  });

  it('lists an amount that the model has no setting for', () => {
    expect(encode({ reasoning: { effort: 'high' } }, 'gemini-2.0-flash').dropped).toEqual(['reasoning']);
    expect(encode({ reasoning_effort: 'high' }, 'gemma-3-27b-it').dropped).toEqual(['reasoning_effort']);
    expect(encode({ reasoning: { enabled: false } }, 'gemini-2.5-pro').dropped).toEqual(['reasoning']);
    expect(encode({ reasoning: { enabled: false } }, 'gemini-3-pro').dropped).toEqual(['reasoning']);
    expect(encode({ reasoning: { enabled: false } }, 'gemini-2.0-flash').dropped).toEqual([]);
  });

  it('sends a number of tokens as it is to models with levels too, and within the limits of others', () => {
    const budget = (max_tokens: number, model: string) =>
      config(encode({ reasoning: { max_tokens } }, model))?.thinkingConfig;
    expect(budget(700, 'gemini-3-pro')).toMatchObject({ thinkingBudget: 700 });
    expect(budget(7, 'gemini-2.5-pro')).toMatchObject({ thinkingBudget: 128 });
    expect(budget(100_000, 'gemini-2.5-flash')).toMatchObject({ thinkingBudget: 24_576 });
  });

  it('asks for thoughts where only their summary is asked for', () => {
    const { dropped, ...encoded } = encode({ reasoning: { summary: 'detailed' } });
    expect(config({ ...encoded, dropped })).toEqual({ thinkingConfig: { includeThoughts: true } });
    expect(dropped).toEqual(['reasoning.summary']);
  });
});

describe('google-generate-content, tools', () => {
  it('lets a model choose among some of the tools', () => {
    const choice = (mode: string) =>
      encode({
        tools: [tool],
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode, tools: [{ type: 'function', function: { name: 'look' } }] },
        },
      }).payload.toolConfig;
    expect(choice('auto')).toEqual({ functionCallingConfig: { mode: 'VALIDATED', allowedFunctionNames: ['look'] } });
    expect(choice('required')).toEqual({ functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } });
  });

  it('makes a web search a search by Google, beside no function', () => {
    const encoded = encode({ tools: [{ type: 'web_search', max_results: 3 }], tool_choice: 'auto' });
    expect(encoded.payload.tools).toEqual([{ googleSearch: {} }]);
    expect(encoded.dropped).toEqual(['tools[].max_results']);
    expect(encode({ tools: [{ type: 'web_search' }], tool_choice: 'none' }).payload.tools).toBeUndefined();
    expect(failure(() => encode({ tools: [{ type: 'web_search' }, tool] }))).toEqual(
      refusal('tools: expected either functions or a web search: this provider does not take both'),
    );
  });

  it('refuses tools and choices that Google has no word for', () => {
    expect(failure(() => encode({ tools: [tool, { type: 'service:fetch' }] }))).toEqual(
      refusal('tools[1]: expected a function or a web search'),
    );
    expect(failure(() => encode({ tools: [tool], tool_choice: { type: 'web_search' } }))).toEqual(
      refusal('tool_choice: expected none, auto, required or a function'),
    );
  });

  it('lists a choice without tools', () => {
    expect(encode({ tool_choice: 'required' }).dropped).toEqual(['tool_choice']);
    expect(encode({ tool_choice: 'auto' }).dropped).toEqual([]);
  });

  it('turns a const into an enum of one value, wherever a schema may stand', () => {
    const parameters = {
      type: 'object',
      properties: { kind: { const: 'a' }, const: { type: 'string' } },
      items: [{ const: 1 }],
      anyOf: [{ properties: JSON.parse('{"__proto__": {"const": null}}') }],
      $defs: { b: { const: 'b', enum: ['b'] } },
    };
    const [{ functionDeclarations }] = encode({ tools: [{ type: 'function', function: { name: 'f', parameters } }] })
      .payload.tools as [{ functionDeclarations: { parametersJsonSchema: unknown }[] }];
    expect(JSON.stringify(functionDeclarations[0]?.parametersJsonSchema)).toBe(
      JSON.stringify({
        type: 'object',
        properties: { kind: { enum: ['a'] }, const: { type: 'string' } },
        items: [{ enum: [1] }],
        anyOf: [{ properties: JSON.parse('{"__proto__": {"enum": [null]}}') }],
        $defs: { b: { enum: ['b'] } },
      }),
    );
  });

  it('carries names that JavaScript gives a meaning', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const args = `{"${name}":{"a":1}}`;
      const encoded = encode({
        messages: [
          ask,
          { role: 'assistant', tool_calls: [{ id: name, type: 'function', function: { name, arguments: args } }] },
          { role: 'tool', tool_call_id: name, content: 'x' },
        ],
      });
      expect(encoded.body).toContain(`{"functionCall":{"id":"${name}","name":"${name}","args":${args}}}`);
      expect(encoded.body).toContain(`{"functionResponse":{"id":"${name}","name":"${name}"`);
    }
  });
});

describe('google-generate-content, structured output', () => {
  it('is native beside tools from Gemini 3 on', () => {
    const encoded = encode({ response_format: schema, tools: [tool] }, 'gemini-3-flash-preview');
    expect(encoded.structuredOutput).toBe('native');
    expect(config(encoded)).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: { title: 'a', type: 'object' },
    });
    expect(encoded.payload.tools).toEqual([
      { functionDeclarations: [{ name: 'look', parametersJsonSchema: { type: 'object' } }] },
    ]);
  });

  it('leaves out tools that may not be called, for models that take no schema beside them', () => {
    const encoded = encode({ response_format: schema, tools: [tool], tool_choice: 'none' });
    expect([encoded.structuredOutput, encoded.payload.tools, encoded.payload.toolConfig]).toEqual([
      'native',
      undefined,
      undefined,
    ]);
  });

  it('is an instruction where neither a schema nor a tool can say it', () => {
    const list = { type: 'json_schema' as const, json_schema: { name: 'a', schema: { type: 'array' } } };
    const taken = { type: 'function' as const, function: { name: 'structured_output' } };
    for (const request of [
      { response_format: { type: 'json_object' as const }, tools: [tool] },
      { response_format: list, tools: [tool] },
      { response_format: schema, tools: [taken] },
    ]) {
      const encoded = encode(request);
      expect(encoded.structuredOutput).toBe('instruction');
      expect(JSON.stringify(encoded.payload.systemInstruction)).toContain('Respond with one JSON');
      expect(encoded.reading).toBeUndefined();
    }
  });

  it('gives way to a tool that must be called', () => {
    const encoded = encode({ response_format: schema, tools: [tool], tool_choice: 'required' });
    expect([encoded.structuredOutput, encoded.dropped]).toEqual([undefined, ['response_format']]);
  });

  it('refuses forms that Google does not know', () => {
    expect(failure(() => encode({ response_format: { type: 'grammar', grammar: 'x' } }))).toEqual(
      refusal('response_format: expected text, json_object or json_schema'),
    );
  });
});

describe('google-generate-content, what else a request holds', () => {
  it('asks for sound and images', () => {
    const encoded = encode({
      modalities: ['text', 'image', 'audio'],
      audio: { voice: 'Kore', format: 'mp3' },
      image_config: { aspect_ratio: '16:9', image_size: '2K', style: 'x' },
    });
    expect(config(encoded)).toEqual({
      responseModalities: ['TEXT', 'IMAGE', 'AUDIO'],
      imageConfig: { aspectRatio: '16:9', imageSize: '2K' },
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    });
    expect(encoded.dropped).toEqual(['image_config.style', 'audio.format']);
  });

  it('passes safety settings, and no other unknown field', () => {
    const safetySettings = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }];
    const encoded = encode({
      safety_settings: safetySettings,
      cachedContent: 'cachedContents/of-somebody',
      generationConfig: { maxOutputTokens: 1_000_000 },
      min_p: null,
    });
    expect(encoded.payload).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], safetySettings });
    expect(encoded.dropped).toEqual(['cachedContent', 'generationConfig']);
  });

  it('says the service tier where the provider takes it', () => {
    expect(encode({ service_tier: 'default' }).payload.serviceTier).toBe('standard');
    expect(encode({ service_tier: 'auto' }).payload.serviceTier).toBeUndefined();
    expect(encode({ service_tier: 'scale' }).dropped).toEqual(['service_tier']);
    const vertex = encode({ service_tier: 'flex' }, 'gemini-2.5-flash', { serviceTier: 'header' });
    expect(vertex.headers['x-vertex-ai-llm-shared-request-type']).toBe('flex');
    expect(vertex.payload.serviceTier).toBeUndefined();
  });

  it('leaves out what the quirks say', () => {
    const penalties = { presence_penalty: 1, frequency_penalty: 1 };
    const quirks = { penaltiesIn25: false };
    expect(encode(penalties, 'gemini-2.5-pro', quirks).dropped).toEqual(['presence_penalty', 'frequency_penalty']);
    expect(encode(penalties, 'gemini-3-pro', quirks).dropped).toEqual([]);
    const refused = encode({ seed: 3, top_p: 1 }, 'gemini-2.5-pro', { dropParams: ['seed', 'top_k'] });
    expect([refused.dropped, config(refused)]).toEqual([['seed'], { topP: 1 }]);
  });

  it('lists numbers that mean nothing to Google', () => {
    expect(encode({ top_k: -1, seed: 2 ** 31, top_logprobs: 2 }).dropped).toEqual(['top_k', 'seed', 'top_logprobs']);
    expect(failure(() => encode({ n: 'two' }))).toEqual(refusal('n: expected a positive integer'));
  });

  it('never asks for more than the largest output', () => {
    const largest = (request: Partial<ChatRequest>) => config(encode(request))?.maxOutputTokens;
    expect(largest({ max_tokens: 9, max_completion_tokens: 5 })).toBe(5);
    expect(largest({ max_tokens: 9, max_completion_tokens: null })).toBe(9);
    expect(googleGenerateContent.counting?.({})).toEqual({ reasoningBeside: false });
  });

  it('names models of other collections by their path', () => {
    expect(encode({}, 'tunedModels/my one').path).toBe('/tunedModels/my%20one:generateContent');
    expect(encode({}, 'a?b#c').path).toBe('/models/a%3Fb%23c:generateContent');
  });

  it('gives Gemma its instructions as the user’s first text', () => {
    const system = { role: 'system' as const, content: 'Be brief.' };
    const gemma = encode({ messages: [system, ask] }, 'gemma-3-27b-it');
    expect(gemma.payload.contents).toEqual([{ role: 'user', parts: [{ text: 'Be brief.' }, { text: 'Hi' }] }]);
    expect(gemma.payload.systemInstruction).toBeUndefined();
    expect(encode({ messages: [system] }).payload).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Be brief.' }] }],
    });
  });
});
