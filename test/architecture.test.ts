import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { pluginIds } from '../src/schema/chat/plugins.ts';
import { byokProviders } from '../src/schema/tenants/byok-providers.ts';
import { bundled, publicEntries } from '../tsup.config.ts';

/**
 * The picture "Floors" of the architecture, from the ground up. A folder imports itself and what is on lower floors.
 */
const floors = [
  ['base'],
  ['schema'],
  ['call'],
  ['formats', 'dialects', 'transport', 'stores', 'pricing', 'documents', 'fetching', 'search'],
  ['providers', 'catalog', 'telemetry'],
  ['routing', 'plugins', 'guardrails', 'server-tools'],
  ['pipeline'],
  ['operations'],
  ['http'],
  ['setup'],
  ['index.ts', 'gateway.ts', 'options.ts'],
  // A file for each subpath of the package. Nothing inside imports one; they hold no code.
  ['entries'],
];

/**
 * Folders whose index.ts is a list of what they hold, and the files in each that are not listed: the contract, and how one
 * of them is loaded at its first use.
 */
const listFolders: Record<string, readonly string[]> = {
  dialects: ['dialect.ts', 'late.ts'],
  providers: ['provider.ts'],
  plugins: ['plugin.ts'],
  guardrails: ['guardrail.ts'],
  'server-tools': ['server-tool.ts'],
  operations: ['operation.ts'],
};

/** The rooms of the pipeline, from the ground up: a room imports itself and what is on lower floors. */
const pipelineFloors = [
  ['secrets', 'citations', 'sockets'],
  ['stream'],
  ['plan'],
  ['money'],
  ['attempt'],
  ['generation'],
  ['server-tools'],
  ['call'],
  ['hooks'],
  ['deliver', 'generate.ts'],
  ['tool-loop', 'task'],
  ['tasks'],
  ['serve.ts', 'explain.ts', 'count.ts'],
  ['explain-task.ts'],
];
/** Names what every room is given: types of any floor, and for all floors. */
const pipelineDeps = 'src/pipeline/deps.ts';

/** More files than that in one folder are a folder more. */
const maxSiblings = 20;

/** A function with more lines needs a reason here. */
const maxFunctionLines = 120;
const closes = 'a closure over state that nobody else may touch; its functions are short';
const oneScript = 'the text of one SQL script';
const longFunctions: Record<string, string> = {
  'src/gateway.ts createGateway': 'puts everything together, in order',
  'src/setup/options/defaults.ts optionDefaults': 'one object, written from the schemas of the options',
  'src/base/fair-cache.ts createFairCache': closes,
  'src/guardrails/text/screening.ts screening': closes,
  'src/http/edge.ts createEdge': closes,
  'src/setup/stores.ts openStores': 'puts the stores together, in order',
  'src/stores/api-keys/index.ts createApiKeys': closes,
  'src/stores/credentials/index.ts createCredentials': closes,
  'src/stores/guardrails.ts createGuardrails': closes,
  'src/catalog/health/sharing.ts createSharing': closes,
  'src/dialects/anthropic-messages/blocks.ts blockReader': closes,
  'src/dialects/bedrock-converse/blocks.ts blockReader': closes,
  'src/dialects/openai-responses/output.ts outputReader': closes,
  'src/guardrails/text/response.ts responseStep': closes,
  'src/plugins/response-healing/read-loose.ts readLoose': closes,
  'src/schema/records/generation.ts generationSchema': 'one object: the table of the fields',
  'src/stores/ledger/memory.ts createLedger': closes,
  'src/stores/ledger/postgres-functions.ts defineLedgerFunctions': oneScript,
  'src/stores/ledger/sqlite-books.ts openBooks': closes,
  'src/stores/rates/postgres-functions.ts defineRates': oneScript,
  'src/stores/rates/sqlite.ts sqliteRates': closes,
  'src/stores/spending/booking-log.ts createBookingLog': closes,
  'src/stores/spending/create-spending.ts createSpending': 'puts the parts of spending together, in order',
  'src/stores/spending/escrow.ts createEscrow': closes,
  'src/stores/spending/holds.ts createHolds': closes,
  'src/stores/spending/lost-holds.ts createLostHolds': closes,
  'src/stores/spending/outbox.ts createOutbox': closes,
  'src/stores/storage/keyv.ts keyvStorage': closes,
  'src/telemetry/records/live-tail.ts createLiveTail': closes,
  'src/telemetry/records/sweeper.ts createSweeper': closes,
  'src/telemetry/records/writer.ts createRecordWriter': closes,
  'src/formats/responses/request/items.ts convertItems': closes,
  'src/stores/storage/postgres/pool.ts openPool': closes,
  'src/stores/storage/redis/link.ts createLink': closes,
  'adapters/console/console.ts consoleHandler': closes,
  'adapters/sqlite/sqlite.ts sqliteStore': closes,
};

