import { describe, expect, it } from 'vitest';
import type { Gateway } from '../../src/gateway.ts';
import { examplesOf, writeExample } from './example-files.ts';
import { readDoc, tableRows } from './markdown.ts';

const doc = 'docs/ai-sdk.md';

describe(doc, () => {
  it('asks a model as one of its users', async () => {
    const [example = '', ...others] = examplesOf(doc);
    expect(others).toEqual([]);
    const code = example.replace('const { content, usage,', 'export const { content, usage,');
    const shown = await import(/* @vite-ignore */ writeExample('ai-sdk', code));
    expect(shown.content).toMatchObject([
      { type: 'reasoning', text: expect.any(String) },
      { type: 'text', text: expect.any(String) },
    ]);
    expect(shown.usage.outputTokens.reasoning).toBeGreaterThan(0);
    expect(shown.providerMetadata.gateway).toMatchObject({ cost: expect.any(Number), provider: 'Sandbox' });
    await (shown.gateway as Gateway).close();
  });
  it('names every option of a call that becomes a field', () => {
    const told = tableRows(readDoc(doc))
      .filter(({ columns }) => columns[0] === 'Option of a call')
      .map(({ cells }) => cells[0])
      .join(' ');
    for (const name of [
      'maxOutputTokens',
      'temperature',
      'topP',
      'topK',
      'presencePenalty',
      'frequencyPenalty',
      'seed',
    ])
      expect(told).toContain(`\`${name}\``);
    for (const name of [
      'stopSequences',
      'reasoning',
      'responseFormat',
      'tools',
      'toolChoice',
      'headers',
      'abortSignal',
    ])
      expect(told).toContain(`\`${name}\``);
  });
});
