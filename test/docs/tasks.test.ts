import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { examplesOf, writeExample } from './example-files.ts';
import { codeBlocks, readDoc, root } from './markdown.ts';

const pages = readdirSync(join(root, 'docs/tasks')).map((file) => `docs/tasks/${file}`);

describe.each(pages)('%s', (page) => {
  it('ends with what it says, and has nothing that is not run here', async () => {
    const [example = '', ...others] = examplesOf(page);
    const [printed = '', ...more] = codeBlocks(readDoc(page), 'text');
    expect([others, more, printed === '']).toEqual([[], [], false]);
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    try {
      await import(/* @vite-ignore */ writeExample(page.replace(/\W+/g, '-'), example));
      const said = log.mock.calls.map((line) =>
        line.map((one) => (typeof one === 'string' ? one : inspect(one))).join(' '),
      );
      expect(said.join('\n')).toBe(printed.trim());
    } finally {
      log.mockRestore();
    }
  }, 20_000);
});

it('there are ten tasks, and the page to start from leads to each', () => {
  const start = readDoc('docs/start.md');
  expect(pages).toHaveLength(10);
  expect(pages.filter((page) => !start.includes(`](${page.replace('docs/', '')})`))).toEqual([]);
});
