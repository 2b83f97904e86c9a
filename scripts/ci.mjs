// `.ci/run` runs the tests, the long run and the matrix, each by its npm command, even if an earlier one failed. With
// REQUIRE_SERVICES=1 it first installs and starts the servers that are missing.
import { spawn } from 'node:child_process';
import process from 'node:process';
import { addCounts, findCounts, noCounts } from './counts.mjs';
import { root } from './paths.mjs';
import { provideServices, provideTools } from './services.mjs';

const services = process.env.REQUIRE_SERVICES === '1' ? await provideServices() : { env: {}, stop() {} };
if (process.env.REQUIRE_SERVICES === '1') provideTools();
let counts = noCounts;
for (const command of ['npm test', 'npm run test:long', 'npm run test:matrix']) {
  process.stdout.write(`\n$ ${command}\n`);
  const { code, output } = await run(command);
  const counted = findCounts(output) ?? noCounts;
  // A command can fail without a failed test.
  counts = addCounts(counts, code !== 0 && counted.failed === 0 ? { ...counted, failed: 1 } : counted);
}
services.stop();
process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed\n`);
process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;

function run(command) {
  return new Promise((resolve) => {
    const child = spawn(command, {
      cwd: root,
      env: { ...process.env, ...services.env },
      shell: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (part) => {
      output += part;
      process.stdout.write(part);
    });
    child.on('close', (code) => resolve({ code, output }));
  });
}
