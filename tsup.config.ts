import { resolve } from 'node:path';
import { defineConfig } from 'tsup';
import { zodInBuild } from './scripts/zod-in-build.ts';

/**
 * Packages that are part of the build: zod's fifty modules, of which a tenth is used, take longer to resolve and read than
 * all of ours together; the small ones that every import needs take longer to find than to read; yaml and smol-toml serve
 * one command, which loads them when it is called. Their licences are in THIRD-PARTY-LICENSES.txt.
 */
export const bundled = [
  'zod',
  'yaml',
  'smol-toml',
  'lru-cache',
  '@noble/hashes',
  'itty-router',
  'tokenx',
  'p-retry',
  'is-network-error',
  'p-limit',
  'yocto-queue',
];

/** Packages that the page of the console is made of. They are in its script, and their licences in the same file. */
export const bundledInPage = ['preact', '@preact/signals', '@preact/signals-core', 'uplot'];

/** What hosts import: the exports of package.json by name, with their sources. */
export const publicEntries = {
  index: 'src/index.ts',
  dialects: 'src/entries/dialects.ts',
  search: 'src/entries/search.ts',
  stores: 'src/entries/stores.ts',
  testing: 'src/entries/testing.ts',
  node: 'adapters/hosts/node.ts',
  express: 'adapters/hosts/express.ts',
  koa: 'adapters/hosts/koa.ts',
  fastify: 'adapters/hosts/fastify.ts',
  nest: 'adapters/hosts/nest.ts',
  next: 'adapters/hosts/next.ts',
  bun: 'adapters/hosts/bun.ts',
  deno: 'adapters/hosts/deno.ts',
  workers: 'adapters/hosts/workers.ts',
  console: 'adapters/console/console.ts',
  sqlite: 'adapters/sqlite/sqlite.ts',
  otel: 'adapters/otel/otel.ts',
};

/** Files of the build, by name, with their sources. */
export const entries: Readonly<Record<string, string>> = {
  ...publicEntries,
  cli: 'adapters/cli/cli.ts',
  'console-page': '.cache/console-page.js',
  connection: 'src/fetching/connection.ts',
  'no-connection': 'src/fetching/no-connection.ts',
  'inflate-zlib': 'src/transport/inflate-zlib.ts',
  'inflate-web': 'src/transport/inflate-web.ts',
  'document-thread': 'src/documents/thread.ts',
  'documents-in-threads': 'src/documents/in-threads.ts',
  'documents-inline': 'src/documents/inline.ts',
  'transport-undici': 'src/transport/undici.ts',
  'transport-fetch': 'src/transport/fetch.ts',
};

/** `--no-dts`, which `npm start` uses, leaves out the declarations: they take most of the build's time. */
export default defineConfig((flags) => ({
  entry: entries,
  format: 'esm',
  target: ['es2023', 'node22'],
  platform: 'neutral',
  // What is shared goes into chunks: the adapters and the core then hold one copy of each error and brand.
  splitting: true,
  treeshake: false,
  sourcemap: false,
  clean: true,
  silent: true,
  // Deno and workerd know Node's modules only by their full name.
  removeNodeProtocol: false,
  noExternal: bundled,
  esbuildPlugins: [zodInBuild],
  esbuildOptions(options) {
    // The build of lru-cache that asks for no module of Node: ours runs everywhere.
    options.alias = { 'lru-cache': resolve('node_modules/lru-cache/dist/esm/browser/index.min.js') };
  },
  // Chosen where the package is used, by the import conditions of package.json.
  external: ['#connection', '#console-page', '#documents', '#inflate', '#transport', /^node:/],
  dts: flags.dts === false ? false : { entry: declarations },
}));

/** Of the copies that `scripts/make-declarations.ts` made: with the types that the schemas infer written out. */
const declarations = Object.fromEntries(
  Object.entries(publicEntries).map(([name, source]) => [name, `.cache/declarations/${source}`]),
);
