import { defineConfig } from 'tsup';

/**
 * Packages that are part of the build: zod's fifty modules, of which a tenth is used, take longer to resolve and read than
 * all of ours together; yaml serves one command, which loads it when it is called. Their licences are in
 * THIRD-PARTY-LICENSES.txt.
 */
export const bundled = ['zod', 'yaml'];

/** `--no-dts`, which `npm start` uses, leaves out the declarations: they take most of the build's time. */
export default defineConfig((flags) => ({
  entry: {
    index: 'src/index.ts',
    node: 'adapters/node.ts',
    express: 'adapters/express.ts',
    koa: 'adapters/koa.ts',
    fastify: 'adapters/fastify.ts',
    nest: 'adapters/nest.ts',
    next: 'adapters/next.ts',
    bun: 'adapters/bun.ts',
    sqlite: 'adapters/sqlite.ts',
    otel: 'adapters/otel.ts',
    cli: 'adapters/cli.ts',
    connection: 'src/fetching/connection.ts',
    'no-connection': 'src/fetching/no-connection.ts',
    'inflate-zlib': 'src/transport/inflate-zlib.ts',
    'inflate-web': 'src/transport/inflate-web.ts',
    'document-thread': 'src/documents/thread.ts',
    'documents-in-threads': 'src/documents/in-threads.ts',
    'documents-inline': 'src/documents/inline.ts',
    'transport-undici': 'src/transport/undici.ts',
    'transport-fetch': 'src/transport/fetch.ts',
  },
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
  // Chosen where the package is used, by the import conditions of package.json.
  external: ['#connection', '#documents', '#inflate', '#transport', /^node:/],
  dts: flags.dts === false ? false : { entry: declarations },
}));

/** Of the copies that `scripts/make-declarations.ts` made: with the types that the schemas infer written out. */
const declarations = {
  index: '.cache/declarations/src/index.ts',
  node: '.cache/declarations/adapters/node.ts',
  express: '.cache/declarations/adapters/express.ts',
  koa: '.cache/declarations/adapters/koa.ts',
  fastify: '.cache/declarations/adapters/fastify.ts',
  nest: '.cache/declarations/adapters/nest.ts',
  next: '.cache/declarations/adapters/next.ts',
  bun: '.cache/declarations/adapters/bun.ts',
  sqlite: '.cache/declarations/adapters/sqlite.ts',
  otel: '.cache/declarations/adapters/otel.ts',
};
