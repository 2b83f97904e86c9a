import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { byokProviders } from '../src/schema/byok-providers.ts';
import { bundled } from '../tsup.config.ts';

/**
 * The picture "Floors" of the architecture, from the ground up. A folder imports itself and what is on lower floors.
 */
const floors = [
  ['base'],
  ['schema'],
  ['call'],
  ['convert', 'dialects', 'transport', 'stores', 'pricing', 'documents', 'fetching', 'search'],
  ['providers', 'catalog', 'telemetry'],
  ['routing', 'plugins', 'guardrails', 'server-tools'],
  ['pipeline'],
  ['operations'],
  ['http'],
  ['setup'],
  ['index.ts', 'gateway.ts', 'options.ts'],
];

/**
 * Folders whose index.ts is a list of what they hold, and the file in each that is the contract, which is not listed.
 */
const listFolders: Record<string, string> = {
  dialects: 'dialect.ts',
  providers: 'provider.ts',
  plugins: 'plugin.ts',
  guardrails: 'guardrail.ts',
  'server-tools': 'server-tool.ts',
  operations: 'operation.ts',
};

const maxLines = 350;

/**
 * Slugs of providers, which no code outside src/providers names: a branch on one is a missing quirk. Without those that
 * are words of their own as well: a field of requests, and the option of the built-in sandbox.
 */
const slugs: ReadonlySet<string> = new Set(byokProviders.filter((slug) => slug !== 'seed'));

/** Files that name providers all the same, and why. */
const mayNameProviders: Record<string, string> = {
  'src/schema/byok-providers.ts': 'the closed list itself',
  'src/schema/plugins.ts': 'names of search engines that a plugin may use',
  'src/search/perplexity.ts': 'the name of its search engine',
  'src/pricing/list-prices.ts': 'which entries of the list of prices are of which provider',
  'src/dialects/bedrock-converse/model.ts': 'makers of models, as the ids of models at Bedrock name them',
  'src/dialects/anthropic-messages/quirks.ts': 'whose service speaks the dialect: a value of a quirk',
};

/** What the imports of package.json stand for: the first needs Node's modules, the second runs everywhere. */
const byRuntime: Record<string, readonly [string, string]> = {
  '#connection': ['src/fetching/connection.ts', 'src/fetching/no-connection.ts'],
  '#transport': ['src/transport/undici.ts', 'src/transport/fetch.ts'],
  '#documents': ['src/documents/in-threads.ts', 'src/documents/inline.ts'],
  '#inflate': ['src/transport/inflate-zlib.ts', 'src/transport/inflate-web.ts'],
};
/** What is no source and becomes part of the build. */
const documents: ReadonlySet<string> = new Set(['docs/openapi.json']);
/** Threads, by the file that starts them. */
const threads: Record<string, string> = {
  'src/documents/in-threads.ts': 'src/documents/thread.ts',
};
/** Of a file that needs Node's modules, the name under which it is imported. */
const nodeOnly = new Map(Object.entries(byRuntime).map(([name, [path]]) => [path, name]));

const root = join(import.meta.dirname, '..');
const manifest: { dependencies: object; peerDependencies?: object } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);
/** What an installation has, and what is part of the build. */
const packages = new Set([...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }), ...bundled]);

describe('the source tree', () => {
  const files = { ...readTree('src'), ...readTree('adapters') };

  it('is read', () => {
    expect(Object.keys(files)).toContain('src/index.ts');
  });
  it('keeps to its floors and rules', () => {
    expect(findViolations(files)).toEqual([]);
  });
});

