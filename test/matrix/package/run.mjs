// The package as its users get it: its manifest, its types under every way of resolving them, its contents, its imports.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

const { MODEL_GATEWAY_TARBALL: tarball, MODEL_GATEWAY_APP: app } = process.env;
if (app === undefined) throw new Error('MODEL_GATEWAY_APP is not set: run this with `npm run test:matrix`.');

const installed = join(app, 'node_modules', 'model-gateway');
const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
const subpaths = Object.keys(manifest.exports).filter((path) => !path.endsWith('.json'));
const specifiers = subpaths.map((path) => path.replace(/^\./, manifest.name));

const counts = { passed: 0, failed: 0 };
await check('publint finds nothing', async () => {
  const bytes = readFileSync(tarball);
  const { messages } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, strict: true });
  return messages.map((message) => formatMessage(message, manifest)).join('\n');
});
await check('its types resolve for ESM (attw)', () => {
  const attw = createRequire(import.meta.url)
    .resolve('@arethetypeswrong/cli/package.json')
    .replace('package.json', 'dist/index.js');
  return failureOf(process.execPath, [attw, tarball, '--profile', 'esm-only', '--no-emoji', '--no-color']);
});
await check('its types compile, checked in full, in a strict project', () => {
  const names = specifiers.map((specifier, at) => `import * as m${at} from '${specifier}';`);
  writeFileSync(
    join(app, 'consumer.ts'),
    `${names.join('\n')}\nexport const all = [${names.map((_, at) => `m${at}`)}];\n`,
  );
  // The project's own: attw brings an older one.
  const tsc = createRequire(join(import.meta.dirname, '../../../package.json')).resolve('typescript/bin/tsc');
  const typeRoots = join(dirname(tsc), '..', '..', '@types');
  const options = {
    strict: true,
    noEmit: true,
    target: 'es2023',
    lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
  };
  for (const module of ['nodenext', 'preserve']) {
    const project = join(app, `tsconfig.${module}.json`);
    const compilerOptions = { ...options, module, typeRoots: [typeRoots], types: ['node'] };
    writeFileSync(project, JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
    const failure = failureOf(process.execPath, [tsc, '--project', project]);
    if (failure) return failure;
  }
  return '';
});
/** A source of an example that the README links to; nothing that was installed or built beside it. */
const isOfExample = (file) =>
  /^package\/examples\/(?:[\w[][\w.[\]-]*\/)*(?:[\w[][\w.[\]-]*\.(?:m?js|ts|tsx|json|md)|Dockerfile|\.dockerignore)$/.test(
    file,
  ) && !file.includes('/node_modules/');
await check('it holds what it runs on, and nothing else', () => {
  const { stdout } = spawnSync('tar', ['-tzf', tarball], { encoding: 'utf8' });
  const files = stdout.trim().split('\n');
  const foreign = files.filter(
    (file) =>
      !/^package\/(dist\/[\w.-]+\.(js|d\.ts)|docs\/[\w/.-]+\.(md|svg|png)|docs\/openapi\.json|(README|CHANGELOG|CONTRIBUTING)\.md|LICENSE|THIRD-PARTY-LICENSES\.txt|package\.json)$/.test(
        file,
      ) && !isOfExample(file),
  );
  const missing = [
    'README.md',
    'CHANGELOG.md',
    'LICENSE',
    'THIRD-PARTY-LICENSES.txt',
    'dist/cli.js',
    'docs/options.md',
    'docs/openapi.json',
  ].filter((file) => !files.includes(`package/${file}`));
  return [...foreign.map((file) => `holds ${file}`), ...missing.map((file) => `misses ${file}`)].join('\n');
});
for (const specifier of specifiers) {
  await check(`importing ${specifier} does nothing`, () => {
    // What an import starts keeps the process alive; what it says is output.
    // zod keeps its registry there, so that two copies of it share one.
    const program = `const names = () => Object.getOwnPropertyNames(globalThis).filter((name) => !name.startsWith('__zod'));
const before = new Set(names());
await import('${specifier}');
console.log(names().filter((name) => !before.has(name)).map((name) => 'sets the global ' + name).join());`;
    const options = { cwd: app, encoding: 'utf8', timeout: 10_000 };
    const { status, stdout, stderr, error } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', program],
      options,
    );
    return status === 0 ? (stdout + stderr).trim() : (error?.message ?? stderr);
  });
}
await check("it loads where the user's own sources have conditions", () => {
  const program = `import('${manifest.name}')`;
  return failureOf(process.execPath, ['--conditions=source', '--conditions=development', '--eval', program]);
});
process.stdout.write(`# package: ${counts.passed} passed, ${counts.failed} failed\n`);
process.exitCode = counts.failed > 0 ? 1 : 0;

/** @param find  returns what is wrong; '' where nothing is */
async function check(name, find) {
  let problem;
  try {
    problem = await find();
  } catch (error) {
    problem = error.stack;
  }
  counts[problem ? 'failed' : 'passed']++;
  process.stdout.write(problem ? `FAIL ${name}:\n${problem}\n` : `ok   ${name}\n`);
}

function failureOf(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: app, encoding: 'utf8' });
  return status === 0 ? '' : (error?.message ?? `${stdout}${stderr}`);
}
