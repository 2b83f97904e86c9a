import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDoc, root, tableRows } from './markdown.ts';

const rows = tableRows(readDoc('docs/real-world.md')).map(({ cells }) => cells);

/** Calls of tests in a file, by title: whether the test says of itself that it fails. */
function testsIn(path: string): Map<string, boolean> {
  const calls = readDoc(path).matchAll(
    /^\s*(it(?:\.\w+)*|(?:it\b.*)?\]?\))(?:<[^>\n]*>)?\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"([^"\n]*)"|`([^`\n]*)`)/gm,
  );
  return new Map(
    [...calls].map(([, name = '', single, double, template]) => [
      (single ?? double ?? template ?? '').replaceAll('\\', ''),
      name === 'it.fails',
    ]),
  );
}

describe('docs/real-world.md', () => {
  it('has rows, each with a report that can be found', () => {
    expect(rows.length).toBeGreaterThan(100);
    for (const [met, reports] of rows)
      expect([met, reports]).toEqual([
        met,
        expect.stringMatching(/\]\(https:\/\/github\.com\/[\w.-]+\/[\w.-]+\/issues\/\d+\)/),
      ]);
  });
  it.each(rows.filter((cells) => cells.length > 4).map((cells) => [cells[0] as string, cells] as const))(
    'says of what happens here what a test shows: %s',
    (_, cells) => {
      const [, title = '', path = ''] = /^\[(.*)\]\(\.\.\/([^)]*)\)$/.exec(cells[4] ?? '') ?? [];
      const tests = testsIn(path);
      expect([...tests.keys()]).toContain(title);
      expect(cells[3]).toBe(tests.get(title) ? 'not yet' : 'right');
    },
  );
  it('has a row for every test of a report', () => {
    const linked = new Set(rows.map((cells) => /^\[(.*)\]\(/.exec(cells[4] ?? '')?.[1]));
    const files = readdirSync(join(root, 'test/real-world')).filter((name) => name.endsWith('.test.ts'));
    const missing = files
      .flatMap((name) => [...testsIn(`test/real-world/${name}`).keys()])
      .filter((title) => !linked.has(title));
    expect(missing).toEqual([]);
  });
});