describe('a violation is reported:', () => {
  const chain = {
    'src/index.ts': `export { a } from './call/a.ts';`,
    'src/call/a.ts': `import { b } from '../base/b.ts';`,
  };
  const whole = { ...chain, 'src/base/b.ts': 'export const b = 1;' };

  it('none in a sound tree', () => {
    expect(findViolations(whole)).toEqual([]);
  });
  it.each<[string, Record<string, string>, RegExp]>([
    [
      'an import upward',
      { 'src/base/b.ts': `import { a } from '../call/a.ts';` },
      /base\/b\.ts:1 imports upward.*call/,
    ],
    ['a type-only import upward', { 'src/base/b.ts': `import type { A } from '../call/a.ts';` }, /imports upward/],
    ['a type named by import()', { 'src/base/b.ts': `let a: import('../call/a.ts').A;` }, /imports upward/],
    ['a re-export from above', { 'src/base/b.ts': `\nexport * from '../call/a.ts';` }, /b\.ts:2 imports upward/],
    ['a dynamic import upward', { 'src/base/b.ts': `await import('../call/a.ts');` }, /imports upward/],
    [
      'an import of the same floor',
      { 'src/routing/plan.ts': `import '../plugins/web.ts';`, 'src/plugins/web.ts': '' },
      /plan\.ts:1 .*routing and plugins share a floor/,
    ],
    [
      'a cycle in a folder',
      { 'src/base/c.ts': `import './d.ts';`, 'src/base/d.ts': `import './c.ts';` },
      /cycle: src\/base\/c\.ts -> src\/base\/d\.ts/,
    ],
    [
      'a file that imports itself',
      { 'src/base/b.ts': `import './b.ts';` },
      /cycle: src\/base\/b\.ts -> src\/base\/b\.ts/,
    ],
    ['a file that is not there', { 'src/base/b.ts': `import './gone.ts';` }, /gone\.ts.*which is not there/],
    ['a folder missing from the table', { 'src/misc/x.ts': '' }, /src\/misc is on no floor/],
    ['a file beside index.ts', { 'src/extra.ts': '' }, /src\/extra\.ts is on no floor/],
    ['a Node module', { 'src/base/b.ts': `import 'node:fs';` }, /b\.ts:1 imports node:fs/],
    ['a Node module without prefix', { 'src/base/b.ts': `import 'fs';` }, /imports fs/],
    ['undici in the core', { 'src/base/b.ts': `import type { Agent } from 'undici';` }, /imports undici/],
    [
      'a Node module that the fetch transport reaches',
      { 'src/transport/fetch.ts': `import './zip.ts';`, 'src/transport/zip.ts': `import 'node:zlib';` },
      /zip\.ts:1 imports node:zlib/,
    ],
    [
      'the Node transport, past its condition',
      { 'src/index.ts': `import './transport/undici.ts';`, 'src/transport/undici.ts': '' },
      /only as #transport/,
    ],
    [
      'the inflater of Node, past its condition',
      { 'src/http/x.ts': `import '../transport/inflate-zlib.ts';`, 'src/transport/inflate-zlib.ts': '' },
      /only as #inflate/,
    ],
    [
      'a Node module that the other inflater reaches',
      { 'src/transport/inflate-web.ts': `import 'node:zlib';` },
      /inflate-web\.ts:1 imports node:zlib/,
    ],
    ['an undeclared package', { 'src/base/b.ts': `import 'left-pad';` }, /left-pad.*not a dependency/],
    ['an adapter that reaches inside', { 'adapters/x.ts': `import '../src/base/b.ts';` }, /adapters import only/],
    ['a core that knows an adapter', { 'src/index.ts': `import '../adapters/x.ts';`, 'adapters/x.ts': '' }, /knows no/],
    ['an unlisted file', { 'src/plugins/web.ts': '', 'src/plugins/index.ts': '' }, /web\.ts is not listed in/],
    ['a list folder without a list', { 'src/plugins/web.ts': '' }, /src\/plugins\/index\.ts is missing/],
    [
      'an orphan in a folder of a listed one',
      { 'src/plugins/index.ts': `import './web/web.ts';`, 'src/plugins/web/web.ts': '', 'src/plugins/web/old.ts': '' },
      /old\.ts is not reached from/,
    ],
    ['a default export', { 'src/base/b.ts': 'export default 1;' }, /b\.ts:1 has a default export/],
    ['a default function', { 'src/base/b.ts': 'export default function f() {}' }, /has a default export/],
    ['a renamed default', { 'src/base/b.ts': 'const b = 1; export { b as default };' }, /has a default export/],
    ['console in the core', { 'src/base/b.ts': `\n\nconsole.log('x');` }, /b\.ts:3 uses console/],
    ['console in an adapter', { 'adapters/x.ts': 'const log = console.error;' }, /uses console/],
    ['a branch on a provider', { 'src/base/b.ts': `if (slug === 'groq') x();` }, /b\.ts:1 names the provider groq/],
    ['a table by provider', { 'src/base/b.ts': `const table = { openai: 1 };` }, /b\.ts:1 names the provider openai/],
    ['a case for a provider', { 'src/base/b.ts': 'switch (s) {\n case `z-ai`: }' }, /b\.ts:2 names the provider z-ai/],
    ['a file that is too long', { 'src/base/b.ts': '\n'.repeat(maxLines + 1) }, /b\.ts has 352 lines.*two files/],
  ])('%s', (_, changed, expected) => {
    const found = findViolations({ ...whole, ...changed });
    expect(found).toEqual(expect.arrayContaining([expect.stringMatching(expected)]));
  });
  it('none for words in comments and strings', () => {
    const text = `// import x from '../call/a.ts'; console.log\nexport const s = "import '../call/a.ts'; console.log()";`;
    expect(findViolations({ ...whole, 'src/base/b.ts': text })).toEqual([]);
  });
  it('none for a provider in the folder of providers, in a list with a reason, or in a longer text', () => {
    const sound = {
      'src/providers/groq.ts': `export const slug = 'groq';`,
      'src/providers/index.ts': `import './groq.ts';`,
      'src/schema/byok-providers.ts': `export const slugs = ['groq'];`,
      'src/base/b.ts': `export const b = 'such as groq';`,
    };
    expect(findViolations({ ...whole, ...sound })).toEqual([]);
  });
  it('none for Node modules behind the Node transport, or in adapters', () => {
    const sound = {
      'src/gateway.ts': `import { defaultTransport } from '#transport';`,
      'src/transport/fetch.ts': '',
      'src/transport/undici.ts': `import { Agent } from 'undici'; import './zip.ts';`,
      'src/transport/zip.ts': `import 'node:zlib';`,
      'adapters/node.ts': `import 'node:http'; import { a } from '../src/index.ts'; import './x.ts';`,
      'adapters/x.ts': '',
    };
    expect(findViolations({ ...whole, ...sound })).toEqual([]);
  });
});

