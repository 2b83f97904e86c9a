import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDoc, root, tableRows } from './markdown.ts';

const rows = tableRows(readDoc('docs/decisions.md'));

/** Rows about how something is built link to the source file; what has to stand there. */
const built: Record<string, RegExp> = {
  'src/pipeline/events.ts': /from '\.\.\/base\/sse\.ts'/,
  'src/base/secrets.ts': /from '@noble\/hashes/,
  'src/transport/exchange.ts': /\.dispatch\(/,
  'src/stores/storage/choose.ts': /redisStorage\(adapter[\s\S]*postgresStorage\(adapter[\s\S]*sqliteStorage\(adapter/,
  'adapters/sqlite-database.ts':
    /journal_mode = WAL'[\s\S]*synchronous = NORMAL'[\s\S]*getBuiltinModule\?\.\('node:sqlite'\)/,
  'src/stores/vault.ts': /function contextOf\(\{ workspaceId, provider, credentialId \}/,
};

/** The link of a row: `[title of the test](../path of its file)`; of a source file, its path is the title. */
function linkOf(cells: readonly string[]): { title: string; path: string } {
  const [, title = '', path = ''] = /^\[(.*)\]\(\.\.\/([^)]*)\)$/.exec(cells[3] ?? '') ?? [];
  return { title, path };
}

/** What stands as the title of a test or of a table of tests in a file. */
function titlesIn(path: string): string[] {
  const calls = readDoc(path).matchAll(
    /\bit(?:\.\w+)*\b[^\n'"`]*?[(\s](?:'((?:[^'\\\n]|\\.)*)'|"([^"\n]*)"|`([^`\n]*)`)/g,
  );
  return [...calls].map(([, single, double, template]) => (single ?? double ?? template ?? '').replaceAll('\\', ''));
}

describe('docs/decisions.md', () => {
  it.each(rows.map(({ cells }) => [cells[0] as string, linkOf(cells)] as const))(
    'links to what shows it: %s',
    (_, { title, path }) => {
      expect(existsSync(join(root, path)) && path, `"${title}" is to link to a test by its title`).toBeTruthy();
      if (title === path) expect(readDoc(path)).toMatch(built[path] as RegExp);
      else expect(titlesIn(path)).toContain(title);
    },
  );
  it('names every source file that is looked into, once or more', () => {
    const linked = new Set(rows.map(({ cells }) => linkOf(cells).path));
    expect(Object.keys(built).filter((path) => !linked.has(path))).toEqual([]);
  });
});
