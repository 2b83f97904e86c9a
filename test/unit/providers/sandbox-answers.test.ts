import { describe, expect, it } from 'vitest';
import { loremText } from '../../../src/providers/sandbox/texts.ts';
import { splitTokens } from '../../../src/providers/sandbox/tokens.ts';
import { joinChunks, sandboxCall } from '../../support/sandbox-call.ts';

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
      required: ['city', 'days'],
    },
  },
};
const clockTool = { type: 'function', function: { name: 'get_time' } };
const person = {
  type: 'json_schema',
  json_schema: {
    name: 'person',
    schema: {
      type: 'object',
      properties: { age: { type: 'integer' } },
      required: ['age'],
      additionalProperties: false,
    },
  },
};
const usageAsked = { stream_options: { include_usage: true } };

/** Each model that answers: the request, what its message is, why it ends. */
const answers: [
  string,
  object,
  { content?: string | RegExp; reasoning?: RegExp; refusal?: RegExp; tool?: [string, object] },
  string,
][] = [
  ['echo', {}, { content: 'Hello there, sandbox!' }, 'stop'],
  [
    'sandbox/echo',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Größe 🦊' },
            { type: 'image_url', image_url: { url: 'data:' } },
            { type: 'text', text: '\n漢字' },
          ],
        },
      ],
    },
    { content: 'Größe 🦊\n漢字' },
    'stop',
  ],
  [
    'echo',
    {
      messages: [
        { role: 'user', content: 'first' },
        { role: 'assistant', content: 'no' },
        { role: 'user', content: 'last' },
        { role: 'assistant', content: 'no' },
      ],
    },
    { content: 'last' },
    'stop',
  ],
  ['echo', { messages: [{ role: 'system', content: 'x' }] }, { content: /no user text/ }, 'stop'],
  ['lorem', {}, { content: /^This is the sandbox: no model wrote this text\. Lorem ipsum.*officia\.$/ }, 'stop'],
  ['free', {}, { content: /sandbox/ }, 'stop'],
  ['expensive', {}, { content: /sandbox/ }, 'stop'],
  ['slow', {}, { content: /sandbox/ }, 'stop'],
  ['no-usage', {}, { content: /sandbox/ }, 'stop'],
  ['reasoning', {}, { reasoning: /does not think/, content: /sandbox/ }, 'stop'],
  ['refusal', {}, { refusal: /The sandbox refuses/ }, 'stop'],
  ['content-filter', {}, { content: 'This is the sandbox:' }, 'content_filter'],
  ['json', {}, { content: '{"sandbox":true,"message":"The sandbox made this object."}' }, 'stop'],
  ['json', { response_format: person }, { content: '{"age":0}' }, 'stop'],
  ['tool-call', {}, { content: /no tool to call/ }, 'stop'],
  ['tool-call', { tools: [weather, clockTool] }, { tool: ['get_weather', { city: 'sandbox', days: 1 }] }, 'tool_calls'],
  ['tool-call', { tools: [{ type: 'service:web_search' }, clockTool] }, { tool: ['get_time', {}] }, 'tool_calls'],
  [
    'tool-call',
    { tools: [weather, clockTool], tool_choice: { type: 'function', function: { name: 'get_time' } } },
    { tool: ['get_time', {}] },
    'tool_calls',
  ],
  ['tool-call', { tools: [weather], tool_choice: 'none' }, { content: /tool_choice is "none"/ }, 'stop'],
  [
    'tool-call',
    {
      tools: [weather],
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'tool', tool_call_id: 'c', content: 'Rain' },
      ],
    },
    { content: 'The sandbox called a tool, which returned: Rain' },
    'stop',
  ],
];

describe.each(answers)('sandbox model %s %j', (model, fields, expected, finishReason) => {
  it('answers as JSON', async () => {
    const { choices, system_fingerprint: fingerprint } = await sandboxCall().completion(model, fields);
    const { message, finish_reason: reason } = choices[0]!;
    expect(fingerprint).toBe('sandbox');
    expect(reason).toBe(finishReason);
    expect(message.content ?? '').toEqual(expect.stringMatching(exactly(expected.content ?? '')));
    expect(message.content === null).toBe(expected.content === undefined);
    expect(message.reasoning ?? '').toMatch(expected.reasoning ?? /^$/);
    expect(message.refusal ?? '').toMatch(expected.refusal ?? /^$/);
    expect(message.tool_calls?.map((call) => [call.function.name, JSON.parse(call.function.arguments)])).toEqual(
      expected.tool && [expected.tool],
    );
  });

  it('streams the same, one token an event, as many as the usage says', async () => {
    const call = sandboxCall();
    const whole = await call.completion(model, fields);
    const chunks = await call.chunks(model, { ...fields, ...usageAsked });
    const said = joinChunks(chunks);
    const message = whole.choices[0]!.message;
    expect(said.content).toBe(message.content ?? '');
    expect(said.reasoning).toBe(message.reasoning ?? '');
    expect(said.refusal).toBe(message.refusal ?? '');
    expect(said.toolArguments).toBe(message.tool_calls?.[0]?.function.arguments ?? '');
    expect(said.finishReasons).toEqual([finishReason]);
    expect(chunks[0]!.choices[0]!.delta.role).toBe('assistant');
    if (model === 'no-usage') {
      expect(chunks.every((chunk) => !('usage' in chunk))).toBe(true);
      expect(whole.usage).toBeUndefined();
      return;
    }
    const last = chunks.at(-1)!;
    expect(last.choices).toEqual([]);
    expect(last.usage).toEqual(whole.usage);
    expect(last.usage!.completion_tokens).toBe(said.tokens);
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
  });
});

