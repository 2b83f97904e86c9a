// The package bundles for browsers without anything of Node's, and works where Node's globals are missing.
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { build } from 'esbuild';
import { app, runEssentials } from '../run-essentials.mjs';

const nodeGlobals = ['process', 'Buffer', 'global', 'setImmediate', 'clearImmediate', 'require', 'module', '__dirname'];

await runEssentials('browser-bundle', async (program) => {
  const bundle = join(app, 'bundle.mjs');
  const { metafile } = await build({
    entryPoints: [program],
    outfile: bundle,
    bundle: true,
    format: 'esm',
    target: 'es2023',
    platform: 'browser',
    // What a browser does not have the bundle does not find here either, unless it brings its own.
    define: Object.fromEntries(nodeGlobals.map((name) => [name, `missing_${name}`])),
    metafile: true,
    logLevel: 'warning',
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
  if (imports.length > 0) throw new Error(`The bundle imports ${imports.join(', ')}`);
  const nodes = Object.keys(metafile.inputs).filter(
    (input) =>
      /node_modules\/undici\/|transport-undici|inflate-zlib/.test(input) ||
      builtinModules.includes(input.replace(/^node:/, '')),
  );
  if (nodes.length > 0) throw new Error(`The bundle holds ${nodes.join(', ')}`);
  const [{ bytes }] = Object.values(metafile.outputs);
  process.stdout.write(`bundle: ${Math.round(bytes / 1024)} KiB, not minified\n`);

  return [process.execPath, bundle];
});
