// Runs an agent as docs/coding-agents.md says: with the files and the shell of its section, in folders of its own.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { blocksOf } from './page.mjs';

/** An agent that hangs is stopped before its check gives up. */
const limitMs = 170_000;

/**
 * @param title   of the section
 * @param root    the address of the gateway, in place of that of the page
 * @param apiKey  the key of the gateway
 * @param name    the wire of the upstream, whose model stands in for that of the page
 * @param bin     the folder that has the program
 * @param env     further variables
 * @param task    see `createTask`
 * @param edit    changes the text of the page for what this machine lacks
 * @returns the exit code, and all that the agent wrote
 */
export function runBlock({ title, root, apiKey, name, bin, env = {}, task, edit = (text) => text }) {
  const own = (text) =>
    edit(text)
      .replaceAll('http://127.0.0.1:8787', root)
      .replaceAll('claude-acme-coder', `claude-${name}`)
      .replaceAll('acme/coder', `acme/${name}`);
  const { files, script } = blocksOf(title);
  for (const [path, text] of files) {
    const file = join(task.home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, own(text));
  }
  const child = spawn('sh', ['-e', '-c', own(script)], {
    cwd: task.work,
    env: {
      PATH: [bin, dirname(process.execPath), process.env.PATH].join(delimiter),
      HOME: task.home,
      TMPDIR: task.home,
      GATEWAY_API_KEY: apiKey,
      DO_NOT_TRACK: '1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  // The shell and what it has started.
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), limitMs);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, output });
    });
  });
}