/**
 * Slugs of providers, which no code outside src/providers names: a branch on one is a missing quirk. Without those that
 * are words of their own as well: a field of requests, and the option of the built-in sandbox.
 */
const slugs: ReadonlySet<string> = new Set(byokProviders.filter((slug) => slug !== 'seed'));

/** Files that name providers all the same, and why. */
const mayNameProviders: Record<string, string> = {
  'src/schema/tenants/byok-providers.ts': 'the closed list itself',
  'src/schema/chat/plugins.ts': 'names of search engines that a plugin may use',
  'src/search/perplexity.ts': 'the name of its search engine',
  'src/catalog/model-facts/others.ts': 'whose rules for open weights a row of the table tells',
  'src/pricing/list-prices.ts': 'which entries of the list of prices are of which provider',
  'src/dialects/bedrock-converse/model.ts': 'makers of models, as the ids of models at Bedrock name them',
  'src/dialects/anthropic-messages/quirks.ts': 'whose service speaks the dialect: a value of a quirk',
};

/** The beginning of a docstring that leaves its subject out. */
const withoutSubject = /\/\*\*\s+(?:\*\s+)?(?:What|Of|Whether|Who|Whose|Which|How|Where|When|Why)\b/;
/** Ids of the built-in plugins: nothing of a plugin stands outside of its own folder, so that none is special. */
const builtInPlugins: readonly string[] = pluginIds;

/** Files that name built-in plugins all the same, and why. */
const mayNamePlugins: Record<string, string> = {
  'src/plugins/index.ts': 'the list of them; two hold settings alone',
  'src/schema/chat/plugins.ts': 'what the interface allows in a request, by plugin',
  'src/schema/chat/envelope.ts': 'a value of `strategy` in the interface',
  'src/routing/routers/auto.ts': 'reads the settings of the plugin, which has no code of its own',
  'src/routing/routers/pareto.ts': 'reads the settings of the plugin, which has no code of its own',
  'src/schema/images/request.ts': 'a field of a request for images',
  'src/providers/quirks/images.ts': 'a field of a request for images',
  'src/search/brave.ts': 'a kind of results of the search engine',
  'src/search/firecrawl.ts': 'a kind of results of the search engine',
};

/** Files that import built-in plugins: the list of them, and what host apps import. */
const mayImportPlugins: readonly string[] = ['src/plugins/index.ts', 'src/index.ts'];

