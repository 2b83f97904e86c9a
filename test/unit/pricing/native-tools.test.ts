import { describe, expect, it } from 'vitest';
import { askOfResponses } from '../../../src/formats/responses/request/index.ts';
import { boundPrompt } from '../../../src/pricing/prompt-bound.ts';
import { responsesRequestSchema } from '../../../src/schema/responses/responses.ts';

const long = 'x'.repeat(500);
const ask = { role: 'user', content: 'Hi' };
const boundOf = (body: object) =>
  boundPrompt(askOfResponses(responsesRequestSchema().parse({ input: [ask], ...body })));
const bare = boundOf({});
const f = { type: 'function', name: 'f' };

describe('the bound of a Responses request', () => {
  it.each<[string, object, number]>([
    ['instructions', { instructions: long }, 500],
    ['a call that the provider ran', { input: [ask, { type: 'web_search_call', action: { query: long } }] }, 500],
    ['a compaction', { input: [ask, { type: 'compaction', encrypted_content: long }] }, 500],
    ['a reasoning item', { input: [ask, { type: 'reasoning', encrypted_content: long }] }, 500],
    [
      'the input of a custom tool',
      { input: [{ type: 'custom_tool_call', call_id: 'c', name: 'f', input: long }] },
      1_000,
    ],
    ['a tool', { tools: [{ ...f, description: long }] }, 1_536 + 500],
    [
      'a grammar',
      { tools: [{ type: 'custom', name: 'f', format: { type: 'grammar', definition: long } }] },
      1_536 + 500,
    ],
    [
      'the description of a group',
      { tools: [{ type: 'namespace', name: 'n', description: long, tools: [f] }] },
      1_536 + 500,
    ],
    [
      'what only the provider knows of a tool',
      { tools: [{ ...f, output_schema: { description: long } }] },
      1_536 + 500,
    ],
    ['a tool of the provider', { tools: [{ type: 'web_search', filters: { allowed_domains: [long] } }] }, 1_536 + 500],
    [
      'tools in an item, once',
      { input: [ask, { type: 'additional_tools', tools: [{ ...f, description: long }] }] },
      1_536 + 500,
    ],
  ])('covers %s', (_, body, least) => {
    const more = boundOf(body).tokens - bare.tokens;
    expect(more).toBeGreaterThanOrEqual(least);
    // Not by far, either: it is money that nobody else can use.
    expect(more).toBeLessThanOrEqual(least + 500);
  });
  it('counts an image that the provider made as an image', () => {
    const bound = boundOf({ input: [ask, { type: 'image_generation_call', id: 'ig', result: 'A'.repeat(1_000_000) }] });
    expect(bound.tokens - bare.tokens).toBeLessThan(51_000);
    expect(bound.tokens - bare.tokens).toBeGreaterThanOrEqual(50_000);
    expect(bound.images).toBe(1);
    expect(bound.kinds).toContain('image');
  });
  it('knows all fields that only Responses have', () => {
    const body = {
      truncation: 'auto',
      max_tool_calls: 1,
      client_metadata: { a: 'b' },
      context_management: [],
      safety_identifier: 's',
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      text: { verbosity: 'low' },
      include: ['x'],
      store: false,
    };
    expect(boundOf(body).unknownFields.size).toBe(0);
    expect([...boundOf({ something_new: 1 }).unknownFields]).toEqual(['something_new']);
  });
});
