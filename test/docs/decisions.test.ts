import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDoc, root, tableRows } from './markdown.ts';

const rows = tableRows(readDoc('docs/decisions.md'));

/** Rows about how something is built link to the source file; what has to stand there. */
const built: Record<string, RegExp> = {
  'src/base/framing/sse.ts': /from '\.\.\/http\/sse\.ts'/,
  'src/base/secrets.ts': /from '@noble\/hashes/,
  'src/transport/exchange.ts': /\.dispatch\(/,
  'src/stores/storage/choose.ts': /redisStorage\(adapter[\s\S]*postgresStorage\(adapter[\s\S]*sqliteStorage\(adapter/,
  'adapters/sqlite/database.ts':
    /journal_mode = WAL'[\s\S]*synchronous = NORMAL'[\s\S]*getBuiltinModule\?\.\('node:sqlite'\)/,
  'tsup.config.ts': /'yaml',\s+'smol-toml',/,
  'src/stores/vault/index.ts': /'model-gateway credential', owner\.workspaceId, owner\.provider, owner\.credentialId/,
};

/** The links of a row: `[title of the test](../path of its file)`; of a source file, its path is the title. */
function linksOf(cells: readonly string[]): { title: string; path: string }[] {
  const links = (cells[3] ?? '').matchAll(/\[((?:[^\]]|\](?!\())*)\]\(\.\.\/([^)]*)\)/g);
  return [...links].map(([, title = '', path = '']) => ({ title, path }));
}

/** What stands as the title of a test or of a table of tests in a file. */
function titlesIn(path: string): string[] {
  const calls = readDoc(path).matchAll(
    /^\s*(?:it(?:\.\w+)*|(?:it\b.*)?\]?\))\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"([^"\n]*)"|`([^`\n]*)`)/gm,
  );
  return [...calls].map(([, single, double, template]) => (single ?? double ?? template ?? '').replaceAll('\\', ''));
}

describe('docs/decisions.md', () => {
  it.each(rows.map(({ cells }) => [cells[0] as string, linksOf(cells)] as const))(
    'links to what shows it: %s',
    (_, links) => {
      expect(links).not.toEqual([]);
      for (const { title, path } of links) {
        expect([path, existsSync(join(root, path))]).toEqual([path, true]);
        if (title === path) expect(readDoc(path)).toMatch(built[path] as RegExp);
        else expect(titlesIn(path)).toContain(title);
      }
    },
  );
  it('links to every source file that is looked into', () => {
    const linked = new Set(rows.flatMap(({ cells }) => linksOf(cells)).map(({ path }) => path));
    expect(Object.keys(built).filter((path) => !linked.has(path))).toEqual([]);
  });
  it('links to every test of a decision', () => {
    const linked = rows.flatMap(({ cells }) => linksOf(cells));
    for (const name of readdirSync(join(root, 'test/flow/decisions'))) {
      const path = `test/flow/decisions/${name}`;
      const titles = linked.filter((one) => one.path === path).map(({ title }) => title);
      expect(titles.toSorted()).toEqual(titlesIn(path).toSorted());
    }
  });
});
