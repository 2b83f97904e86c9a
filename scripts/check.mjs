// `npm test`, `npm run check` and its single steps. Runs the given steps, shows failures, and ends with one line that
// counts tests and steps together, so that the line agrees with the exit code.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { ensureBuilt } from './build.mjs';
import { addCounts, countsLine, noCounts } from './counts.mjs';
import { cache, root } from './paths.mjs';

const report = join(cache, 'vitest.json');
/** A run that hangs fails after this time. */
const testsLimitMs = 30 * 60_000;
const bin = (path) => join(root, 'node_modules', path);

/**
 * Quick steps run in parallel; their output is shown only on failure. Tests run alone, and their output is shown live.
 */
const steps = {
  types: () =>
    runQuietly('types', [
      bin('typescript/bin/tsc'),
      '--noEmit',
      '--incremental',
      '--tsBuildInfoFile',
      join(cache, 'types.tsbuildinfo'),
      '--project',
      root,
    ]),
  lint: () => runQuietly('lint', [bin('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings']),
  build: async () => {
    ensureBuilt({ types: true });
    return { ...noCounts, passed: 1 };
  },
  tests: () => runTests([]),
  random: () => runTests(['--config', 'vitest.random.config.ts']),
  long: () => runTests(['--config', 'vitest.long.config.ts']),
};

/** Steps whose output is shown live. */
const testSteps = ['tests', 'random', 'long'];

const wanted = process.argv.slice(2).filter((argument) => Object.hasOwn(steps, argument));
const filters = process.argv.slice(2).filter((argument) => !Object.hasOwn(steps, argument));
// `npm test -- test/unit/sse.test.ts` runs only this test file, without types and lint.
const chosen = filters.length > 0 && wanted.includes('tests') ? ['tests'] : wanted;

const early = chosen.filter((name) => !testSteps.includes(name) && name !== 'build');
const waves = availableParallelism() > 1 ? [early] : early.map((name) => [name]);
let counts = noCounts;
for (const wave of [
  ...waves,
  ...[...testSteps, 'build'].filter((name) => chosen.includes(name)).map((name) => [name]),
]) {
  for (const result of await Promise.all(wave.map(guarded))) counts = addCounts(counts, result);
}
process.stdout.write(`\n${countsLine(counts)}\n`);
process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;

async function guarded(name) {
  try {
    return await steps[name]();
  } catch (error) {
    process.stdout.write(`${name} failed: ${error.message}\n`);
    return { ...noCounts, failed: 1 };
  }
}

async function runQuietly(name, args) {
  const started = Date.now();
  const { code, output } = await run(args, 'pipe');
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  process.stdout.write(code === 0 ? `${name} ok (${seconds} s)\n` : `${output}\n${name} failed (${seconds} s)\n\n`);
  return { ...noCounts, [code === 0 ? 'passed' : 'failed']: 1 };
}

async function runTests(options) {
  mkdirSync(cache, { recursive: true });
  // If a run writes no report, an old report must not be read in its place.
  rmSync(report, { force: true });
  const { code } = await run(
    [
      bin('vitest/vitest.mjs'),
      'run',
      ...options,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      // A filter may name tests of one run only.
      ...(filters.length > 0 ? ['--passWithNoTests', ...filters] : []),
    ],
    'inherit',
    testsLimitMs,
  );
  const result = readReport();
  if (result === null) return { ...noCounts, failed: 1 };
  const counted = {
    passed: result.numPassedTests,
    failed: result.numFailedTests,
    skipped: result.numPendingTests + result.numTodoTests,
  };
  if (counted.passed + counted.failed === 0 && filters.length === 0) {
    process.stdout.write('No test ran.\n');
    return { ...counted, failed: 1 };
  }
  // A file that does not load and an unhandled rejection fail the run, but no test.
  return code !== 0 && counted.failed === 0 ? { ...counted, failed: 1 } : counted;
}

function readReport() {
  try {
    return JSON.parse(readFileSync(report, 'utf8'));
  } catch (error) {
    process.stdout.write(`The test run left no report: ${error.message}\n`);
    return null;
  }
}

function run(args, output, limitMs) {
  return new Promise((resolve, reject) => {
    const env = process.stdout.isTTY ? process.env : { ...process.env, NO_COLOR: '1' };
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', output, output] });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
    }
    const timer =
      limitMs &&
      setTimeout(() => {
        process.stdout.write(`stopped after ${limitMs / 1000} s\n`);
        child.kill('SIGKILL');
      }, limitMs);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, output: text });
    });
  });
}