/** What the imports of package.json stand for: the first needs Node's modules, the second runs everywhere. */
const byRuntime: Record<string, readonly [string, string]> = {
  '#connection': ['src/fetching/connection.ts', 'src/fetching/no-connection.ts'],
  '#transport': ['src/transport/undici.ts', 'src/transport/fetch.ts'],
  '#documents': ['src/documents/in-threads.ts', 'src/documents/inline.ts'],
  '#inflate': ['src/transport/inflate-zlib.ts', 'src/transport/inflate-web.ts'],
};
/** Plain functions of the core that the command uses too: nothing for hosts, and nothing to have twice. */
const sharedWithCommand: ReadonlySet<string> = new Set(['src/base/text/nearest.ts']);
/** What the package exports of the core: runs everywhere, and is all that an adapter sees. */
const coreEntries: ReadonlySet<string> = new Set(
  Object.values(publicEntries).filter((path) => path.startsWith('src/')),
);
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
  it('has docstrings that begin with their subject', () => {
    expect(findWithoutSubject(files)).toEqual([]);
  });
  it('has no reason to name a plugin for a file that names none', () => {
    const naming = Object.keys(mayNamePlugins).filter((path) => namesPlugin(path, files[path] ?? ''));
    expect(naming).toEqual(Object.keys(mayNamePlugins));
  });
  it('has no reason for a function that is short or gone', () => {
    const long = Object.entries(files).flatMap(([path, text]) => inspect(path, text).long);
    expect(Object.keys(longFunctions).filter((name) => !long.includes(name))).toEqual([]);
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
    [
      'an entry that the core itself imports',
      { 'src/gateway.ts': `import './entries/search.ts';`, 'src/entries/search.ts': '' },
      /gateway\.ts:1 imports upward, from gateway\.ts to entries/,
    ],
    [
      'a Node module that an entry reaches',
      { 'src/entries/testing.ts': `import '../transport/zip.ts';`, 'src/transport/zip.ts': `import 'node:zlib';` },
      /zip\.ts:1 imports node:zlib/,
    ],
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
    ['a branch on a plugin', { 'src/base/b.ts': `if (id === 'fusion') x();` }, /b\.ts:1 names the plugin fusion/],
    ['a model of a plugin', { 'src/base/b.ts': 'const m = `service/fusion`;' }, /b\.ts:1 names the plugin fusion/],
    ['a table by plugin', { 'src/base/b.ts': `const t = { moderation: 1 };` }, /b\.ts:1 names the plugin moderation/],
    [
      'a plugin that another one names',
      { 'src/plugins/web-fetch.ts': `const id = 'web';` },
      /web-fetch\.ts:1 names the plugin web:/,
    ],
    [
      'an import of what is inside of a plugin',
      { 'src/pipeline/serve.ts': `import '../plugins/fusion/cast.ts';`, 'src/plugins/fusion/cast.ts': '' },
      /serve\.ts:1 imports src\/plugins\/fusion\/cast\.ts: .*plugin fusion/,
    ],
    [
      'an import upward in the pipeline',
      { 'src/pipeline/money/hold.ts': `import '../call/run.ts';`, 'src/pipeline/call/run.ts': '' },
      /hold\.ts:1 imports upward, from money to call/,
    ],
    ['a file of the pipeline on no floor', { 'src/pipeline/x.ts': '' }, /src\/pipeline\/x\.ts is on no floor/],
    [
      'a folder that is too full',
      Object.fromEntries(Array.from({ length: maxSiblings + 1 }, (_, at) => [`src/base/text/t${at}.ts`, ''])),
      /src\/base\/text has 21 files/,
    ],
    [
      'a file beside the folder of its name',
      { 'src/base/text.ts': '', 'src/base/text/t.ts': '' },
      /src\/base\/text\.ts stands beside a folder/,
    ],
    [
      'a function that is too long',
      { 'src/base/b.ts': `export function long() {${'\n'.repeat(maxFunctionLines)}}` },
      /b\.ts:1 long has 121 lines/,
    ],
  ])('%s', (_, changed, expected) => {
    const found = findViolations({ ...whole, ...changed });
    expect(found).toEqual(expect.arrayContaining([expect.stringMatching(expected)]));
  });
  it.each(['/** What a call costs. */', '/**\n * Whether it is over.\n */', '  /** How long a key lives. */'])(
    'a docstring without its subject: %s',
    (docstring) => {
      const files = { 'src/base/b.ts': `const a = 1;\n${docstring}\nexport const b = a;` };
      expect(findWithoutSubject(files)).toEqual([
        'src/base/b.ts:2 has a docstring that does not begin with its subject',
      ]);
    },
  );
  it('none for a docstring that begins with its subject', () => {
    const text = '/** The whole. What follows is more. */\n/** Whatever comes. */\n// What a comment says.';
    expect(findWithoutSubject({ 'src/base/b.ts': text })).toEqual([]);
  });
  it('none for words in comments and strings', () => {
    const text = `// import x from '../call/a.ts'; console.log\nexport const s = "import '../call/a.ts'; console.log()";`;
    expect(findViolations({ ...whole, 'src/base/b.ts': text })).toEqual([]);
  });
  it('none for a provider in the folder of providers, in a list with a reason, or in a longer text', () => {
    const sound = {
      'src/providers/groq.ts': `export const slug = 'groq';`,
      'src/providers/index.ts': `import './groq.ts';`,
      'src/schema/tenants/byok-providers.ts': `export const slugs = ['groq'];`,
      'src/base/b.ts': `export const b = 'such as groq';`,
    };
    expect(findViolations({ ...whole, ...sound })).toEqual([]);
  });
  it('none for a plugin in its own folder or file, in a list with a reason, or in a longer text', () => {
    const sound = {
      'src/plugins/index.ts': `import './fusion/index.ts'; import './web.ts'; import './plugin.ts';`,
      'src/plugins/plugin.ts': '',
      'src/plugins/fusion/index.ts': `import './cast.ts'; import '../plugin.ts'; export const id = 'fusion';`,
      'src/plugins/fusion/cast.ts': `export const cast = { fusion: 1 };`,
      'src/plugins/web.ts': `export const id = 'web';`,
      'src/schema/chat/plugins.ts': `export const ids = ['web', 'fusion'];`,
      'src/base/b.ts': `export const b = 'such as fusion'; export const c = 'service:web_search';`,
    };
    expect(findViolations({ ...whole, ...sound })).toEqual([]);
  });
  it('none for Node modules behind the Node transport, or in adapters', () => {
    const sound = {
      'src/gateway.ts': `import { defaultTransport } from '#transport';`,
      'src/transport/fetch.ts': '',
      'src/transport/undici.ts': `import { Agent } from 'undici'; import './zip.ts';`,
      'src/transport/zip.ts': `import 'node:zlib';`,
      'adapters/hosts/node.ts': `import 'node:http'; import { a } from '../../src/index.ts'; import './x.ts';`,
      'adapters/hosts/x.ts': `import type { T } from '../../src/entries/testing.ts';`,
      'src/entries/testing.ts': '',
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
    const room = roomOf(path);
    if (room !== null && path !== pipelineDeps && pipelineFloorOf(room) === -1)
      violations.push(`src/pipeline/${room} is on no floor`);
  }
  violations.push(...findFullFolders(Object.keys(files)), ...findDoorsBeside(Object.keys(files)));
  const targetsOf = (path: string) => [
    ...(graph.get(path) ?? []).flatMap(({ targets }) => targets),
    ...(threads[path] ? [threads[path]] : []),
  ];
  const portable = new Set<string>();
  for (const entry of coreEntries)
    for (const path of reach(entry, (from) => targetsOf(from).filter((target) => !nodeOnly.has(target))))
      portable.add(path);
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

/** Docstrings that do not begin with their subject. */
function findWithoutSubject(files: Record<string, string>): string[] {
  return Object.entries(files).flatMap(([path, text]) => {
    return [...text.matchAll(new RegExp(withoutSubject, 'g'))].map(({ index }) => {
      const line = text.slice(0, index).split('\n').length;
      return `${path}:${line} has a docstring that does not begin with its subject`;
    });
  });
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
      const isShared = path.startsWith('adapters/cli/') && sharedWithCommand.has(target);
      if (target.startsWith('src/') && !coreEntries.has(target) && !isShared) {
        problems.push(`imports ${target}: adapters import only what the package exports`);
      }
    } else if (target.startsWith('adapters/')) {
      problems.push(`imports ${target}: the core knows no adapter`);
    } else if (nodeOnly.has(target) && !specifier.startsWith('#') && path !== target) {
      problems.push(
        `imports ${target}: elsewhere than on Node it is missing, so it is imported only as ${nodeOnly.get(target)}`,
      );
    } else {
      problems.push(...judgeFloors(path, target), ...judgePlugin(path, target));
    }
  }
  return problems;
}

