import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { startUpstream } from './upstream.mjs';

/** The application that has the packed project installed. */
export const app = process.env.MODEL_GATEWAY_APP;
if (app === undefined) throw new Error('MODEL_GATEWAY_APP is not set: run this with `npm run test:matrix`.');

/**
 * Runs the essentials in another runtime and sets this process's exit code.
 * @param name     of the part, for the closing line
 * @param command  from the path of the program to run: the runtime's executable and its arguments; may prepare first
 * @param start    how the program begins: a worker may do nothing before it is called
 * @param hasFiles whether the runtime has a file system and may use it
 * @param served   checks a server of the runtime, and returns how many checks passed and failed
 */
export async function runEssentials(name, command, { start = 'await main();', hasFiles = false, served } = {}) {
  const upstream = await startUpstream();
  try {
    for (const file of ['', '-console', '-support', '-tenants'].map((part) => `essentials${part}.mjs`))
      copyFileSync(join(import.meta.dirname, file), join(app, file));
    const program = join(app, `${name}.mjs`);
    writeFileSync(program, programText(upstream.url, start, hasFiles));
    const [executable, ...args] = await command(program);
    const { code, output } = await run(executable, args);
    const counts = /^counted (\d+) (\d+)$/m.exec(output);
    if (counts === null) process.stdout.write(`it ended with ${code} before it could count\n`);
    const [passed, failed] = counts === null ? [0, 1] : [Number(counts[1]), Number(counts[2])];
    const more = (await served?.()) ?? { passed: 0, failed: 0 };
    process.stdout.write(`# ${name}: ${passed + more.passed} passed, ${failed + more.failed} failed\n`);
    process.exitCode = failed + more.failed > 0 || code !== 0 ? 1 : 0;
  } finally {
    upstream.close();
  }
}

function programText(upstreamUrl, start, hasFiles) {
  const sqlite = hasFiles ? "import { sqliteStore } from 'model-gateway/sqlite';" : 'const sqliteStore = undefined;';
  return `import { createGateway } from 'model-gateway';
import { consoleHandler } from 'model-gateway/console';
${sqlite}
import { runEssentials } from './essentials.mjs';

async function main() {
  const log = (line) => console.log(line);
  const counts = await runEssentials({ createGateway, consoleHandler, upstreamUrl: '${upstreamUrl}', log, sqliteStore });
  log('counted ' + counts.passed + ' ' + counts.failed);
  if (counts.failed > 0) throw new Error('not all essentials hold');
}
${start}
`;
}

/** Runs a command in the application's folder, its output shown as it comes. */
export function run(executable, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(executable, args, { cwd: app, stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part) => {
        output += part;
        process.stdout.write(part);
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

/**
 * @throws Error unless the runtime is the version that the folder's package.json names: a package whose install script
 *         did not run may leave another version, or none, under the same name
 */
export function checkVersion(executable, name, folder) {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { stdout, error } = spawnSync(executable, ['--version'], { encoding: 'utf8' });
  const found = /\d+\.\d+\.\d+/.exec(stdout ?? '')?.[0];
  if (found !== dependencies[name]) {
    throw new Error(`${executable} should be ${name} ${dependencies[name]}: ${error?.message ?? `it is ${found}`}`);
  }
}
