import { describe, expect, it } from 'vitest';
import { asksForSearch, mayBeText, unknownField } from '../../../../src/pricing/known-fields.ts';
import { type ChatField, fieldRow, fieldsWith } from '../../../../src/schema/chat/fields.ts';
import { chatRequestSchema } from '../../../../src/schema/chat/request.ts';
import { sameMeaning } from '../../../../src/schema/models/model-defaults.ts';

const ofSchema = Object.keys(chatRequestSchema().shape);

describe('the table of request fields', () => {
  it.each(ofSchema)('has a row for %s', (name) => {
    expect(fieldRow(name)).not.toBeNull();
  });
  it('has none for names that objects have by themselves, nor for unknown ones', () => {
    for (const name of ['__proto__', 'constructor', 'toString', '', 'vendor_thing']) expect(fieldRow(name)).toBeNull();
  });
  it('says which fields no provider gets', () => {
    const gateway = `debug include_reasoning model models plugins provider route session_id stop_server_tools_when stream
      stream_options trace transforms usage`;
    expect([...fieldsWith({ role: 'gateway' })].sort()).toEqual(gateway.split(/\s+/));
  });
  it('lets no default of a model decide about routing, money or tools', () => {
    const roles = new Set(fieldsWith({ isDefaultable: true }).map((name) => fieldRow(name)?.role));
    expect([...roles].sort()).toEqual(['limit', 'sampling', 'setting']);
    expect(sameMeaning).toEqual([
      ['max_tokens', 'max_completion_tokens'],
      ['reasoning', 'reasoning_effort'],
    ]);
  });
  it('names only fields that it has as fields that say the same', () => {
    const same = (Object.keys(chatRequestSchema().shape) as ChatField[]).map((name) => fieldRow(name)?.sameAs);
    for (const name of same) if (name !== undefined) expect(fieldRow(name)).not.toBeNull();
  });
  it('asks what a field costs: text, a search, or nobody knows', () => {
    expect(['temperature', 'user', 'messages', 'n', 'provider'].filter(mayBeText)).toEqual([]);
    expect(
      ['tool_choice', 'web_search_options', 'thinking', 'vendor_thing'].filter((name) => !mayBeText(name)),
    ).toEqual([]);
    expect(asksForSearch('enable_search', true)).toBe(true);
    expect(asksForSearch('enable_search', false)).toBe(false);
    expect(asksForSearch('thinking', true)).toBe(false);
    expect(asksForSearch('venice_parameters', { enable_web_search: 'on' })).toBe(true);
    expect(asksForSearch('venice_parameters', { disable_thinking: true })).toBe(false);
    expect(unknownField('vendor_thing', 1)).toBe('vendor_thing');
    expect(unknownField('web_search_options', { search_context_size: 'low' })).toBeNull();
    expect(unknownField('web_search_options', { max_pages: 9 })).toBe('web_search_options.max_pages');
  });
});