function judgeFloors(path: string, target: string): string[] {
  const [from, to] = [folderOf(path), folderOf(target)];
  if (from === to) return judgeRooms(path, target);
  const [above, below] = [floorOf(from), floorOf(to)];
  if (above === -1 || below === -1 || below < above) return [];
  if (below > above) return [`imports upward, from ${from} to ${to} (${target})`];
  // The files beside index.ts are one part in three files.
  return from.endsWith('.ts') ? [] : [`imports ${target}: ${from} and ${to} share a floor`];
}

/** The plugin whose own folder or file a path is in; null: it is in none. */
function pluginOf(path: string): string | null {
  const name = /^src\/plugins\/([^/]+?)(?:\.ts|\/.*)$/.exec(path)?.[1];
  return name !== undefined && builtInPlugins.includes(name) ? name : null;
}

function judgePlugin(path: string, target: string): string[] {
  const plugin = pluginOf(target);
  if (plugin === null || plugin === pluginOf(path) || mayImportPlugins.includes(path)) return [];
  return [`imports ${target}: only the list of plugins knows the plugin ${plugin}`];
}

function judgeRooms(path: string, target: string): string[] {
  const [from, to] = [roomOf(path), roomOf(target)];
  if (from === null || to === null || from === to || path === pipelineDeps || target === pipelineDeps) return [];
  if (pipelineFloorOf(to) < pipelineFloorOf(from)) return [];
  return [`imports upward, from ${from} to ${to} (${target})`];
}

