import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { quoted, readDoc, root, tableRows } from './markdown.ts';

/** The texts of log lines in the sources, each place that is filled in as `…`. */
function linesOfSources(): string[] {
  const found: string[] = [];
  for (const file of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const text = readFileSync(join(root, 'src', file), 'utf8');
    for (const { index } of text.matchAll(/(?:writeLog|logger\??\.(?:info|warn|error))\(/g)) {
      const call = text.slice(index, endOf(text, index));
      for (const [, plain, filled] of call.matchAll(/'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g))
        if (/ /.test(plain ?? filled ?? '')) found.push((plain ?? (filled as string)).replace(/\$\{[^}]*\}/g, '…'));
    }
  }
  return [...new Set(found)];
}

/** The place behind the bracket that closes the first one after `from`. */
function endOf(text: string, from: number): number {
  let depth = 0;
  for (let at = text.indexOf('(', from); at < text.length; at++) {
    if (text[at] === '(') depth++;
    if (text[at] === ')' && --depth === 0) return at;
  }
  return text.length;
}

describe('docs/operate.md', () => {
  const told = tableRows(readDoc('docs/operate.md'))
    .filter(({ columns }) => columns[0] === 'Line')
    .flatMap(({ cells }) => quoted(cells[0] as string));

  it('has a row for every line that the log may have', () => {
    const lines = linesOfSources();
    expect(lines.length).toBeGreaterThan(40);
    expect(lines.filter((line) => !told.includes(line))).toEqual([]);
  });
  it('has no row for a line that nothing writes', () => {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(root, 'src', file), 'utf8'))
      .join('\n');
    const isThere = (line: string) => line.split('…').every((part) => sources.includes(part));
    expect(told.filter((line) => !isThere(line))).toEqual([]);
  });
  it('says of each line what happened and what to do', () => {
    const rows = tableRows(readDoc('docs/operate.md')).filter(({ columns }) => columns[0] === 'Line');
    expect(rows.filter(({ cells }) => cells.length !== 3 || cells.some((cell) => cell.trim() === ''))).toEqual([]);
  });
});