describe('a sandbox answer', () => {
  it('streams usage only when asked', async () => {
    const chunks = await sandboxCall().chunks('echo');
    expect(chunks.some((chunk) => 'usage' in chunk || chunk.choices.length === 0)).toBe(false);
  });
  it.each(['max_tokens', 'max_completion_tokens'])('ends with "length" at %s', async (field) => {
    const { choices, usage } = await sandboxCall().completion('lorem', { [field]: 4 });
    expect(choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'This is the sandbox' } });
    expect(usage!.completion_tokens).toBe(4);
  });
  it('does not end with "length" when the text just fits', async () => {
    const fits = await sandboxCall().completion('echo', {
      max_tokens: 2,
      messages: [{ role: 'user', content: 'Hello there' }],
    });
    expect(fits.choices[0]!.finish_reason).toBe('stop');
  });
  it('counts reasoning against max_tokens', async () => {
    const { choices, usage } = await sandboxCall().completion('reasoning', { max_tokens: 3 });
    expect(choices[0]).toMatchObject({
      finish_reason: 'length',
      message: { content: null, reasoning: 'The sandbox does' },
    });
    expect(usage!.completion_tokens_details.reasoning_tokens).toBe(3);
  });
  it.each([{ reasoning: { effort: 'none' } }, { reasoning: { enabled: false } }, { reasoning_effort: 'none' }])(
    'does not reason with %j',
    async (fields) => {
      const { choices, usage } = await sandboxCall().completion('reasoning', fields);
      expect(choices[0]!.message).not.toHaveProperty('reasoning');
      expect(choices[0]!.message.content).toMatch(/^This is the sandbox/);
      expect(usage!.completion_tokens_details.reasoning_tokens).toBe(0);
    },
  );
  it('never exceeds its own limit', async () => {
    const { choices, usage } = await sandboxCall().completion('lorem', {
      max_tokens: 100_000,
      sandbox: { tokens: 5_000, token_ms: 0 },
    });
    expect([choices[0]!.finish_reason, usage!.completion_tokens]).toEqual(['length', 4_096]);
  });
  it('stops before the first stop sequence', async () => {
    const { choices } = await sandboxCall().completion('echo', { stop: ['sand', ' there', ''] });
    expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Hello' } });
    const empty = await sandboxCall().chunks('echo', { stop: 'Hello', ...usageAsked });
    expect(joinChunks(empty)).toMatchObject({ content: '', finishReasons: ['stop'], tokens: 0 });
  });
  it('gives n choices, interleaved, and counts them all', async () => {
    const call = sandboxCall();
    const chunks = await call.chunks('lorem', { n: 3, ...usageAsked, sandbox: { tokens: 30 } });
    const indexes = chunks.flatMap(({ choices }) => choices.map(({ index }) => index)).join('');
    expect(indexes).toContain('012012');
    const texts = [0, 1, 2].map((index) => joinChunks(chunks, index).content);
    expect(new Set(texts).size).toBe(3);
    expect(chunks.at(-1)!.usage!.completion_tokens).toBe(90);
    const whole = await call.completion('lorem', { n: 3, sandbox: { tokens: 30 } });
    expect(whole.choices.map(({ message }) => message.content)).toEqual(texts);
  });
  it('is the same for the same request, but for its id', async () => {
    const call = sandboxCall();
    const [{ id: first, created: _, ...a }, { id: second, created: __, ...b }] = [
      await call.completion('lorem'),
      await call.completion('lorem'),
    ];
    expect(a).toEqual(b);
    expect(first).not.toBe(second);
  });
  it('counts more prompt tokens for more text, in messages and in tools', async () => {
    const call = sandboxCall();
    const count = async (fields: object) => (await call.completion('echo', fields)).usage!.prompt_tokens;
    const small = await count({});
    expect(small).toBeGreaterThan(4);
    expect(await count({ tools: [weather] })).toBeGreaterThan(small + 20);
    expect(await count({ messages: [{ role: 'user', content: 'Hello there, sandbox! '.repeat(50) }] })).toBeGreaterThan(
      small * 10,
    );
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const text = { type: 'text', text: 'Hello there, sandbox!' };
    expect(await count({ messages: [{ role: 'user', content: [text, image] }] })).toBe(small + 85);
  });
  it('reports cached tokens on request, never more than the prompt has', async () => {
    const call = sandboxCall();
    const cached = async (tokens: number) =>
      (await call.completion('echo', { sandbox: { cached_tokens: tokens } })).usage!;
    expect((await cached(3)).prompt_tokens_details.cached_tokens).toBe(3);
    const all = await cached(1_000);
    expect(all.prompt_tokens_details.cached_tokens).toBe(all.prompt_tokens);
  });
  it('sends one event of a megabyte', async () => {
    const chunks = await sandboxCall().chunks('large-event', usageAsked);
    const said = joinChunks(chunks);
    expect(said.tokens).toBe(1);
    expect(said.content).toBe(' sandbox'.repeat(131_072));
    expect(said.content.length).toBe(1_048_576);
    expect(chunks.at(-1)!.usage!.completion_tokens).toBe(131_072);
  });
});

describe('the tokens of a text', () => {
  it.each([
    '',
    'a',
    '  two  spaces ',
    'understanding',
    '12345',
    'a😀b\ud83d',
    'é漢字 مرحبا\r\n\t"x":[1,2]',
    loremText(0),
  ])('joined, are %j', (text) => {
    expect(splitTokens(text, Infinity).join('')).toBe(text);
  });
  it('of made-up text are as many as asked', () => {
    for (const count of [0, 1, 5, 11, 12, 200, 999])
      expect(splitTokens(loremText(2, count), Infinity)).toHaveLength(count);
  });
});

function exactly(content: string | RegExp): RegExp {
  return content instanceof RegExp ? content : new RegExp(`^${content.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
}
