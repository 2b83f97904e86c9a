import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../../adapters/cli/command.ts';
import { builtInProviders } from '../../src/providers/index.ts';
import { projectFiles, readDoc, root } from './markdown.ts';

const files = projectFiles();
const docs = files.filter((path) => path.endsWith('.md'));

/** Targets of links and pictures, without those in code. */
function linksOf(markdown: string): string[] {
  const prose = markdown.replace(/^( *)```[\s\S]*?^\1```$/gm, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? '');
}

/** Anchors of headings, as GitHub makes them. */
function anchorsOf(markdown: string): string[] {
  const prose = markdown.replace(/^( *)```[\s\S]*?^\1```$/gm, '');
  return [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** What is wrong with a relative link; null where nothing is. */
function problemOf(doc: string, link: string): string | null {
  const [path = '', anchor] = link.split('#', 2);
  const target = path === '' ? doc : relative(root, join(root, dirname(doc), decodeURIComponent(path)));
  if (target.startsWith('..')) return `${doc}: ${link} leaves the project`;
  if (!existsSync(join(root, target))) return `${doc}: ${link} is not there`;
  // A folder that git would not know is not there for a reader.
  if (statSync(join(root, target)).isDirectory())
    return files.some((path) => path.startsWith(`${target}/`)) ? null : `${doc}: ${link} is empty`;
  if (anchor === undefined || !target.endsWith('.md')) return null;
  return anchorsOf(readDoc(target)).includes(anchor) ? null : `${doc}: ${link} is no heading`;
}

describe('the docs', () => {
  it.each(docs)('%s links only to what is there', (doc) => {
    const relatives = linksOf(readDoc(doc)).filter((link) => !/^[a-z]+:/i.test(link));
    expect(relatives.map((link) => problemOf(doc, link)).filter((problem) => problem !== null)).toEqual([]);
  });
  it('are read, and what is wrong with a link is seen', () => {
    expect(docs).toEqual(
      expect.arrayContaining(['README.md', 'docs/options.md', 'docs/architecture.md', 'CONTRIBUTING.md']),
    );
    expect(linksOf(readDoc('README.md')).length).toBeGreaterThan(8);
    expect(problemOf('README.md', 'docs/gone.md')).toMatch(/not there/);
    expect(problemOf('docs/errors.md', 'options.md#gone')).toMatch(/no heading/);
    expect(problemOf('docs/errors.md', 'options.md#top-level')).toBeNull();
    expect(problemOf('README.md', '../elsewhere.md')).toMatch(/leaves/);
  });
  it('can each be reached from README.md, and what is for contributors from CONTRIBUTING.md', () => {
    const reached = new Set(['README.md', 'CONTRIBUTING.md']);
    for (const doc of reached) {
      for (const link of linksOf(readDoc(doc))) {
        const target = relative(root, join(root, dirname(doc), link.split('#', 1)[0] as string));
        if (docs.includes(target)) reached.add(target);
      }
    }
    expect(docs.filter((doc) => doc.startsWith('docs/') && !reached.has(doc))).toEqual([]);
  });
  it('name only commands that are there', () => {
    const { scripts, bin }: { scripts: object; bin: object } = JSON.parse(readDoc('package.json'));
    const named = ['README.md', 'CONTRIBUTING.md', ...docs.filter((doc) => doc.startsWith('docs/'))].flatMap((doc) =>
      [...readDoc(doc).matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)].map(([, script, short]) => script ?? short),
    );
    expect(named).toEqual(expect.arrayContaining(['start', 'test', 'check', 'test:matrix', 'bench', 'format']));
    expect(named.filter((script) => !Object.hasOwn(scripts, script as string))).toEqual([]);
    const commands = docs.flatMap((doc) =>
      [...readDoc(doc).matchAll(/\bnpx ([\w-]+) serve\b/g)].map(([, name]) => name),
    );
    expect(new Set(commands)).toEqual(new Set(Object.keys(bin)));
  });
  it('name only flags and variables that the command knows', async () => {
    let help = '';
    const print = (text: string) => {
      help += text;
    };
    const silent = {
      env: {},
      folder: '',
      ask: async () => '',
      printError: print,
      isWatched: false,
      onStop: () => undefined,
      onReload: () => undefined,
      now: () => 0,
      nowMs: () => 0,
      after: () => () => undefined,
      cores: 1,
      fork: () => expect.fail('no worker is asked for'),
      supervised: null,
    };
    expect(await runCommand({ args: ['help'], print, ...silent })).toBe(0);
    for (const name of ['serve', 'chat', 'init', 'import', 'doctor'])
      expect(await runCommand({ args: ['help', name], print, ...silent })).toBe(0);
    const readme = readDoc('README.md');
    const flags = [...readme.matchAll(/model-gateway (?:serve|chat|init) ([^`#\n]*)/g)].flatMap(
      ([, rest = '']) => rest.match(/--[\w-]+/g) ?? [],
    );
    expect(flags).toEqual(expect.arrayContaining(['--model', '--config']));
    expect(flags.filter((flag) => !help.includes(`${flag} `))).toEqual([]);
    const variables = readme.match(/\bLOCAL_[A-Z_]+\b|\bGATEWAY_API_KEY\b/g) ?? [];
    expect(variables.length).toBeGreaterThan(1);
    expect(variables.filter((name) => !help.includes(name))).toEqual([]);
    const keys = builtInProviders.flatMap(({ env }) => env);
    const ours = new Set(['GATEWAY_API_KEY']);
    expect(
      (readme.match(/\b[A-Z]+_API_KEY\b/g) ?? []).filter((name) => !keys.includes(name) && !ours.has(name)),
    ).toEqual([]);
  });
  it('count the built-in providers right', () => {
    // The sandbox is no provider in the sense of these sentences.
    const count = builtInProviders.filter(({ slug }) => slug !== 'sandbox').length;
    for (const doc of ['README.md', 'CHANGELOG.md']) {
      const [, said] = /(\d+) (?:built-in )?(?:providers|built in)/.exec(readDoc(doc)) ?? [];
      expect([doc, Number(said)]).toEqual([doc, count]);
    }
  });
});
