// `npm run test:matrix [-- folder …]` runs tests that take too long for every run. Each folder of test/matrix with a
// run.mjs is one part; a part with a package.json has its own packages. All parts test the project as users get it:
// packed, and installed in an application outside of this folder, so that no part can use files of this folder by
// chance.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { ensureBuilt } from './build.mjs';
import { addCounts, countsLine, findCounts, noCounts } from './counts.mjs';
import { install, isInstalled, npm } from './install.mjs';
import { cache, root } from './paths.mjs';
import { runInGroup } from './run-in-group.mjs';

const matrix = join(root, 'test', 'matrix');
/** A part that hangs fails after this time; the other parts still run. */
const timeoutMs = 20 * 60_000;

/** Parts that run only where they are named, with the reason. */
const onRequest = { agents: 'it downloads more than a gigabyte of coding agents' };
const known = readdirSync(matrix).filter((name) => existsSync(join(matrix, name, 'run.mjs')));
const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`No such part: ${unknown.join(', ')}. There are: ${known.join(', ')}.\n`);
  process.exit(1);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130));
const app = mkdtempSync(join(tmpdir(), 'model-gateway-app-'));
process.on('exit', () => rmSync(app, { recursive: true, force: true }));

let counts = noCounts;
try {
  const tarball = pack();
  installApp(tarball);
  const env = { ...process.env, MODEL_GATEWAY_TARBALL: tarball, MODEL_GATEWAY_APP: app };
  const usual = known.filter((name) => onRequest[name] === undefined);
  for (const name of requested.length > 0 ? requested : usual) counts = addCounts(counts, await runPart(name, env));
  if (requested.length === 0)
    for (const [name, why] of Object.entries(onRequest))
      process.stdout.write(`\n!! NOT RUN: ${name}: ${why}. Run it with: npm run test:matrix -- ${name}\n`);
} catch (error) {
  process.stdout.write(`${error.message}\n`);
  counts = addCounts(counts, { ...noCounts, failed: 1 });
}
process.stdout.write(`\n${countsLine(counts)}\n`);
process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;

/** Packs the package as for publishing. @returns the path of the tarball */
function pack() {
  ensureBuilt({ types: true });
  const folder = join(cache, 'package');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // `--ignore-scripts`, because the package's prepack script would build again.
  if (!npm(root, ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', folder])) {
    throw new Error('npm pack failed.');
  }
  return join(folder, readdirSync(folder)[0]);
}

/** Installs the package in an application whose only other dependency is `ws`, without which it has no WebSockets. */
function installApp(tarball) {
  const { ws } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).devDependencies;
  const dependencies = { 'model-gateway': `file:${tarball}`, ws };
  const manifest = { name: 'app', private: true, type: 'module', dependencies };
  writeFileSync(join(app, 'package.json'), JSON.stringify(manifest));
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund', '--no-package-lock'];
  if (!npm(app, ['install', ...quiet])) throw new Error('The packed package cannot be installed.');
}

async function runPart(name, env) {
  const folder = join(matrix, name);
  const started = Date.now();
  process.stdout.write(`\n── ${name}\n`);
  try {
    if (existsSync(join(folder, 'package.json')) && !isInstalled(folder)) install(folder);
  } catch (error) {
    process.stdout.write(`${error.message}\n# ${name}: 0 passed, 1 failed\n`);
    return { ...noCounts, failed: 1 };
  }
  const { code, output } = await runInGroup('run.mjs', { cwd: folder, env, timeoutMs, isShown: true });
  const counted = findCounts(output);
  process.stdout.write(`(${name}: ${((Date.now() - started) / 1000).toFixed(0)} s)\n`);
  if (counted === null) process.stdout.write(`${name} ended with code ${code} and counted nothing\n`);
  const result = counted ?? noCounts;
  return result.failed === 0 && (code !== 0 || counted === null) ? { ...result, failed: 1 } : result;
}
