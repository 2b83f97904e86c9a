import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { quoted, readDoc, root } from './markdown.ts';

/** Source files that a text names; `src/http/` (`body.ts`) is a folder with files of it. */
function filesIn(text: string): string[] {
  const files: string[] = [];
  const folders = /`((?:src|adapters)\/[\w/-]*\/)` \(([^)]*)\)/g;
  const rest = text.replace(folders, (_, folder: string, names: string) => {
    files.push(...quoted(names).map((name) => folder + name));
    return '';
  });
  files.push(...quoted(rest).filter((name) => /^(?:src|adapters|bench|test)\/.*\.ts$/.test(name)));
  return files;
}

describe('docs/performance.md', () => {
  const files = filesIn(readDoc('docs/performance.md').replace(/^```[\s\S]*?^```$/gm, ''));

  it('is read, its lists of files of one folder included', () => {
    expect(files).toEqual(
      expect.arrayContaining(['src/base/async/stop.ts', 'src/http/edge.ts', 'adapters/hosts/exchange.ts']),
    );
  });
  it('names only source files that are there', () => {
    expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
  it('names only classes and functions that the file beside them has', () => {
    const pairs = [
      ...readDoc('docs/performance.md').matchAll(/`((?:src|adapters)\/[\w/-]+\.ts)` \(((?:`\w+`(?:, )?)+)\)/g),
    ];
    expect(pairs.length).toBeGreaterThan(1);
    for (const [, path = '', names = ''] of pairs)
      for (const name of quoted(names)) expect(readDoc(path)).toMatch(new RegExp(`(?:class|function) ${name}\\b`));
  });
});
