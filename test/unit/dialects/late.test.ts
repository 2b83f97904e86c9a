import { describe, expect, it } from 'vitest';
import { type Dialect, defineDialect } from '../../../src/dialects/dialect.ts';
import { dialects as lateDialects, loadDialects } from '../../../src/dialects/index.ts';
import { lateDialect } from '../../../src/dialects/late.ts';
import { openaiChat } from '../../../src/dialects/openai-chat/index.ts';
import { dialects } from '../../support/dialects.ts';

const facts = { name: 'acme-chat', quirks: openaiChat.quirks as Dialect['quirks'], format: 'chat' } as const;
const whole = defineDialect({ ...openaiChat, ...facts }) as Dialect;

describe('a dialect that is loaded at its first use', () => {
  it('has its name, its format and its quirks before, and is no other than a whole one afterwards', async () => {
    const late = lateDialect(facts, async () => whole);
    expect(late).toMatchObject(facts);
    await late.load?.();
    expect(late).toEqual({ ...whole, load: undefined });
    expect(late.encodeRequest).toBe(whole.encodeRequest);
  });

  it('says that it is not loaded rather than leave anything out, and is loaded then', async () => {
    let loads = 0;
    const late = lateDialect(facts, async () => {
      loads += 1;
      return whole;
    });
    const asked = { request: { messages: [] }, upstreamModel: 'm', quirks: {} };
    expect(() => late.encodeRequest(asked)).toThrow('The dialect acme-chat is not loaded yet');
    expect(() => late.unsupportedParameters?.({}, 'm')).toThrow('not loaded yet');
    expect(() => late.minMaxTokens({})).toThrow('not loaded yet');
    await late.load?.();
    expect(late.minMaxTokens({})).toBe(0);
    expect(loads).toBe(1);
  });

  it('is loaded again where it could not be loaded', async () => {
    const outcomes = [Promise.reject(new Error('no such file')), Promise.resolve(whole)];
    const late = lateDialect(facts, () => outcomes.shift() as Promise<Dialect>);
    await expect(late.load?.()).rejects.toThrow('no such file');
    await late.load?.();
    expect(late.load).toBeUndefined();
  });
});

describe('the dialects of options', () => {
  it('are all that there are', () => {
    expect(Object.keys(lateDialects)).toEqual(Object.keys(dialects));
  });

  it.each(Object.entries(dialects))('say of %s before it is loaded what it says itself', (name, dialect: Dialect) => {
    const late: Dialect = lateDialects[name as keyof typeof dialects];
    const factsOf = (one: Dialect) => [one.name, one.format, one.mapsWebSearch, one.quirks];
    expect(factsOf(late)).toEqual(factsOf(dialect));
  });

  it('are whole when all were loaded', async () => {
    await loadDialects();
    for (const [name, dialect] of Object.entries(dialects)) {
      const { load, ...late }: Dialect = lateDialects[name as keyof typeof dialects];
      expect(load).toBeUndefined();
      expect(late).toEqual(dialect);
    }
  });
});
