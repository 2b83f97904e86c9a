import { describe, expect, it } from 'vitest';
import { heal } from '../../../../src/plugins/response-healing/heal.ts';
import { repairable, unrepairable } from './corpus.ts';

async function healedTo(text: string, schema: object | null) {
  const healed = await heal(text, schema, { left: 1_000_000 });
  return healed?.kind === 'healed' ? JSON.parse(healed.text) : (healed?.kind ?? 'fine');
}

describe('the corpus of responses', () => {
  it('is large enough, and no text in it is in it twice', () => {
    expect(repairable.length).toBeGreaterThanOrEqual(215);
    expect(unrepairable.length).toBeGreaterThanOrEqual(68);
    expect(new Set(unrepairable.map(({ text }) => text)).size).toBe(unrepairable.length);
  });
  it.each(repairable.map((one) => [one.name, one] as const))('heals %s', async (_, { text, schema, value }) => {
    expect(await healedTo(text, schema)).toEqual(value);
  });
  it.each(unrepairable.map((one) => [one.name, one] as const))('leaves %s', async (_, { text, schema }) => {
    expect(await healedTo(text, schema)).toBe('left');
  });
});
