// The package as its users get it: its manifest, its types under every way of resolving them, its contents, its imports.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
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
      !/^package\/(dist\/[\w.-]+\.(js|d\.ts)|docs\/[\w/.-]+\.(md|svg|png)|docs\/openapi\.json|(README|CHANGELOG)\.md|LICENSE|THIRD-PARTY-LICENSES\.txt|package\.json)$/.test(
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
await check('what an import reads is ASCII, which V8 decodes and keeps at half the price', () => {
  const texts = readdirSync(join(installed, 'dist')).filter((file) => file.endsWith('.js'));
  if (texts.length === 0) return 'there is no code';
  const read = (file) => readFileSync(join(installed, 'dist', file));
  return texts.filter((file) => read(file).some((byte) => byte > 0x7f)).join('\n');
});
await check('every link of its pages leads to what it holds', () => {
  const { stdout } = spawnSync('tar', ['-tzf', tarball], { encoding: 'utf8' });
  const files = stdout
    .trim()
    .split('\n')
    .map((file) => file.replace(/^package\//, ''));
  const isHeld = (target) => files.some((file) => file === target || file.startsWith(`${target.replace(/\/$/, '')}/`));
  let links = 0;
  const broken = files
    .filter((file) => file.endsWith('.md'))
    .flatMap((page) => {
      const prose = readFileSync(join(installed, page), 'utf8')
        .replace(/^( *)```[\s\S]*?^\1```$/gm, '')
        .replace(/`[^`\n]*`/g, '');
      return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link]) => {
        const [path] = link.split('#', 1);
        if (path === '' || /^[a-z]+:/i.test(link)) return [];
        links++;
        const target = relative(installed, join(installed, dirname(page), path));
        return isHeld(target) ? [] : [`${page}: ${link}`];
      });
    });
  return links > 200 ? broken.join('\n') : `only ${links} links were found`;
});
await check('npm installs it without a warning', () => {
  const folder = join(app, 'fresh');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'fresh', private: true }));
  const { stdout, stderr, status } = spawnSync('npm', ['install', tarball, '--no-audit', '--no-fund'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const said = `${stdout}${stderr}`.split('\n').filter((line) => /\bwarn|deprecated|EBADENGINE/i.test(line));
  return status === 0 ? said.join('\n') : stderr;
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
const partOfBuild =
  /^(?:zod|yaml|smol-toml|lru-cache|@noble\/hashes|itty-router|tokenx|p-retry|is-network-error|p-limit|yocto-queue|preact|@preact\/signals(?:-core)?|uplot)@/;
await check('a release has a bill of materials: what an installation brings, and what is part of the build', () => {
  const project = join(import.meta.dirname, '../../..');
  const made = spawnSync(process.execPath, [join(project, 'scripts/release.mjs')], { cwd: project, encoding: 'utf8' });
  if (made.status !== 0) return made.stderr;
  const folder = join(project, '.cache/release');
  const [bill = ''] = readdirSync(folder).filter((file) => file.endsWith('.cdx.json'));
  const { bomFormat, components, metadata } = JSON.parse(readFileSync(join(folder, bill), 'utf8'));
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
  // What npm has installed for the package alone, beside the packages that are inside of the build.
  const { stdout } = spawnSync('npm', ['ls', '--all', '--parseable', '--long'], {
    cwd: join(app, 'fresh'),
    encoding: 'utf8',
  });
  const installed = [...stdout.matchAll(/:((?:@[^/\s:]+\/)?[^@\s:]+@[\d][^:\s]*)/g)]
    .map(([, name]) => name)
    .filter((name) => !name.startsWith('model-gateway@'));
  const names = new Set([...installed].map((name) => name.replace(/@[^@]+$/, '')));
  const missing = [...names].filter((name) => ![...listed].some((one) => one.startsWith(`${name}@`)));
  const foreign = [...listed].filter((one) => !names.has(one.replace(/@[^@]+$/, '')) && !partOfBuild.test(one));
  const hash = createHash('sha512')
    .update(readFileSync(join(folder, bill.replace('.cdx.json', '.tgz'))))
    .digest('hex');
  const faults = [
    ...(bomFormat === 'CycloneDX' && installed.length > 20 ? [] : ['is no bill, or nothing is installed']),
    ...missing.map((name) => `misses ${name}`),
    ...foreign.map((name) => `holds ${name}`),
    ...(metadata.component.hashes[0].content === hash ? [] : ['has another hash than the tarball']),
  ];
  const unsigned = spawnSync(process.execPath, [join(project, 'scripts/release.mjs'), '--publish'], {
    cwd: project,
    encoding: 'utf8',
    env: { ...process.env, ACTIONS_ID_TOKEN_REQUEST_URL: undefined, SIGSTORE_ID_TOKEN: undefined },
  });
  if (unsigned.status !== 1 || !unsigned.stderr.includes('identity')) faults.push('would publish without a statement');
  return faults.join('\n');
});
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
