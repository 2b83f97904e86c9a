// The agent as docs/coding-agents.md says.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { checkTask } from '../agents/checks.mjs';
import { createTask, isThought } from '../agents/task.mjs';
import { runChecks } from '../clients/check.mjs';
import { startAll } from '../upstreams/gateway.mjs';

/** @param program  the path of the agent's script */
export async function runPageChecks(program) {
  const task = createTask();
  task.begin();
  const bin = join(task.home, 'bin');
  mkdirSync(bin);
  const command = join(bin, 'codex');
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(command, 0o755);
  // The machine of the test may have no sandbox to run commands in.
  const edit = (text) => text.replace('codex exec', 'codex exec --dangerously-bypass-approvals-and-sandbox');
  const all = await startAll({ answerTo: task.answerTo, isThought });
  const agent = { title: 'Codex', bin, edit };
  const checks = Object.keys(all.upstreams).map((name) => [
    `reads, edits, runs and answers over ${name}`,
    () => checkTask({ all, task, name, agent }),
  ]);
  await runChecks('docs/coding-agents.md', Object.fromEntries(checks));
  await all.close();
  task.remove();
}
