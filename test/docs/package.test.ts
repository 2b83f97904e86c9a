import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { publicEntries } from '../../tsup.config.ts';
import { quoted, readDoc, root, tableRows } from './markdown.ts';

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const [packed]: { files: { path: string }[] }[] = JSON.parse(
  execFileSync(npm, ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32',
  }),
);
const paths = (packed as { files: { path: string }[] }).files.map(({ path }) => path);
const manifest = JSON.parse(readDoc('package.json'));

describe('the package', () => {
  it('holds whatever its pages link to', () => {
    const isThere = (link: string) => paths.some((path) => path === link || path.startsWith(`${link}/`));
    const linksOf = (page: string) => {
      const prose = readDoc(page)
        .replace(/^( *)```[\s\S]*?^\1```$/gm, '')
        .replace(/`[^`\n]*`/g, '');
      const links = [...prose.matchAll(/\]\(([^)\s#]+)/g)].map(([, target]) => target as string);
      return links.filter((link) => !/^[a-z]+:/.test(link)).map((link) => join(dirname(page), link).replace(/\/$/, ''));
    };
    const links = paths.filter((path) => path.endsWith('.md') && !path.startsWith('examples/')).flatMap(linksOf);
    expect(links.length).toBeGreaterThan(200);
    expect(links.filter((link) => !isThere(link))).toEqual([]);
  });
  it('exports what is built for hosts, and docs/hosts.md says what each export has', async () => {
    const names = Object.keys(publicEntries);
    const subpathOf = (name: string) => (name === 'index' ? '.' : `./${name}`);
    const built = names.map((name) => [
      subpathOf(name),
      { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
    ]);
    const documents = { './openapi.json': './docs/openapi.json', './package.json': './package.json' };
    expect(manifest.exports).toEqual({ ...Object.fromEntries(built), ...documents });
    const rows = tableRows(readDoc('docs/hosts.md')).filter(({ columns }) => columns[1] === 'has');
    const told = new Map(
      rows.flatMap(({ cells: [subpaths = '', has = ''] }) =>
        quoted(subpaths).map((subpath) => [subpath.replace('model-gateway', '.'), quoted(has)] as const),
      ),
    );
    expect([...told.keys()].toSorted()).toEqual(names.map(subpathOf).toSorted());
    for (const [name, source] of Object.entries(publicEntries)) {
      const exported = Object.keys(await import(/* @vite-ignore */ `../../${source}`));
      const named = (told.get(subpathOf(name)) ?? []).filter((text) => /^\w+$/.test(text));
      expect(exported, name).toEqual(expect.arrayContaining(named));
      // A host's adapter is told of in full.
      if (source.startsWith('adapters/')) expect(named.toSorted(), name).toEqual(exported.toSorted());
    }
  });
  it('holds no source, no test and nothing that was installed', () => {
    expect(paths.filter((path) => /^(?:src|test|scripts|bench|adapters)\/|node_modules\//.test(path))).toEqual([]);
  });
  it('installs no zod: what the gateway uses of it is in the build, and a host app has its own', () => {
    const { dependencies, peerDependencies, devDependencies } = manifest;
    expect(Object.keys({ ...dependencies, ...peerDependencies })).not.toContain('zod');
    expect(Object.keys(devDependencies)).toContain('zod');
  });
});
