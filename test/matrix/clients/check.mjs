// A test runner of a few lines: the part runs on plain Node and imports nothing of the project but the packed package.
import process from 'node:process';

/** A check that waits for what never comes fails alone. Ordinary ones take a second, or twenty on a machine that is busy. */
const limitMs = 60_000;

/** Counts over all suites of a part. */
export const counts = { passed: 0, failed: 0 };

/**
 * Runs the checks of one suite in turn, a line for each.
 * @param checks  by the promise they test
 * @param begin   called before each: forgets what the one before left behind
 * @param limit   milliseconds of one check
 */
export async function runChecks(suite, checks, begin = () => undefined, limit = limitMs) {
  for (const [name, check] of Object.entries(checks)) {
    const started = performance.now();
    try {
      begin();
      await inTime(check(), limit);
      counts.passed++;
      process.stdout.write(`ok   ${suite}: ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)\n`);
    } catch (error) {
      counts.failed++;
      process.stdout.write(
        `FAIL ${suite}: ${name}\n     ${String(error?.stack ?? error).replaceAll('\n', '\n     ')}\n`,
      );
    }
  }
}

/** The closing line, and the exit code. */
export function finish(part) {
  process.stdout.write(`# ${part}: ${counts.passed} passed, ${counts.failed} failed\n`);
  // Clients keep timers and sockets of their own.
  process.exit(counts.failed > 0 || counts.passed === 0 ? 1 : 0);
}

async function inTime(promise, limit) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${limit / 1000} s`)), limit);
  });
  await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The error that a promise rejects with. @throws Error when it does not reject */
export async function errorOf(promise) {
  const nothing = Symbol('nothing');
  const thrown = await promise.then(
    () => nothing,
    (error) => error,
  );
  if (thrown === nothing) throw new Error('there should have been an error');
  return thrown;
}