interface Import {
  line: number;
  specifier: string;
  /** Paths from the root; empty for packages. */
  targets: readonly string[];
}

/** @param files  text by path from the root, with `/` */
function findViolations(files: Record<string, string>): string[] {
  const violations: string[] = [];
  const graph = new Map<string, Import[]>();
  for (const [path, text] of Object.entries(files)) {
    const { imports, marks } = inspect(path, text);
    graph.set(path, imports);
    violations.push(...marks);
    if (path.startsWith('src/') && floorOf(folderOf(path)) === -1) violations.push(`${place(path)} is on no floor`);
    const lines = text.split('\n').length;
    if (lines > maxLines) violations.push(`${path} has ${lines} lines: two things are two files`);
  }
  const targetsOf = (path: string) => [
    ...(graph.get(path) ?? []).flatMap(({ targets }) => targets),
    ...(threads[path] ? [threads[path]] : []),
  ];
  const portable = reach('src/index.ts', (path) => targetsOf(path).filter((target) => !nodeOnly.has(target)));
  for (const [, path] of Object.values(byRuntime)) for (const target of reach(path, targetsOf)) portable.add(target);

  for (const [path, imports] of graph) {
    for (const entry of imports) {
      for (const problem of judge(path, entry, files, portable)) {
        violations.push(`${path}:${entry.line} ${problem}`);
      }
    }
  }
  return [...violations, ...findCycles([...graph.keys()], targetsOf), ...findUnlisted(Object.keys(files), targetsOf)];
}

function judge(path: string, entry: Import, files: Record<string, string>, portable: Set<string>): string[] {
  const { specifier, targets } = entry;
  if (targets.length === 0) return judgePackage(path, specifier, portable);
  const problems: string[] = [];
  for (const target of targets) {
    if (documents.has(target)) continue;
    if (!(target in files)) {
      if (specifier.startsWith('#')) continue;
      problems.push(`imports ${target}, which is not there`);
    } else if (path.startsWith('adapters/')) {
      if (target.startsWith('src/') && target !== 'src/index.ts') {
        problems.push(`imports ${target}: adapters import only src/index.ts`);
      }
    } else if (target.startsWith('adapters/')) {
      problems.push(`imports ${target}: the core knows no adapter`);
    } else if (nodeOnly.has(target) && !specifier.startsWith('#') && path !== target) {
      problems.push(
        `imports ${target}: elsewhere than on Node it is missing, so it is imported only as ${nodeOnly.get(target)}`,
      );
    } else {
      problems.push(...judgeFloors(path, target));
    }
  }
  return problems;
}

function judgeFloors(path: string, target: string): string[] {
  const [from, to] = [folderOf(path), folderOf(target)];
  if (from === to) return [];
  const [above, below] = [floorOf(from), floorOf(to)];
  if (above === -1 || below === -1 || below < above) return [];
  if (below > above) return [`imports upward, from ${from} to ${to} (${target})`];
  // The files beside index.ts are one part in three files.
  return from.endsWith('.ts') ? [] : [`imports ${target}: ${from} and ${to} share a floor`];
}

