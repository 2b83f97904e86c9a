import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

const core = dirname(fileURLToPath(import.meta.resolve('zod/v4/core')));

/** Files of zod that the package does not use in the import, and the reason that a call of them gives. */
const leftOut = new Map([
  ['compile.js', 'src/schema/compile.ts loads the compiler'],
  ['json-schema-processors.js', 'the build holds nothing that makes JSON schemas'],
  ['to-json-schema.js', 'the build holds nothing that makes JSON schemas'],
]);

/**
 * Takes zod's compiler out of the import of the package, and what makes JSON schemas out of the build: together 104 KB.
 * Every file of zod names them, so no bundler finds by itself that they wait, or are not used. What is exported in
 * their place throws when it is called.
 */
export const zodInBuild: Plugin = {
  name: 'zod-in-build',
  setup(bundler) {
    bundler.onResolve({ filter: /^zod$/ }, ({ importer }) =>
      importer.endsWith(join('src', 'schema', 'compile.ts')) ? { path: join(core, 'compile.js') } : undefined,
    );
    bundler.onResolve({ filter: /^\.\.?\/.*\.js$/ }, ({ path, resolveDir }) => {
      const file = join(resolveDir, path);
      const name = file.slice(core.length + 1);
      return dirname(file) === core && leftOut.has(name)
        ? { path: file, namespace: 'zod-left-out', sideEffects: false }
        : undefined;
    });
    bundler.onLoad({ filter: /./, namespace: 'zod-left-out' }, ({ path }) => ({
      contents: standIn(path, leftOut.get(path.slice(core.length + 1)) ?? ''),
    }));
  },
};

/** A module with the exports of a file. All throw when they are called, but for those that make a function, which throws. */
function standIn(file: string, reason: string): string {
  const text = readFileSync(file, 'utf8');
  const declared = [...text.matchAll(/^export (?:async )?(?:const|function|class) (\w+)/gm)].map(([, name]) => name);
  const renamed = [...text.matchAll(/^export \{([^}]*)\};/gm)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim().split(' as ').at(-1)),
  );
  const names = [...declared, ...renamed].filter((name) => name !== undefined && name !== '');
  return `function leftOut() { throw new Error(${JSON.stringify(`Not in this build: ${reason}`)}); }
function createLeftOut() { return leftOut; }
export { ${names.map((name) => `${name?.startsWith('create') ? 'createLeftOut' : 'leftOut'} as ${name}`).join(', ')} };
`;
}
