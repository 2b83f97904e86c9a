import { describe, expect, it } from 'vitest';
import { didYouMean, nearest } from '../../../../src/base/text/nearest.ts';

const models = ['openai/gpt-4.1', 'openai/gpt-4.1-mini', 'anthropic/claude-sonnet-4.5', 'deepseek/deepseek-chat'];
const slugs = ['openai', 'open-inference', 'groq', 'xai', 'z-ai'];

describe('the nearest names', () => {
  it.each<[string, readonly string[], string[]]>([
    ['opnai', slugs, ['openai']],
    ['oepnai', slugs, ['openai']],
    ['OpenAI', slugs, ['openai']],
    ['qroq', slugs, ['groq']],
    ['open-ai', slugs, ['openai']],
    ['anthropic', slugs, []],
    ['x', slugs, []],
    ['', slugs, []],
    ['openai/gpt-41', models, ['openai/gpt-4.1']],
    ['gpt-4.1', models, ['openai/gpt-4.1', 'openai/gpt-4.1-mini']],
    ['azure/gpt-4.1', models, ['openai/gpt-4.1', 'openai/gpt-4.1-mini']],
    ['anthropic/claude-sonnet', models, ['anthropic/claude-sonnet-4.5']],
    ['acme/unknown', models, []],
  ])('of %j', (text, names, expected) => {
    expect(nearest(text, names)).toEqual(expected);
  });
  it('are a few, in the order of their distance, and none that are not to be shown', () => {
    const names = ['model-c', 'model-ab', 'model-a', 'model-b', 'model-xyz'];
    expect(nearest('model-a', names)).toEqual(['model-a', 'model-ab', 'model-b']);
    expect(nearest('model-a', names, { max: 2, isShown: (name) => name !== 'model-a' })).toEqual([
      'model-ab',
      'model-b',
    ]);
  });
  it('cost little, whatever is asked of whatever list', () => {
    const long = 'a'.repeat(99);
    let asked = 0;
    function* hostile() {
      for (let at = 0; at < 1_000_000; at++) {
        asked++;
        yield `${'a'.repeat(95)}${at % 7}${'b'.repeat(3)}`;
      }
    }
    expect(nearest(long, hostile()).length).toBeLessThanOrEqual(3);
    // 200,000 cells, 7 for each of 99 letters: the list is left long before its end.
    expect(asked).toBeLessThan(1_000);
    expect(nearest('a'.repeat(101), ['a'.repeat(101)])).toEqual([]);
    expect(nearest('a'.repeat(1_000_000), slugs)).toEqual([]);
  });
  it('are put into a question', () => {
    expect(didYouMean(['a', 'b'])).toBe('; did you mean "a" or "b"?');
    expect(didYouMean([])).toBe('');
  });
});