/** The room of a file of the pipeline, or the file itself where it is in none; null: it is elsewhere. */
function roomOf(path: string): string | null {
  return path.startsWith('src/pipeline/') ? (path.split('/')[2] ?? null) : null;
}

function pipelineFloorOf(room: string): number {
  return pipelineFloors.findIndex((floor) => floor.includes(room));
}

function findFullFolders(paths: string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
  return [...counts].flatMap(([folder, count]) => (count > maxSiblings ? [`${folder} has ${count} files`] : []));
}

/** A file `x.ts` beside a folder `x`: the folder has two doors. */
function findDoorsBeside(paths: string[]): string[] {
  const folders = new Set(paths.map((path) => posix.dirname(path)));
  return paths
    .filter((path) => folders.has(path.replace(/\.ts$/, '')))
    .map((path) => `${path} stands beside a folder of its name: call it ${path.replace(/\.ts$/, '/index.ts')}`);
}

function judgePackage(path: string, specifier: string, portable: Set<string>): string[] {
  if (path.startsWith('adapters/')) return [];
  const isNodes = isBuiltin(specifier) || specifier.split('/')[0] === 'undici';
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
  return Object.entries(listFolders).flatMap(([folder, unlisted]) => {
    const list = `src/${folder}/index.ts`;
    const members = paths.filter(
      (path) =>
        path.startsWith(`src/${folder}/`) && path !== list && !unlisted.some((one) => path === `src/${folder}/${one}`),
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
function inspect(path: string, text: string): { imports: Import[]; marks: string[]; long: string[] } {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const imports: Import[] = [];
  const marks: string[] = [];
  const long: string[] = [];
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
    const plugin = path.startsWith('src/') && !(path in mayNamePlugins) ? namedPlugin(node) : null;
    if (plugin !== null && plugin !== pluginOf(path))
      marks.push(`${path}:${lineOf(node)} names the plugin ${plugin}: it has to say itself what is special about it`);
    // A declaration file says what another package exports.
    if (path.startsWith('src/') && !path.endsWith('.d.ts') && isDefaultExport(node))
      marks.push(`${path}:${lineOf(node)} has a default export`);
    const found = longFunction(node, source);
    if (found !== null) {
      long.push(`${path} ${found.name}`);
      if (!(`${path} ${found.name}` in longFunctions))
        marks.push(`${path}:${lineOf(node)} ${found.name} has ${found.lines} lines`);
    }
    if (ts.isIdentifier(node) && node.text === 'console' && ts.isPropertyAccessExpression(node.parent)) {
      if (node.parent.expression === node) marks.push(`${path}:${lineOf(node)} uses console`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { imports, marks, long };
}

/** A function, and not one inside of it, that has too many lines; null: any other node. */
function longFunction(node: ts.Node, source: ts.SourceFile): { name: string; lines: number } | null {
  if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return null;
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  const lines = lineAt(node.end) - lineAt(node.getStart(source)) + 1;
  if (lines <= maxFunctionLines) return null;
  let named: ts.Node | undefined = node;
  while (named !== undefined && !nameOf(named)) named = named.parent;
  return { name: (named && nameOf(named)) ?? '', lines };
}

function nameOf(node: ts.Node): string | null {
  if (!ts.isFunctionLike(node) && !ts.isVariableDeclaration(node)) return null;
  return node.name !== undefined && ts.isIdentifier(node.name) ? node.name.text : null;
}

function namesPlugin(path: string, text: string): boolean {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): boolean => namedPlugin(node) !== null || (ts.forEachChild(node, visit) ?? false);
  return ts.forEachChild(source, visit) ?? false;
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

/** The plugin that a text, a part of it, or the name of a property names; null for other nodes. */
function namedPlugin(node: ts.Node): string | null {
  const name =
    ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
      ? node.text
      : ts.isPropertyAssignment(node) && ts.isIdentifier(node.name)
        ? node.name.text
        : null;
  // An import is judged by where it leads.
  if (name === null || /^\.\.?\//.test(name)) return null;
  return name.split(/[/:]/).find((part) => builtInPlugins.includes(part)) ?? null;
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