function judgePackage(path: string, specifier: string, portable: Set<string>): string[] {
  if (path.startsWith('adapters/')) return [];
  const isNodes = isBuiltin(specifier) || specifier === 'undici';
  const mayBeNodes = folderOf(path) === 'transport' || nodeOnly.has(path) || Object.values(threads).includes(path);
  if (isNodes && (portable.has(path) || !mayBeNodes)) {
    return [`imports ${specifier}: only files that are chosen on Node may, the core runs everywhere`];
  }
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  return isNodes || packages.has(name) ? [] : [`imports ${name}, which is not a dependency in package.json`];
}

/** The folder directly under src, or the file there. */
function folderOf(path: string): string {
  return path.split('/')[1] ?? '';
}

function floorOf(folder: string): number {
  return floors.findIndex((floor) => floor.includes(folder));
}

function place(path: string): string {
  return path.split('/').slice(0, 2).join('/');
}

function reach(start: string, targetsOf: (path: string) => string[]): Set<string> {
  const reached = new Set([start]);
  for (const path of reached) for (const target of targetsOf(path)) reached.add(target);
  return reached;
}

/** Each cycle once, from where it was first entered. */
function findCycles(paths: string[], targetsOf: (path: string) => string[]): string[] {
  const done = new Set<string>();
  const trail: string[] = [];
  const cycles: string[] = [];
  const visit = (path: string): void => {
    const at = trail.indexOf(path);
    if (at !== -1) cycles.push(`import cycle: ${[...trail.slice(at), path].join(' -> ')}`);
    if (at !== -1 || done.has(path)) return;
    trail.push(path);
    targetsOf(path).forEach(visit);
    trail.pop();
    done.add(path);
  };
  paths.forEach(visit);
  return cycles;
}

function findUnlisted(paths: string[], targetsOf: (path: string) => string[]): string[] {
  return Object.entries(listFolders).flatMap(([folder, contract]) => {
    const list = `src/${folder}/index.ts`;
    const members = paths.filter(
      (path) => path.startsWith(`src/${folder}/`) && path !== list && path !== `src/${folder}/${contract}`,
    );
    if (members.length === 0) return [];
    if (!paths.includes(list)) return [`${list} is missing: it lists what is in the folder`];
    const listed = new Set(targetsOf(list));
    const reached = reach(list, targetsOf);
    return members
      .filter((path) => !(posix.dirname(path) === `src/${folder}` ? listed : reached).has(path))
      .map((path) =>
        posix.dirname(path) === `src/${folder}`
          ? `${path} is not listed in ${list}`
          : `${path} is not reached from ${list}`,
      );
  });
}

/** Imports of every kind, and the rules that need only one file. */
function inspect(path: string, text: string): { imports: Import[]; marks: string[] } {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const imports: Import[] = [];
  const marks: string[] = [];
  const lineOf = (node: ts.Node) => source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
  const mayName = !path.startsWith('src/') || path.startsWith('src/providers/') || path in mayNameProviders;
  const addImport = (node: ts.Node | undefined) => {
    if (node === undefined || !ts.isStringLiteralLike(node)) return;
    imports.push({ line: lineOf(node), specifier: node.text, targets: resolve(path, node.text) });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) addImport(node.moduleSpecifier);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) addImport(node.argument.literal);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      addImport(node.arguments[0]);
    }
    const named = mayName ? null : namedProvider(node);
    if (named !== null) marks.push(`${path}:${lineOf(node)} names the provider ${named}: a missing quirk`);
    if (path.startsWith('src/') && isDefaultExport(node)) marks.push(`${path}:${lineOf(node)} has a default export`);
    if (ts.isIdentifier(node) && node.text === 'console' && ts.isPropertyAccessExpression(node.parent)) {
      if (node.parent.expression === node) marks.push(`${path}:${lineOf(node)} uses console`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { imports, marks };
}

/** The slug that a text or the name of a property is; null for other nodes. */
function namedProvider(node: ts.Node): string | null {
  const name = ts.isStringLiteralLike(node)
    ? node.text
    : ts.isPropertyAssignment(node) && ts.isIdentifier(node.name)
      ? node.name.text
      : null;
  return name !== null && slugs.has(name) ? name : null;
}

function isDefaultExport(node: ts.Node): boolean {
  return (
    ts.isExportAssignment(node) ||
    (ts.isExportSpecifier(node) && node.name.text === 'default') ||
    (ts.canHaveModifiers(node) && !!ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword))
  );
}

function resolve(path: string, specifier: string): readonly string[] {
  return byRuntime[specifier] ?? (specifier.startsWith('.') ? [posix.join(posix.dirname(path), specifier)] : []);
}

function readTree(folder: string): Record<string, string> {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  const paths = names.map((name) => `${folder}/${name.replaceAll('\\', '/')}`).filter((path) => path.endsWith('.ts'));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}
