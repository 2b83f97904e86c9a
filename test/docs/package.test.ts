import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { readDoc, root } from './markdown.ts';

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
  it('holds whatever README.md links to', () => {
    const links = [...readDoc('README.md').matchAll(/\]\(([^)\s#]+)/g)].map(([, target]) => target as string);
    const relatives = links.filter((link) => !/^[a-z]+:/.test(link));
    expect(relatives.length).toBeGreaterThan(20);
    const isThere = (link: string) => paths.some((path) => path === link || path.startsWith(`${link}/`));
    expect(relatives.filter((link) => !isThere(link))).toEqual([]);
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
