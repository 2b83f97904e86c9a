import { describe, expect, it } from 'vitest';
import { serverSentEvents } from '../../../src/base/framing/sse.ts';
import { defineDialect } from '../../../src/dialects/dialect.ts';
import { openaiChat } from '../../../src/dialects/openai-chat/index.ts';
import { dialects } from '../../support/dialects.ts';

const { encodeRequest, decodeResult, streamDecoder, decodeError } = openaiChat;
const needed = { name: 'acme-chat', encodeRequest, decodeResult, streamDecoder, decodeError };

describe('defineDialect', () => {
  it('completes a dialect with the usual framing, and with no more than is known', () => {
    const dialect = defineDialect(needed);
    expect(dialect).toMatchObject({ ...needed, framing: serverSentEvents });
    expect(dialect.minMaxTokens({})).toBe(0);
    expect(dialect.counting).toBeUndefined();
  });
  it('has no quirks by default', () => {
    const quirks = defineDialect(needed).quirks()['~standard'];
    expect(quirks.validate({})).toEqual({ value: {} });
    expect(quirks.validate({ dropParams: ['seed'] })).toHaveProperty('issues');
  });
  it('generates on where its quirk says so', () => {
    const dialect = defineDialect<{ generatesOn?: boolean }>(needed);
    expect([{}, { generatesOn: false }, { generatesOn: true }].map((quirks) => dialect.generatesOn?.(quirks))).toEqual([
      false,
      false,
      true,
    ]);
  });
  it('finds what it leaves out by what it encodes', () => {
    const dialect = defineDialect<{ dropParams?: string[] }>(needed);
    const leftOut = (quirks: { dropParams?: string[] }) => dialect.unsupportedParameters?.(quirks, 'm');
    expect(leftOut({})).not.toContain('seed');
    expect(leftOut({ dropParams: ['seed'] })).toContain('seed');
  });
  it('takes whatever a dialect says of itself instead', () => {
    const minMaxTokens = () => 16;
    expect(defineDialect({ ...openaiChat, minMaxTokens })).toEqual({ ...openaiChat, minMaxTokens });
  });
});

it.each(Object.entries(dialects))('needs no check of the quirks that nobody gave: %s has no defaults', (_, dialect) => {
  expect(dialect.quirks()['~standard'].validate({})).toEqual({ value: {} });
});
